/**
 * Who this device is to the service: its key, how it joined, and the credential that it shows.
 */
export { KeyCredentials, staticToken } from './credential.client.js';
export type { CredentialSource } from './credential.client.js';
export { readIdentity, writeIdentity } from './identity.adapter.js';
export { IdentityClient } from './identity.client.js';
export type { ClientTls, IdentityAnswer } from './identity.client.js';
export { KeptIdentity, wayIn } from './identity.js';
export type { JoinedDevice, WayIn } from './identity.js';
