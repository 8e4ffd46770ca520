/** What this installation offers to machines that are to become devices: the client in an archive, and the script that installs it. Made by tools/device-archive.mjs. */
export * from './enroll-block.js';
export * from './gateway-url.js';
export * from './install-dir.js';
export * from './offer.adapter.js';
