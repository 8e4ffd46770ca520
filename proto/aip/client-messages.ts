import { z } from 'zod';
import { ClientTelemetry, DeviceMetrics } from '../agent-profile.js';
import { CommandOutcome } from '../commands.js';
import { PlannedCall } from '../constellation.js';
import { DeviceWorkspace } from '../files.js';
import { CommandId, JournalId, Json, RunId, Sha256 } from '../ids.js';
import { LIMITS } from '../limits.js';
import {
  ActionResult,
  AipStatus,
  ClientRole,
  FileAbort,
  FilePiece,
  frames,
  numbered,
  optional,
  TransferId,
  type FrameOf,
} from './frames.js';

/** What clients put into every frame; unknown fields of foreign peers are dropped. */
const clientBase = {
  status: AipStatus,
  client_type: ClientRole.default('device'),
  client_id: optional(z.string().max(128)),
  timestamp: optional(z.string().max(64)),
  request_id: optional(z.string().max(128)),
  ...numbered,
};

/** What clients put into each frame beside that, by its `type`. */
const FRAMES = {
  /** Declares presence and capabilities. Answered with HEARTBEAT ok, or ERROR and the end of the connection. */
  register: {
    /** Of a constellation client: the device it will send tasks to. */
    target_id: optional(z.string().max(128)),
    metadata: optional(
      z.object({
        platform: optional(z.string().max(64)),
        system_info: optional(z.record(z.string(), Json)),
        orrery: optional(
          z.object({
            revision: z.int().min(1),
            journal_id: JournalId,
            telemetry: ClientTelemetry,
            /** It takes pieces of files as binary frames, and sends them so when the confirmation says the same. */
            binary_pieces: optional(z.boolean()),
          }),
        ),
      }),
    ),
  },
  /** Liveness; of a device of revision 2 also how it is doing. */
  heartbeat: { orrery: optional(z.object({ metrics: DeviceMetrics })) },
  /** A constellation client gives a device a task in words. It always gets exactly one TASK_END with the same `session_id`. */
  task: {
    session_id: optional(z.string().max(256)),
    task_name: optional(z.string().max(512)),
    target_id: optional(z.string().max(128)),
    request: optional(z.string().max(100_000)),
    metadata: optional(
      z.object({
        platform: optional(z.string().max(64)),
        /** The exact tool call to make instead of the words: needs no model. */
        orrery: optional(z.object({ command: PlannedCall })),
      }),
    ),
  },
  /** Results of a COMMAND. Ours carry `orrery.outcome` per action; a foreign client's are read from `action_results`. */
  command_results: {
    prev_response_id: optional(z.string().max(256)),
    session_id: optional(z.string().max(256)),
    action_results: optional(z.array(ActionResult).max(64)),
    orrery: optional(z.object({ command_id: CommandId, outcome: CommandOutcome })),
  },
  /** The acknowledgement of TASK_END that the paper allows for; nothing follows from it. */
  task_end: { session_id: optional(z.string().max(256)) },
  device_info_request: { target_id: optional(z.string().max(128)) },
  /** A device's answer to DEVICE_INFO_REQUEST of the server; of revision 2 with its telemetry of now. */
  device_info_response: {
    result: optional(Json),
    orrery: optional(z.object({ telemetry: ClientTelemetry, metrics: DeviceMetrics })),
  },
  error: { error: optional(z.string().max(4_000)) },
  /** The device has written the command to its journal (`queued`) or started it (`running`). */
  command_progress: { orrery: z.object({ command_id: CommandId, state: z.enum(['queued', 'running']) }) },
  /**
   * What a running command has written since the last piece. For people who watch: nothing is repeated, and a device that
   * writes more than is read leaves out pieces; then the next `offset`, in bytes of that stream, is larger than expected.
   */
  command_output: {
    orrery: z.object({
      command_id: CommandId,
      stream: z.enum(['stdout', 'stderr']),
      offset: z.int().min(0),
      text: z.string().max(100_000),
    }),
  },
  /** The first frames of a device of revision 2, before any command is sent to it: what its journal holds. */
  resume: {
    orrery: z.object({
      /** Commands that run now. */
      running: z.array(CommandId).max(1_000),
      /** Commands whose results the server has not acknowledged; they are sent after RESUMED. */
      finished: z.array(CommandId).max(1_000),
      /** Another RESUME follows. */
      more: z.boolean(),
    }),
  },
  /** The end of the run is in the journal: its workspace goes, whatever happens. */
  run_forgotten: { orrery: z.object({ run_id: RunId }) },
  /** Answer to WORKSPACES_REQUEST. */
  workspaces: {
    orrery: z.object({
      request_id: z.string().max(128),
      workspaces: z.array(DeviceWorkspace).max(LIMITS.workspacesListedMax),
      more: z.int().min(0),
    }),
  },
  /** Nothing but its `ack`: for the side that has nothing to say. */
  ack: {},
  /** A renewed credential for the connection that is open, before the one it was opened with expires. */
  credential: { orrery: z.object({ credential: z.string().max(4_096) }) },
  /** The device wants to store a file as an artifact, for a command that runs. */
  file_begin: {
    orrery: z.object({ transfer_id: TransferId, command_id: CommandId, sha256: Sha256, bytes: z.int().min(0) }),
  },
  file_chunk: { orrery: FilePiece },
  /** All pieces are sent: the server checks size and checksum. */
  file_end: { orrery: z.object({ transfer_id: TransferId }) },
  /** The device wants an artifact that a command names which runs. */
  file_request: { orrery: z.object({ transfer_id: TransferId, command_id: CommandId, sha256: Sha256 }) },
  /** `bytes` of the file are taken: the sender may go on. */
  file_ack: { orrery: z.object({ transfer_id: TransferId, bytes: z.int().min(0) }) },
  file_abort: { orrery: FileAbort },
} as const;

/** What a client may send. */
export const ClientMessage = frames(clientBase, FRAMES);
export type ClientMessage = z.infer<typeof ClientMessage>;
export type RegisterMessage = FrameOf<ClientMessage, 'register'>;
export type TaskMessage = FrameOf<ClientMessage, 'task'>;
export type CommandResultsMessage = FrameOf<ClientMessage, 'command_results'>;
export type CommandOutputMessage = FrameOf<ClientMessage, 'command_output'>;
