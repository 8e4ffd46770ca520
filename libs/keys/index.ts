export { PROOF_MS_MAX, proveActor, verifyActorProof, type Proven, type Verified } from './actor-proof.js';
export {
  ASSERTION_AUDIENCE,
  CLOCK_SKEW_MS_MAX,
  makeJoinAssertion,
  makeRenewAssertion,
  verifyJoinAssertion,
  verifyRenewAssertion,
  type AssertionRefused,
} from './assertion.js';
export { busUsers, keyOf, type BusKeyFiles, type BusUser } from './bus-keys.adapter.js';
export { CredentialIssuer, type CredentialClaims, type IssuedCredential } from './credential.js';
export { DeviceSecret, makeDeviceSecret, parseDeviceSecret, publicKeyOf, thumbprintOf } from './device-key.js';
export {
  decodeEditGrant,
  encodeEditGrant,
  grantIdOf,
  isSignedGrant,
  signEditGrant,
  verifyEditGrant,
  type Granted,
  type GrantUse,
} from './edit-grant.js';
export { isJoinToken, newAdminToken, newJoinToken, newPassword, newToken, tokenHash } from './generate.js';
export { keepSecret, readSecret, writeSecret } from './secret-file.adapter.js';
