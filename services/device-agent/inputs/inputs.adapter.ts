import type { NatsConnection } from '@nats-io/transport-node';
import {
  AIP_LIMITS,
  commandIdOf,
  INPUT_UNAVAILABLE,
  inputField,
  inputTask,
  LIMITS,
  stdinSources,
  type ArtifactRef,
  type AttemptCommit,
  type AttemptFinished,
  type AttemptKey,
  type CommandCall,
  type Json,
  type StdinPart,
  type TaskId,
  type TaskResult,
} from '#proto';
import type { AttemptLog, Stored } from '#libs/event-log';
import { ArtifactError, dropArtifact, getArtifact, openArtifact, putArtifact, readArtifact } from '#libs/messaging';
import { token } from '#libs/platform';
import type { AttemptOrder, ExactOrder } from '#libs/attempt';
import { AGENT, placeOfText, storedOutput, wholeTextAt, type MadeBy, type WholeText } from './result-text.js';
import { bytesOf, inlineTexts, withParts, withText } from './stdin.js';

/** A result that lies in ARTIFACTS as JSON is read whole to find the text in it, up to this many bytes. */
const RESULT_BYTES_MAX = 64 * 1024 * 1024;
/** Stored outputs that are not more than this together are looked at: texts need no file. */
const LOOK_BYTES_MAX = 256 * 1024;

/** Where large answers lie, by the SHA-256 of their content. */
export interface Artifacts {
  put(content: Uint8Array): Promise<ArtifactRef>;
  /** Checked on read; throws ArtifactError. */
  get(sha256: string): Promise<Uint8Array>;
  /** Bytes of one that is stored, not checked; throws ArtifactError when it is not. */
  size(sha256: string): Promise<number>;
  /** In pieces, as fast as they are taken; throws ArtifactError, at the latest instead of ending. */
  read(sha256: string): AsyncIterable<Uint8Array>;
  /** Its first bytes, as many as its store gives at once, not checked; throws ArtifactError. */
  beginning(sha256: string): Promise<Uint8Array>;
  /** Takes it out of the store for good; who reads it later is told why. */
  drop(sha256: string, why: string): Promise<void>;
}

/** Enough to know what kind of file it is, and whose. */
const BEGINNING_BYTES = 256;

export const ARTIFACTS = token<Artifacts>('ARTIFACTS');

export function artifactsOn(nc: NatsConnection): Artifacts {
  return {
    put: (content) => putArtifact(nc, content),
    get: (sha256) => getArtifact(nc, sha256),
    read: (sha256) => readArtifact(nc, sha256),
    size: async (sha256) => (await openArtifact(nc, sha256)).bytes,
    beginning: async (sha256) => (await openArtifact(nc, sha256)).read(BEGINNING_BYTES),
    drop: (sha256, why) => dropArtifact(nc, sha256, why),
  };
}

export interface InputSources {
  readonly attempts: AttemptLog;
  readonly artifacts: Artifacts;
  /** What one task may take of its predecessors, all of them together. */
  readonly inputBytesMax?: number;
}

/** What a predecessor has come to; nothing when it never answered. */
export interface InputSource {
  readonly taskId: TaskId;
  readonly madeBy: MadeBy;
  readonly result: TaskResult | null;
}

/** An exact command as it is sent, or why it never can be. */
export type Prepared =
  | { readonly kind: 'ready'; readonly command: CommandCall }
  | { readonly kind: 'impossible'; readonly code: string; readonly message: string };

/**
 * The exact command of an order with the outputs of its predecessors put in: results flow along lines as data, whole or not at
 * all, and never as text of a command line. What fits into a request travels in it; the rest lies in ARTIFACTS, and the device
 * gets it as files. Throws when the log or the store cannot be read.
 */
export async function preparedCommand(order: ExactOrder, sources: InputSources): Promise<Prepared> {
  const { command } = order.start;
  if (stdinSources(command).length === 0) return { kind: 'ready', command };
  try {
    return { kind: 'ready', command: await delivered(command, order, sources) };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return { kind: 'impossible', code: INPUT_UNAVAILABLE, message: error.message };
  }
}

/** Thrown when something cannot be delivered whole; the message is for people. */
class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

async function delivered(command: CommandCall, order: ExactOrder, sources: InputSources): Promise<CommandCall> {
  const parts = await partsOf(order, sources);
  const bytes = parts.reduce((sum, part) => sum + bytesOf(part), 0);
  const { inputBytesMax = LIMITS.inputBytesMax } = sources;
  const what = `the stdin of "${order.key.taskId}" has ${bytes} bytes`;
  if (bytes > inputBytesMax) throw new Unavailable(`${what}; at most ${inputBytesMax} are delivered`);
  const text = await textOf(parts, bytes, sources.artifacts);
  const inline = text === null ? null : withText(command, text);
  if (inline !== null) return inline;
  const whole = withParts(command, await stored(parts, sources.artifacts));
  if (whole === null) throw new Unavailable(`${what}, which do not fit into a call of ${command.tool}`);
  return whole;
}

/** What the command reads, in the order in which it names its sources. */
async function partsOf(order: ExactOrder, sources: InputSources): Promise<StdinPart[]> {
  const known = new Map<TaskId, Promise<InputSource>>();
  const parts: StdinPart[] = [];
  for (const input of stdinSources(order.start.command)) {
    const named = inputTask(input);
    // Of a task on several devices there is one for each of them.
    const ofNamed = order.start.inputs.filter(({ taskId, of = taskId }) => of === named);
    for (const [taskId, given] of new Map(ofNamed.map((one) => [one.taskId, one]))) {
      const reading = known.get(taskId) ?? readSource(order.key, given, sources.attempts);
      known.set(taskId, reading);
      const { madeBy, result } = await reading;
      if (result === null) continue;
      parts.push(await partOf({ taskId, madeBy, result }, inputField(input), { of: order.key.taskId, ...sources }));
    }
  }
  return parts;
}

async function partOf(
  { taskId, madeBy, result }: InputSource & { readonly result: TaskResult },
  field: string | undefined,
  { of, artifacts }: Pick<InputSources, 'artifacts'> & { readonly of: TaskId },
): Promise<StdinPart> {
  const found = await wholeText(result, { madeBy, field }, artifacts);
  if (found.kind === 'text') return { text: found.text };
  const size = found.kind === 'artifact' ? await sizeOf(found.artifact, artifacts) : found;
  if (size.kind === 'artifact') return { artifact: size.artifact };
  const amount = size.bytes === null ? '' : `, ${size.bytes} bytes,`;
  const part = field === undefined ? 'the output' : `the field ${field}`;
  throw new Unavailable(`${part} of "${taskId}"${amount} cannot be delivered whole to "${of}": ${size.why}`);
}

type Missing = Extract<WholeText, { kind: 'missing' }>;

/** The text that others read of a result, whole. Throws when the store cannot be reached. */
export async function wholeText(
  result: TaskResult,
  { madeBy, field }: { readonly madeBy: MadeBy; readonly field: string | undefined },
  artifacts: Artifacts,
): Promise<WholeText> {
  const isShapeless = result.cut?.includes('') === true;
  if (!isShapeless) {
    const stored = storedOutput(result.value, placeOfText(result.value, madeBy, field));
    if (stored !== undefined) return stored;
  }
  const { artifact } = result;
  if (artifact !== undefined && artifact.bytes > RESULT_BYTES_MAX) {
    const why = `a result of more than ${RESULT_BYTES_MAX} bytes is not looked into`;
    return { kind: 'missing', bytes: artifact.bytes, why };
  }
  try {
    const whole = await wholeOf(result, artifacts);
    return wholeTextAt(whole, placeOfText(whole, madeBy, field), result);
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    return { kind: 'missing', bytes: artifact?.bytes ?? null, why: error.message };
  }
}

async function sizeOf(
  artifact: ArtifactRef,
  artifacts: Artifacts,
): Promise<(WholeText & { kind: 'artifact' }) | Missing> {
  const missing = (why: string): Missing => ({ kind: 'missing', bytes: artifact.bytes, why });
  try {
    const bytes = await artifacts.size(artifact.sha256);
    if (bytes === artifact.bytes) return { kind: 'artifact', artifact };
    return missing(`what is stored of it has ${bytes} bytes`);
  } catch (error) {
    if (error instanceof ArtifactError) return missing(error.message);
    throw error;
  }
}

/** All of it as one text, where it is short; null when it is not, or is no text. */
async function textOf(parts: readonly StdinPart[], bytes: number, artifacts: Artifacts): Promise<string | null> {
  const isAllText = parts.every((part) => 'text' in part);
  if (bytes > (isAllText ? AIP_LIMITS.commandBytesMax : LOOK_BYTES_MAX)) return null;
  const pieces: Uint8Array[] = [];
  for (const part of parts) {
    if ('text' in part) pieces.push(new TextEncoder().encode(part.text));
    else pieces.push(await checked(part.artifact, artifacts));
  }
  try {
    // As one: a character may begin in one piece and end in the next.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces));
  } catch {
    return null;
  }
}

async function checked({ sha256, bytes }: ArtifactRef, artifacts: Artifacts): Promise<Uint8Array> {
  try {
    return await artifacts.get(sha256);
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    throw new Unavailable(`${bytes} bytes of its input cannot be delivered whole: ${error.message}`);
  }
}

/** The same pieces, with every text that is too long for a command as an artifact of its own. */
async function stored(parts: readonly StdinPart[], artifacts: Artifacts): Promise<StdinPart[]> {
  const inline = inlineTexts(parts);
  const kept: StdinPart[] = [];
  for (const part of parts) {
    if (inline.has(part) || !('text' in part)) kept.push(part);
    else kept.push({ artifact: await artifacts.put(new TextEncoder().encode(part.text)) });
  }
  return kept;
}

/**
 * What a predecessor answered, as the end of the attempt that TASK_STARTED names holds it. An attempt that was made before a
 * fork is read where it was recorded: in the run that made it.
 */
export async function readSource(
  { runId: own }: Pick<AttemptKey, 'runId'>,
  { taskId, attempt, runId = own }: AttemptOrder['start']['inputs'][number],
  attempts: AttemptLog,
): Promise<InputSource> {
  const source: AttemptKey = { runId, taskId, attempt };
  return { taskId, ...endOf(source, await attempts.load(source)) };
}

function endOf(source: AttemptKey, stored: readonly Stored<AttemptCommit>[]): Pick<InputSource, 'madeBy' | 'result'> {
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

/** The value that was cut. Throws ArtifactError when it is gone. */
export async function wholeOf({ value, artifact }: TaskResult, artifacts: Artifacts): Promise<Json> {
  if (artifact === undefined) return value;
  return JSON.parse(new TextDecoder().decode(await artifacts.get(artifact.sha256))) as Json;
}
