import { z } from 'zod';
import { AttemptKey } from '../attempt-events.js';
import { Judged } from '../commands.js';
import { ScreenPlace } from '../constellation.js';
import { CommandId, Instant, Json, RunId, Sha256 } from '../ids.js';
import { CommandWall } from '../walls.js';
import {
  Action,
  AipStatus,
  FileAbort,
  FilePiece,
  frames,
  numbered,
  optional,
  TransferId,
  type FrameOf,
} from './frames.js';

const serverBase = {
  status: AipStatus,
  timestamp: optional(z.string()),
  response_id: optional(z.string()),
  session_id: optional(z.string()),
  ...numbered,
};

/** What servers put into each frame beside that, by its `type`. */
const FRAMES = {
  /** Also the confirmation of REGISTER; then `orrery` names the revision both sides use and the session. */
  heartbeat: {
    orrery: optional(
      z.object({
        revision: z.int().min(1),
        session_id: z.string(),
        server_time: Instant,
        /** When the credential of this connection expires; null for one that does not. */
        credential_until: optional(Instant),
        /** To a device that has offered it: pieces of files may be binary frames. */
        binary_pieces: optional(z.boolean()),
      }),
    ),
  },
  /** A server of UFO asks its device to begin a task with itself. Ours never does. */
  task: { user_request: optional(z.string()), task_name: optional(z.string()) },
  command: {
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
        /** What its approval gives it. */
        wall: optional(CommandWall),
        /** Where on a screen it is to act, as its agent has seen it. */
        on: optional(ScreenPlace),
        /** It runs in the workspace of its run. */
        workspace: optional(z.literal(true)),
        /** When its attempt was started, by the clock of the service. */
        started_at: optional(Instant),
      }),
    ),
  },
  /** The end of a task: exactly one per TASK, to the client that gave it, and a copy to its device. */
  task_end: { result: optional(Json), error: optional(z.string()) },
  device_info_request: { request_id: optional(z.string()) },
  /** `response_id` is the request's `request_id`. */
  device_info_response: { result: optional(Json) },
  error: { error: optional(z.string()) },
  /** Kill the attempt's open commands and refuse later ones. */
  stop_attempt: { orrery: z.object({ attempt: AttemptKey }) },
  /** The result is stored in the log: the journal may shrink the entry to its id. */
  result_stored: { orrery: z.object({ command_id: CommandId }) },
  /** The run has ended: nothing of it begins any more, and its workspace goes, or is kept. Answered with RUN_FORGOTTEN, and repeated until it is. */
  forget_run: { orrery: z.object({ run_id: RunId, ended_at: Instant, keep: z.boolean() }) },
  /** Which workspaces there are; answered with WORKSPACES. */
  workspaces_request: { orrery: z.object({ request_id: z.string().max(128) }) },
  /** The journal's state is taken over: commands may come, results may be sent. */
  resumed: {},
  /** Nothing but its `ack`. */
  ack: {},
  /** Answer to FILE_BEGIN: `have` when the artifact is there already and nothing needs to be sent. */
  file_ready: { orrery: z.object({ transfer_id: TransferId, have: z.boolean() }) },
  /** The artifact is stored under its checksum. */
  file_stored: { orrery: z.object({ transfer_id: TransferId }) },
  /** Answer to FILE_REQUEST: the pieces follow. */
  file_begin: { orrery: z.object({ transfer_id: TransferId, sha256: Sha256, bytes: z.int().min(0) }) },
  file_chunk: { orrery: FilePiece },
  file_end: { orrery: z.object({ transfer_id: TransferId }) },
  /** `bytes` of the file are taken: the device may go on. */
  file_ack: { orrery: z.object({ transfer_id: TransferId, bytes: z.int().min(0) }) },
  file_abort: { orrery: FileAbort },
} as const;

/** What a server sends to a client. */
export const ServerMessage = frames(serverBase, FRAMES);
export type ServerMessage = z.infer<typeof ServerMessage>;
export type CommandMessage = FrameOf<ServerMessage, 'command'>;
export type TaskEndMessage = FrameOf<ServerMessage, 'task_end'>;
