/** What a person can set in the file of the configuration, and where it points to. */
export * from './device-client.config.js';
