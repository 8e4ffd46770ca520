/**
 * The secrets of this device: read from files that nobody else can read, given to commands by name, and taken out of everything
 * that leaves the device.
 */
export * from './redacted-answer.js';
export * from './redactor.js';
export * from './secret-store.adapter.js';
export { secretForField, secretsIn } from './secrets.js';
