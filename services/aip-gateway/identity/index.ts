/**
 * Who comes: the credential in a handshake, how a device gets one, what the registry says about it, and whose count no more. What
 * somebody may do once the socket is open is not decided here.
 */
export { AddressRates, networkOf } from './address-rates.js';
export { readHandshake, urlOf, type Handshake } from './handshake.js';
export * from './identity-http.controller.js';
export { registryOnBus, type RegistryPort } from './registry.client.js';
export * from './revocations.client.js';
