/**
 * A file in pieces over one connection: sender, receiver, and the pump between them and a disk. Which file may go where is
 * decided by those who use it.
 */
export { digestOf } from './digest.adapter.js';
export {
  CONNECTION_LOST,
  FILE_ABORTS,
  FILE_POLICY,
  fileFailure,
  LOST,
  mayPass,
  type FileAbortCode,
  type FileFailure,
  type FilePolicy,
} from './file-transfer.js';
export {
  abortFrame,
  IncomingFile,
  OutgoingFile,
  type FileFrame,
  type FileSink,
  type FileSource,
  type FileWire,
  type Transfer,
  type TransferFrame,
} from './file-pump.adapter.js';
