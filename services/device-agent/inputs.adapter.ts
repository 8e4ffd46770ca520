import {
  commandIdOf,
  type ArtifactRef,
  type AttemptCommit,
  type AttemptFinished,
  type AttemptKey,
  type CommandCall,
  type Json,
  type TaskResult,
} from '#proto';
import type { AgentInput } from '#libs/device-agent';
import type { AttemptLog, Stored } from '#libs/event-log';
import { ArtifactError } from '#libs/messaging';
import type { AttemptOrder, ExactOrder } from './attempt.js';
import { AGENT, sourcesOf, withInputs, type Input } from './stdin.js';

/** Of a cut result of a predecessor an agent gets the whole up to this many bytes; of a larger one what its event holds. */
const AGENT_INPUT_BYTES = 256 * 1024;

/** Where large answers lie, by the SHA-256 of their content. */
export interface Artifacts {
  put(content: Uint8Array): Promise<ArtifactRef>;
  /** Checked on read; throws ArtifactError. */
  get(sha256: string): Promise<Uint8Array>;
}

interface Sources {
  readonly attempts: AttemptLog;
  readonly artifacts: Artifacts;
}

/**
 * What the predecessors answered that an exact command takes, as the ends of the attempts that TASK_STARTED names hold it;
 * cut ones come whole from ARTIFACTS. An attempt that was made before a fork is read where it was recorded: in the run that
 * made it.
 */
export async function readInputs(order: AttemptOrder, sources: Sources): Promise<Input[]> {
  const { command } = order.start;
  return command === undefined || sourcesOf(command).length === 0 ? [] : readAll(order, sources);
}

/** An exact command as it is sent, or why it never can be. */
export type Prepared =
  | { readonly kind: 'ready'; readonly command: CommandCall }
  | { readonly kind: 'impossible'; readonly code: string; readonly message: string };

/** The exact command of an order with the outputs of its predecessors put in. Throws when the log cannot be read. */
export async function preparedCommand(order: ExactOrder, sources: Sources): Promise<Prepared> {
  try {
    const stdin = withInputs(order.start.command, await readInputs(order, sources));
    if (stdin.kind === 'ready') return stdin;
    const message = `with its inputs the command has ${stdin.bytes} bytes; ${stdin.bytesMax} are allowed`;
    return { kind: 'impossible', code: 'INPUT_TOO_LARGE', message };
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    return { kind: 'impossible', code: 'INPUT_UNAVAILABLE', message: error.message };
  }
}

/** What all predecessors of an agent's task answered. Large ones are cut. */
export async function readAgentInputs(order: AttemptOrder, sources: Sources): Promise<AgentInput[]> {
  const inputs = await readAll(order, sources, AGENT_INPUT_BYTES);
  return inputs.map(({ taskId, value }) => ({ taskId, value }));
}

function readAll({ key, start }: AttemptOrder, { attempts, artifacts }: Sources, bytesMax?: number): Promise<Input[]> {
  return Promise.all(
    start.inputs.map(async ({ taskId, attempt, runId = key.runId }) => {
      const source: AttemptKey = { runId, taskId, attempt };
      const { madeBy, result } = endOf(source, await attempts.load(source));
      return { taskId, madeBy, value: result === null ? null : await wholeOf(result, artifacts, bytesMax) };
    }),
  );
}

function endOf(
  source: AttemptKey,
  stored: readonly Stored<AttemptCommit>[],
): { madeBy: Input['madeBy']; result: TaskResult | null } {
  const events = stored.flatMap(({ commit }) => commit.events);
  const end = events.find((event) => event.type === 'ATTEMPT_FINISHED');
  const result = end === undefined ? null : resultOf(end.data);
  if (result === null) return { madeBy: null, result };
  if (events.some(({ type }) => type === 'STEP_PLANNED' || type === 'STEP_FAILED')) return { madeBy: AGENT, result };
  const exact = commandIdOf(source);
  const command = events.find((event) => event.type === 'COMMAND_FINISHED' && event.data.commandId === exact);
  return { madeBy: command?.type === 'COMMAND_FINISHED' ? { tool: command.data.command.tool } : null, result };
}

/** A failed command's output is a result all the same. */
function resultOf(end: AttemptFinished): TaskResult | null {
  return end.status === 'completed' ? end.result : (end.error.output ?? null);
}

/** The value that was cut, unless it has more bytes than wanted. Throws ArtifactError when it is gone. */
export async function wholeOf(
  { value, artifact }: TaskResult,
  artifacts: Artifacts,
  bytesMax = Infinity,
): Promise<Json> {
  if (artifact === undefined || artifact.bytes > bytesMax) return value;
  return JSON.parse(new TextDecoder().decode(await artifacts.get(artifact.sha256))) as Json;
}
