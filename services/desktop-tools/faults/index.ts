/** Why something was not done on a desktop, in codes that agents know and sentences that people read. */
export * from './desktop-fault.js';
export * from './in-time.runner.js';
