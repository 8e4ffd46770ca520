import { z } from 'zod';
import { ClientTelemetry } from '../agent-profile.js';
import { AttemptKey } from '../attempt-events.js';
import { CommandOutcome } from '../commands.js';
import { CommandId, Instant, JournalId, Json } from '../ids.js';

/**
 * AIP (paper section 7, appendix B): one JSON object per WebSocket text frame. Names and values are those of UFO's own
 * clients, which send every optional field as null and ignore what they do not know; `orrery` carries our revision on top,
 * offered by the device in REGISTER and used only when it did.
 */
export const AIP_REVISION = 1;

const optional = <T extends z.ZodType>(schema: T) => schema.nullish();

/** What both sides put into every frame; unknown fields of foreign peers are dropped. */
const clientBase = {
  status: z.enum(['continue', 'completed', 'failed', 'ok', 'error']),
  client_type: z.enum(['device', 'constellation']).default('device'),
  client_id: optional(z.string().max(128)),
  timestamp: optional(z.string().max(64)),
  request_id: optional(z.string().max(128)),
};

export const ActionResult = z.object({
  status: z.enum(['success', 'failure', 'skipped', 'none']),
  error: optional(z.string()),
  result: optional(Json),
  namespace: optional(z.string()),
  call_id: optional(z.string().max(256)),
});
export type ActionResult = z.infer<typeof ActionResult>;

export const RegisterMessage = z.object({
  type: z.literal('register'),
  ...clientBase,
  metadata: optional(
    z.object({
      platform: optional(z.string().max(64)),
      system_info: optional(z.record(z.string(), Json)),
      orrery: optional(z.object({ revision: z.int().min(1), journal_id: JournalId, telemetry: ClientTelemetry })),
    }),
  ),
});
export type RegisterMessage = z.infer<typeof RegisterMessage>;

export const HeartbeatMessage = z.object({ type: z.literal('heartbeat'), ...clientBase });

/** Results of a COMMAND. Ours carry `orrery.outcome` per action; a foreign client's are read from `action_results`. */
export const CommandResultsMessage = z.object({
  type: z.literal('command_results'),
  ...clientBase,
  prev_response_id: optional(z.string().max(256)),
  session_id: optional(z.string().max(128)),
  action_results: optional(z.array(ActionResult).max(64)),
  orrery: optional(z.object({ command_id: CommandId, outcome: CommandOutcome })),
});
export type CommandResultsMessage = z.infer<typeof CommandResultsMessage>;

/** The device has written the command to its journal (`queued`) or started it (`running`). */
export const CommandProgressMessage = z.object({
  type: z.literal('command_progress'),
  ...clientBase,
  orrery: z.object({ command_id: CommandId, state: z.enum(['queued', 'running']) }),
});
export type CommandProgressMessage = z.infer<typeof CommandProgressMessage>;

export const ErrorMessage = z.object({
  type: z.literal('error'),
  ...clientBase,
  error: optional(z.string().max(4_000)),
});

/** What a device client may send. */
export const ClientMessage = z.discriminatedUnion('type', [
  RegisterMessage,
  HeartbeatMessage,
  CommandResultsMessage,
  CommandProgressMessage,
  ErrorMessage,
]);
export type ClientMessage = z.infer<typeof ClientMessage>;

const serverBase = {
  status: z.enum(['continue', 'completed', 'failed', 'ok', 'error']),
  timestamp: optional(z.string()),
  response_id: optional(z.string()),
  session_id: optional(z.string()),
};

export const Action = z.object({
  tool_name: z.string(),
  parameters: optional(z.record(z.string(), Json)),
  tool_type: z.enum(['action', 'data_collection']),
  call_id: optional(z.string()),
});
export type Action = z.infer<typeof Action>;

/** Also the confirmation of REGISTER; then `orrery` names the revision both sides use and the session. */
export const ServerHeartbeat = z.object({
  type: z.literal('heartbeat'),
  ...serverBase,
  orrery: optional(z.object({ revision: z.int().min(1), session_id: z.string(), server_time: Instant })),
});

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
    z.object({ command_id: CommandId, attempt: AttemptKey, not_after_ms: z.int().min(0), digest: z.string() }),
  ),
});
export type CommandMessage = z.infer<typeof CommandMessage>;

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

export const ServerError = z.object({ type: z.literal('error'), ...serverBase, error: optional(z.string()) });

/** What a device server sends to a device. */
export const ServerMessage = z.discriminatedUnion('type', [
  ServerHeartbeat,
  CommandMessage,
  StopAttemptMessage,
  ResultStoredMessage,
  ServerError,
]);
export type ServerMessage = z.infer<typeof ServerMessage>;
