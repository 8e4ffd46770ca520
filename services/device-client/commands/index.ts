/**
 * A command from the journal to its result: received, judged, run, answered, and known again after a restart.
 */
export { JournalError } from './command-journal.js';
export { CommandHandler } from './command.handler.js';
export { DeviceRequests } from './device-requests.js';
export { ForeignCommandHandler } from './foreign-command.handler.js';
export { JournalFile } from './journal-file.adapter.js';
export { heartbeatMessage, registerMessage } from './messages.js';
export type { DeviceFacts } from './messages.js';
