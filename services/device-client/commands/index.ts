/** A command from the journal to its result: received, judged, run, answered, and known again after a restart. */
export { JournalError } from './command-journal.js';
export * from './command.handler.js';
export * from './device-requests.js';
export * from './foreign-command.handler.js';
export * from './journal-file.adapter.js';
export * from './run-ends.handler.js';
export { heartbeatMessage, registerMessage, type DeviceFacts } from './messages.js';
