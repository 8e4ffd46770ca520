/**
 * How long to wait before something is tried again: one formula for everybody. Nothing here waits, and nothing here knows what is
 * tried.
 */
export * from './backoff.js';
