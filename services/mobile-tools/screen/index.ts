/** What a device shows: read from what it says, and remembered until something is done. */
export * from './controls.js';
export * from './listing.js';
export * from './ui-xml.js';
