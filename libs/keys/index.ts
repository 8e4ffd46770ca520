/** Secrets and what they prove: keys of devices and people, credentials, grants, tokens. Who may do what with them is not decided here. */
export * from './actor-proof.js';
export {
  makeJoinAssertion,
  makeRenewAssertion,
  verifyJoinAssertion,
  verifyRenewAssertion,
  type AssertionRefused,
} from './assertion.js';
export * from './bearer.js';
export * from './bus-keys.adapter.js';
export * from './credential.js';
export { DeviceSecret, makeDeviceSecret, parseDeviceSecret, publicKeyOf, thumbprintOf } from './device-key.js';
export * from './edit-grant.js';
export * from './generate.js';
export * from './login-code.js';
export { signerOf, type Signer } from './nkey.js';
export { busKeyOfSeed } from './nkey.js';
export * from './secret-file.adapter.js';
