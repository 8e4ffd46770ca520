/** The device as its commands: what it shows, and what it is told to do. */
export * from './phone.client.js';
