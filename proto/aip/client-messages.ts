import { z } from 'zod';
import { ClientTelemetry, DeviceMetrics } from '../agent-profile.js';
import { CommandOutcome } from '../commands.js';
import { CommandCall } from '../constellation.js';
import { CommandId, JournalId, Json, Sha256 } from '../ids.js';
import { ActionResult, AipStatus, ClientRole, FileAbort, FilePiece, numbered, optional, TransferId } from './frames.js';

/** What clients put into every frame; unknown fields of foreign peers are dropped. */
const clientBase = {
  status: AipStatus,
  client_type: ClientRole.default('device'),
  client_id: optional(z.string().max(128)),
  timestamp: optional(z.string().max(64)),
  request_id: optional(z.string().max(128)),
  ...numbered,
};

/** Declares presence and capabilities. Answered with HEARTBEAT ok, or ERROR and the end of the connection. */
export const RegisterMessage = z.object({
  type: z.literal('register'),
  ...clientBase,
  /** Of a constellation client: the device it will send tasks to. */
  target_id: optional(z.string().max(128)),
  metadata: optional(
    z.object({
      platform: optional(z.string().max(64)),
      system_info: optional(z.record(z.string(), Json)),
      orrery: optional(z.object({ revision: z.int().min(1), journal_id: JournalId, telemetry: ClientTelemetry })),
    }),
  ),
});
export type RegisterMessage = z.infer<typeof RegisterMessage>;

/** Liveness; of a device of revision 2 also how it is doing. */
export const HeartbeatMessage = z.object({
  type: z.literal('heartbeat'),
  ...clientBase,
  orrery: optional(z.object({ metrics: DeviceMetrics })),
});

/** A constellation client gives a device a task in words. It always gets exactly one TASK_END with the same `session_id`. */
export const TaskMessage = z.object({
  type: z.literal('task'),
  ...clientBase,
  session_id: optional(z.string().max(256)),
  task_name: optional(z.string().max(512)),
  target_id: optional(z.string().max(128)),
  request: optional(z.string().max(100_000)),
  metadata: optional(
    z.object({
      platform: optional(z.string().max(64)),
      /** The exact tool call to make instead of the words: needs no model. */
      orrery: optional(z.object({ command: CommandCall })),
    }),
  ),
});
export type TaskMessage = z.infer<typeof TaskMessage>;

/** Results of a COMMAND. Ours carry `orrery.outcome` per action; a foreign client's are read from `action_results`. */
export const CommandResultsMessage = z.object({
  type: z.literal('command_results'),
  ...clientBase,
  prev_response_id: optional(z.string().max(256)),
  session_id: optional(z.string().max(256)),
  action_results: optional(z.array(ActionResult).max(64)),
  orrery: optional(z.object({ command_id: CommandId, outcome: CommandOutcome })),
});
export type CommandResultsMessage = z.infer<typeof CommandResultsMessage>;

/** The acknowledgement of TASK_END that the paper allows for; nothing follows from it. */
export const TaskEndAck = z.object({
  type: z.literal('task_end'),
  ...clientBase,
  session_id: optional(z.string().max(256)),
});

export const DeviceInfoRequest = z.object({
  type: z.literal('device_info_request'),
  ...clientBase,
  target_id: optional(z.string().max(128)),
});
export type DeviceInfoRequest = z.infer<typeof DeviceInfoRequest>;

/** A device's answer to DEVICE_INFO_REQUEST of the server; of revision 2 with its telemetry of now. */
export const DeviceInfo = z.object({
  type: z.literal('device_info_response'),
  ...clientBase,
  result: optional(Json),
  orrery: optional(z.object({ telemetry: ClientTelemetry, metrics: DeviceMetrics })),
});

export const ErrorMessage = z.object({
  type: z.literal('error'),
  ...clientBase,
  error: optional(z.string().max(4_000)),
});

/** The device has written the command to its journal (`queued`) or started it (`running`). */
export const CommandProgressMessage = z.object({
  type: z.literal('command_progress'),
  ...clientBase,
  orrery: z.object({ command_id: CommandId, state: z.enum(['queued', 'running']) }),
});
export type CommandProgressMessage = z.infer<typeof CommandProgressMessage>;

/**
 * What a running command has written since the last piece. For people who watch: nothing is repeated, and a device that
 * writes more than is read leaves out pieces; then the next `offset`, in bytes of that stream, is larger than expected.
 */
export const CommandOutputMessage = z.object({
  type: z.literal('command_output'),
  ...clientBase,
  orrery: z.object({
    command_id: CommandId,
    stream: z.enum(['stdout', 'stderr']),
    offset: z.int().min(0),
    text: z.string().max(100_000),
  }),
});
export type CommandOutputMessage = z.infer<typeof CommandOutputMessage>;

/** The first frames of a device of revision 2, before any command is sent to it: what its journal holds. */
export const ResumeMessage = z.object({
  type: z.literal('resume'),
  ...clientBase,
  orrery: z.object({
    /** Commands that run now. */
    running: z.array(CommandId).max(1_000),
    /** Commands whose results the server has not acknowledged; they are sent after RESUMED. */
    finished: z.array(CommandId).max(1_000),
    /** Another RESUME follows. */
    more: z.boolean(),
  }),
});
export type ResumeMessage = z.infer<typeof ResumeMessage>;

/** Nothing but its `ack`: for the side that has nothing to say. */
export const ClientAck = z.object({ type: z.literal('ack'), ...clientBase });

/** A renewed credential for the connection that is open, before the one it was opened with expires. */
export const CredentialMessage = z.object({
  type: z.literal('credential'),
  ...clientBase,
  orrery: z.object({ credential: z.string().max(4_096) }),
});

/** The device wants to store a file as an artifact, for a command that runs. */
export const ClientFileBegin = z.object({
  type: z.literal('file_begin'),
  ...clientBase,
  orrery: z.object({ transfer_id: TransferId, command_id: CommandId, sha256: Sha256, bytes: z.int().min(0) }),
});
export const ClientFileChunk = z.object({ type: z.literal('file_chunk'), ...clientBase, orrery: FilePiece });
/** All pieces are sent: the server checks size and checksum. */
export const ClientFileEnd = z.object({
  type: z.literal('file_end'),
  ...clientBase,
  orrery: z.object({ transfer_id: TransferId }),
});
/** The device wants an artifact that a command names which runs. */
export const FileRequest = z.object({
  type: z.literal('file_request'),
  ...clientBase,
  orrery: z.object({ transfer_id: TransferId, command_id: CommandId, sha256: Sha256 }),
});
/** `bytes` of the file are taken: the sender may go on. */
export const ClientFileAck = z.object({
  type: z.literal('file_ack'),
  ...clientBase,
  orrery: z.object({ transfer_id: TransferId, bytes: z.int().min(0) }),
});
export const ClientFileAbort = z.object({ type: z.literal('file_abort'), ...clientBase, orrery: FileAbort });

/** What a client may send. */
export const ClientMessage = z.discriminatedUnion('type', [
  RegisterMessage,
  HeartbeatMessage,
  TaskMessage,
  CommandResultsMessage,
  TaskEndAck,
  DeviceInfoRequest,
  DeviceInfo,
  ErrorMessage,
  CommandProgressMessage,
  CommandOutputMessage,
  ResumeMessage,
  ClientAck,
  CredentialMessage,
  ClientFileBegin,
  ClientFileChunk,
  ClientFileEnd,
  FileRequest,
  ClientFileAck,
  ClientFileAbort,
]);
export type ClientMessage = z.infer<typeof ClientMessage>;
