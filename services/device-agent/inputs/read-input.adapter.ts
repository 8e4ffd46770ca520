import type { AgentInput, OutputRead, ReadInput } from '#libs/device-agent';
import { INPUT_UNAVAILABLE, type TaskResult } from '#proto';
import { LineWindow, type Wanted } from './line-window.js';
import {
  readSource,
  wholeOf,
  wholeText,
  type Artifacts,
  type InputSources,
  type InputSource,
} from './inputs.adapter.js';
import { type AttemptOrder, Ends } from '#libs/attempt';
import { placeOfText, valueAt, type WholeText } from './result-text.js';
import { ArtifactError } from '#libs/messaging';

/** Of a cut result of a predecessor an agent gets the whole up to this many bytes; of a larger one what its event holds. */
const AGENT_INPUT_BYTES = 256 * 1024;

/** What all predecessors of an agent's task answered: large ones as their events hold them. READ_INPUT reads the whole. */
export function readAgentInputs({ key, start }: AttemptOrder, sources: InputSources): Promise<AgentInput[]> {
  return Promise.all(
    start.inputs.map(async (input): Promise<AgentInput> => {
      const { taskId, field } = input;
      const { result } = await readSource(key, input, sources.attempts);
      if (result === null) return { taskId, value: null };
      const { value, cut } = await shownOf(result, sources.artifacts);
      const isCut = cut === undefined ? {} : { cut };
      if (field === undefined) return { taskId, value, ...isCut };
      return { taskId, field, value: valueAt(value, field.split('.')) ?? null, ...isCut };
    }),
  );
}

/** Throws Ends when the store does not have any more what the event holds a part of. */
async function shownOf(result: TaskResult, artifacts: Artifacts): Promise<Pick<TaskResult, 'value' | 'cut'>> {
  const { artifact, value, cut } = result;
  try {
    if (artifact === undefined) return { value };
    if (artifact.bytes <= AGENT_INPUT_BYTES) return { value: await wholeOf(result, artifacts) };
    await artifacts.size(artifact.sha256);
    return { value, ...(cut && { cut }) };
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    throw new Ends({ kind: 'failed', code: INPUT_UNAVAILABLE, message: error.message });
  }
}

/** Lines of what a predecessor answered. The same every time it is asked: a result does not change once it is recorded. */
export async function readInputLines(
  { key, start }: AttemptOrder,
  { taskId, field, ...wanted }: ReadInput,
  sources: InputSources,
): Promise<OutputRead> {
  const input = start.inputs.find((one) => one.taskId === taskId);
  if (input === undefined) return told(`there is no input "${taskId}"; there is ${namesOf(start.inputs)}`);
  const source = await readSource(key, input, sources.attempts);
  const text = await textOf(source, field ?? input.field, sources.artifacts);
  if (text.kind === 'missing') return told(`[it cannot be read whole: ${text.why}]`);
  return windowOn(text, wanted, sources.artifacts);
}

async function textOf(
  { madeBy, result }: InputSource,
  field: string | undefined,
  artifacts: Artifacts,
): Promise<WholeText> {
  if (result === null) return { kind: 'text', text: '' };
  const whole = await wholeText(result, { madeBy, field }, artifacts);
  if (whole.kind !== 'text' || placeOfText(result.value, madeBy, field).kind !== 'json') return whole;
  // As it was shown: lines can be counted in it.
  return { kind: 'text', text: JSON.stringify(JSON.parse(whole.text), null, 2) };
}

/** What is wanted of a text that may be of any length: it is read in pieces. */
export async function windowOn(
  text: Exclude<WholeText, { kind: 'missing' }>,
  wanted: Wanted,
  artifacts: Artifacts,
): Promise<OutputRead> {
  const window = new LineWindow(wanted);
  try {
    if (text.kind === 'text') window.push(new TextEncoder().encode(text.text));
    else for await (const piece of artifacts.read(text.artifact.sha256)) window.push(piece);
  } catch (error) {
    if (error instanceof ArtifactError) return told(`[it cannot be read whole: ${error.message}]`);
    throw error;
  }
  return { kind: 'read', ...window.end() };
}

const told = (text: string): OutputRead => ({ kind: 'read', text, totalLines: 0 });

const namesOf = (inputs: AttemptOrder['start']['inputs']): string =>
  inputs.length === 0 ? 'none' : [...new Set(inputs.map(({ taskId }) => taskId))].slice(0, 20).join(', ');
