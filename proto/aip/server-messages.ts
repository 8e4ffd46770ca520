import { z } from 'zod';
import { AttemptKey } from '../attempt-events.js';
import { Judged } from '../commands.js';
import { CommandId, Instant, Json, Sha256 } from '../ids.js';
import { Action, AipStatus, FileAbort, FilePiece, numbered, optional, TransferId } from './frames.js';

const serverBase = {
  status: AipStatus,
  timestamp: optional(z.string()),
  response_id: optional(z.string()),
  session_id: optional(z.string()),
  ...numbered,
};

/** Also the confirmation of REGISTER; then `orrery` names the revision both sides use and the session. */
export const ServerHeartbeat = z.object({
  type: z.literal('heartbeat'),
  ...serverBase,
  orrery: optional(
    z.object({
      revision: z.int().min(1),
      session_id: z.string(),
      server_time: Instant,
      /** When the credential of this connection expires; null for one that does not. */
      credential_until: optional(Instant),
    }),
  ),
});

/** A server of UFO asks its device to begin a task with itself. Ours never does. */
export const ServerTask = z.object({
  type: z.literal('task'),
  ...serverBase,
  user_request: optional(z.string()),
  task_name: optional(z.string()),
});
export type ServerTask = z.infer<typeof ServerTask>;

export const CommandMessage = z.object({
  type: z.literal('command'),
  ...serverBase,
  agent_name: optional(z.string()),
  process_name: optional(z.string()),
  root_name: optional(z.string()),
  task_name: optional(z.string()),
  actions: z.array(Action).max(64),
  /** `not_after_ms`: how long from receipt the device may still start it (its own clock is never compared with ours). */
  orrery: optional(
    z.object({
      command_id: CommandId,
      attempt: AttemptKey,
      not_after_ms: z.int().min(0),
      digest: z.string(),
      /** How the service judged it; absent for an exact command of a request. */
      judged: optional(Judged),
    }),
  ),
});
export type CommandMessage = z.infer<typeof CommandMessage>;

/** The end of a task: exactly one per TASK, to the client that gave it, and a copy to its device. */
export const TaskEndMessage = z.object({
  type: z.literal('task_end'),
  ...serverBase,
  result: optional(Json),
  error: optional(z.string()),
});
export type TaskEndMessage = z.infer<typeof TaskEndMessage>;

export const ServerDeviceInfoRequest = z.object({
  type: z.literal('device_info_request'),
  ...serverBase,
  request_id: optional(z.string()),
});

/** `response_id` is the request's `request_id`. */
export const DeviceInfoResponse = z.object({
  type: z.literal('device_info_response'),
  ...serverBase,
  result: optional(Json),
});

export const ServerError = z.object({ type: z.literal('error'), ...serverBase, error: optional(z.string()) });

/** Kill the attempt's open commands and refuse later ones. */
export const StopAttemptMessage = z.object({
  type: z.literal('stop_attempt'),
  ...serverBase,
  orrery: z.object({ attempt: AttemptKey }),
});

/** The result is stored in the log: the journal may shrink the entry to its id. */
export const ResultStoredMessage = z.object({
  type: z.literal('result_stored'),
  ...serverBase,
  orrery: z.object({ command_id: CommandId }),
});

/** The journal's state is taken over: commands may come, results may be sent. */
export const ResumedMessage = z.object({ type: z.literal('resumed'), ...serverBase });

/** Nothing but its `ack`. */
export const ServerAck = z.object({ type: z.literal('ack'), ...serverBase });

/** Answer to FILE_BEGIN: `have` when the artifact is there already and nothing needs to be sent. */
export const FileReady = z.object({
  type: z.literal('file_ready'),
  ...serverBase,
  orrery: z.object({ transfer_id: TransferId, have: z.boolean() }),
});
/** The artifact is stored under its checksum. */
export const FileStored = z.object({
  type: z.literal('file_stored'),
  ...serverBase,
  orrery: z.object({ transfer_id: TransferId }),
});
/** Answer to FILE_REQUEST: the pieces follow. */
export const ServerFileBegin = z.object({
  type: z.literal('file_begin'),
  ...serverBase,
  orrery: z.object({ transfer_id: TransferId, sha256: Sha256, bytes: z.int().min(0) }),
});
export const ServerFileChunk = z.object({ type: z.literal('file_chunk'), ...serverBase, orrery: FilePiece });
export const ServerFileEnd = z.object({
  type: z.literal('file_end'),
  ...serverBase,
  orrery: z.object({ transfer_id: TransferId }),
});
/** `bytes` of the file are taken: the device may go on. */
export const ServerFileAck = z.object({
  type: z.literal('file_ack'),
  ...serverBase,
  orrery: z.object({ transfer_id: TransferId, bytes: z.int().min(0) }),
});
export const ServerFileAbort = z.object({ type: z.literal('file_abort'), ...serverBase, orrery: FileAbort });

/** What a server sends to a client. */
export const ServerMessage = z.discriminatedUnion('type', [
  ServerHeartbeat,
  ServerTask,
  CommandMessage,
  TaskEndMessage,
  ServerDeviceInfoRequest,
  DeviceInfoResponse,
  ServerError,
  StopAttemptMessage,
  ResultStoredMessage,
  ResumedMessage,
  ServerAck,
  FileReady,
  FileStored,
  ServerFileBegin,
  ServerFileChunk,
  ServerFileEnd,
  ServerFileAck,
  ServerFileAbort,
]);
export type ServerMessage = z.infer<typeof ServerMessage>;
