import { AIP_LIMITS, COMMAND_REFUSALS, StdinParts } from '#proto';
import type { CommandOutcome, DeviceAnswer, RunCommandRequest } from '#proto';
import { withoutResult } from './outcome.js';

/* What the command table says when the device does not. */

const TOOLS_CHARS_MAX = 2_000;
export const UNKNOWN_ANSWER = withoutResult(
  'OUTCOME_UNKNOWN',
  'OUTCOME_UNKNOWN',
  'the connection to the device ended meanwhile',
);
export const CANCELLED = neverSent(
  withoutResult('CANCELLED', 'CANCELLED', 'the attempt was stopped before the command was sent'),
);
export const EXPIRED = refusal(COMMAND_REFUSALS.expired, 'the time to start the command has passed');
export const TOO_LARGE = refusal(
  COMMAND_REFUSALS.tooLarge,
  `a command has at most ${AIP_LIMITS.commandBytesMax} bytes`,
);
export const CONFLICT_REFUSED = refusal(COMMAND_REFUSALS.conflict, 'this command id is known with other content');
export const UNSENT_REFUSED = refusal(
  COMMAND_REFUSALS.notSent,
  'the session of the device ended before the command was sent',
);
export const NOBODY_KNOWS = refusal(
  COMMAND_REFUSALS.outcomeUnknown,
  'an earlier request with this id may have reached a session or journal of the device that is gone',
);

export const NO_WORKSPACES = refusal(
  COMMAND_REFUSALS.noWorkspaces,
  'the device keeps no workspaces of runs: its client is older than that, or not one of ours',
);
/** Of a tool that nobody calls by its name. */
export const notOfSystem = (tool: string): DeviceAnswer =>
  refusal(COMMAND_REFUSALS.invalid, `${tool} is a tool of the system: files are moved for a task that names them`);

/** The device could not get the pieces: what reads them would read nothing. */
export const inputUnavailable = ({ attempt, command }: RunCommandRequest): DeviceAnswer => {
  const parts = StdinParts.safeParse(command.arguments['stdin']).data?.parts ?? [];
  const bytes = parts.reduce(
    (sum, part) => sum + ('text' in part ? Buffer.byteLength(part.text) : part.artifact.bytes),
    0,
  );
  const message =
    `the stdin of "${attempt.taskId}" has ${bytes} bytes, which do not fit into a frame of at most ` +
    `${AIP_LIMITS.commandBytesMax} bytes, and its device takes no files`;
  return refusal(COMMAND_REFUSALS.inputUnavailable, message);
};

/**
 * Whether the table says by itself that nothing was executed. Only as long as nobody else may send to the device is that
 * true: a newer session does not know what this one keeps back.
 */
export const isOwnWord = (answer: DeviceAnswer): boolean =>
  answer.state === 'refused' || (answer.state === 'finished' && answer.outcome === CANCELLED);

function neverSent(outcome: CommandOutcome): CommandOutcome {
  return outcome.error === null ? outcome : { ...outcome, error: { ...outcome.error, sent: false } };
}

function refusal(code: string, message: string): DeviceAnswer {
  return { state: 'refused', code, message };
}

export function unknownTool(tool: string, tools: ReadonlySet<string>): DeviceAnswer {
  const known = [...tools].sort().join(', ').slice(0, TOOLS_CHARS_MAX);
  return refusal(COMMAND_REFUSALS.unknownTool, `no tool ${tool} on this device; it has: ${known || 'none'}`);
}
