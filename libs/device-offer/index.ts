/** What this installation offers to machines that are to become devices: the client in an archive, and the script that installs it. Made by tools/device-archive.mjs. */
export * from './offer.adapter.js';
