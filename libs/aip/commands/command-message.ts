import {
  instantOf,
  type AttemptKey,
  type CommandCall,
  type CommandId,
  type CommandMessage,
  type CommandWall,
  type Instant,
  type Json,
  type Judged,
  type SessionId,
} from '#proto';

/** The one agent name that foreign clients with command line tools know; they ignore a command for any other without a word. */
const FOREIGN_AGENT = 'LinuxAgent';

/** The first revision whose devices judge the commands of agents once more. */
const JUDGED_SINCE = 2;

/** Correlates the answer of the meta tool; no command id, because those have dots. */
export const LIST_TOOLS_ID = 'list_tools';

export interface OutgoingCommand {
  readonly commandId: CommandId;
  readonly attempt: AttemptKey;
  readonly command: CommandCall;
  /** Absent for an exact command of a request. */
  readonly judged?: Judged | undefined;
  /** What its approval gives it. */
  readonly wall?: CommandWall | undefined;
  /** It runs in the workspace of its run. */
  readonly workspace?: true | undefined;
  readonly startedAt?: Instant | undefined;
  readonly digest: string;
  /** How long from receipt the device may still start it. */
  readonly startWithinMs: number;
}

/** COMMAND for one command: the fields foreign clients need, and ours on top where the device speaks our revision. */
export function commandMessage(
  { commandId, attempt, command, judged, wall, workspace, startedAt, digest, startWithinMs }: OutgoingCommand,
  session: { readonly sessionId: SessionId; readonly revision: number | null },
  nowMs: number,
): CommandMessage {
  const isTold = judged !== undefined && (session.revision ?? 0) >= JUDGED_SINCE;
  // Beside the judgement, where a client that knows nothing of walls does not look.
  const told = {
    ...(isTold && { judged, ...(wall !== undefined && { wall }) }),
    ...(workspace !== undefined && { workspace, ...(startedAt !== undefined && { started_at: startedAt }) }),
  };
  return {
    ...oneAction({ id: commandId, tool: command.tool, parameters: command.arguments }, nowMs),
    session_id: session.sessionId,
    task_name: attempt.taskId,
    ...(session.revision !== null && {
      orrery: { command_id: commandId, attempt, not_after_ms: startWithinMs, digest, ...told },
    }),
  };
}

/** Asks a foreign client for its tools: one it does not know it would never answer. */
export const listToolsMessage = (nowMs: number): CommandMessage =>
  oneAction({ id: LIST_TOOLS_ID, tool: 'list_tools', parameters: { tool_type: 'action' } }, nowMs);

interface OneAction {
  readonly id: string;
  readonly tool: string;
  readonly parameters: Record<string, Json>;
}

/** One action per COMMAND: with several, a failure would swallow the results of the others. */
function oneAction({ id, tool, parameters }: OneAction, nowMs: number): CommandMessage {
  return {
    type: 'command',
    status: 'continue',
    agent_name: FOREIGN_AGENT,
    process_name: '',
    root_name: '',
    timestamp: instantOf(nowMs),
    response_id: id,
    actions: [{ tool_name: tool, parameters, tool_type: 'action', call_id: id }],
  };
}
