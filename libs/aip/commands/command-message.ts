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
import { commandAddressOf, type CommandAddress, type ForeignDialect, listedAgents } from './foreign-dialect.js';

/** The first revision whose devices judge the commands of agents once more. */
const JUDGED_SINCE = 2;

/** Correlates the answer of the meta tool; no command id, because those have dots. Of the second agent and later ones with its place. */
export const LIST_TOOLS_ID = 'list_tools';
const listToolsId = (place: number): string => (place === 0 ? LIST_TOOLS_ID : `${LIST_TOOLS_ID}:${place}`);

/** The place among the agents whose tools were asked for; undefined for any other answer. */
export function placeOfListing(id: string | null | undefined, dialect: ForeignDialect): number | undefined {
  const place = listedAgents(dialect).findIndex((_, at) => listToolsId(at) === id);
  return place === -1 ? undefined : place;
}

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
  session: { readonly sessionId: SessionId; readonly revision: number | null; readonly dialect?: ForeignDialect },
  nowMs: number,
): CommandMessage {
  const isTold = judged !== undefined && (session.revision ?? 0) >= JUDGED_SINCE;
  // Beside the judgement, where a client that knows nothing of walls does not look.
  const told = {
    ...(isTold && { judged, ...(wall !== undefined && { wall }) }),
    ...(command.on !== undefined && { on: command.on }),
    ...(workspace !== undefined && { workspace, ...(startedAt !== undefined && { started_at: startedAt }) }),
  };
  return {
    ...oneAction(
      { id: commandId, tool: command.tool, parameters: command.arguments },
      commandAddressOf(session.dialect ?? 'command-line', command.tool, command.on),
      nowMs,
    ),
    session_id: session.sessionId,
    task_name: attempt.taskId,
    ...(session.revision !== null && {
      orrery: { command_id: commandId, attempt, not_after_ms: startWithinMs, digest, ...told },
    }),
  };
}

/** Asks a foreign client for its tools, once for each agent that it has some for: one it does not know it would never answer. */
export const listToolsMessages = (dialect: ForeignDialect, nowMs: number): CommandMessage[] =>
  listedAgents(dialect).map((agent, place) => {
    const action = { id: listToolsId(place), tool: 'list_tools', parameters: { tool_type: 'action' } };
    return oneAction(action, { ...commandAddressOf(dialect, action.tool, undefined), agent_name: agent }, nowMs);
  });

interface OneAction {
  readonly id: string;
  readonly tool: string;
  readonly parameters: Record<string, Json>;
}

/** One action per COMMAND: with several, a failure would swallow the results of the others. */
function oneAction(
  { id, tool, parameters }: OneAction,
  { tool_type, ...address }: CommandAddress,
  nowMs: number,
): CommandMessage {
  return {
    type: 'command',
    status: 'continue',
    ...address,
    timestamp: instantOf(nowMs),
    response_id: id,
    actions: [{ tool_name: tool, parameters, tool_type, call_id: id }],
  };
}
