/** Who this device is to the service: its key, how it joined, and the credential that it shows. */
export * from './credential.client.js';
export * from './identity.adapter.js';
export * from './identity.client.js';
export * from './identity.js';
