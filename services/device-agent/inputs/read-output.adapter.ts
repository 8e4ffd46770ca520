import { commandIdOf, ExecCliResult, type Json, type TaskResult } from '#proto';
import type { OutputRead, ReadOutput } from '#libs/device-agent';
import { ArtifactError } from '#libs/messaging';
import type { AttemptSession } from '../live/index.js';
import { wholeOf, type Artifacts } from './inputs.adapter.js';
import { windowOn } from './read-input.adapter.js';
import type { WholeText } from './result-text.js';

/** A result that lies in ARTIFACTS as JSON is read whole up to this many bytes; of a larger one there is what its event holds. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024;

/** Lines of an output of this attempt. The same every time it is asked: a result does not change once it is recorded. */
export async function readOutputLines(
  { book, live }: AttemptSession,
  { step, index, stream, ...wanted }: ReadOutput,
  artifacts: Artifacts,
): Promise<OutputRead> {
  const result = book.commands.get(commandIdOf(live.order.key, step, index))?.finished?.result ?? null;
  if (result === null) return { kind: 'read', text: '', totalLines: 0 };
  return windowOn(await textOf(result, stream, artifacts), wanted, artifacts);
}

type Found = Exclude<WholeText, { kind: 'missing' }>;

/** What was too long for the log may be gone: the part that the log holds is still there. */
async function textOf(result: TaskResult, stream: ReadOutput['stream'], artifacts: Artifacts): Promise<Found> {
  try {
    const isSmall = (result.artifact?.bytes ?? 0) <= WHOLE_BYTES_MAX;
    const value = isSmall ? await wholeOf(result, artifacts) : result.value;
    const stored = await storedStream(value, stream, artifacts);
    return stored ?? { kind: 'text', text: textIn(value, stream) };
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    return { kind: 'text', text: textIn(result.value, stream) };
  }
}

async function storedStream(value: Json, stream: ReadOutput['stream'], artifacts: Artifacts): Promise<Found | null> {
  if (stream === 'result') return null;
  const artifact = ExecCliResult.partial().safeParse(value).data?.[`${stream}_artifact`];
  if (artifact === undefined) return null;
  await artifacts.size(artifact.sha256);
  return { kind: 'artifact', artifact };
}

function textIn(value: Json, stream: ReadOutput['stream']): string {
  if (stream === 'result') return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return ExecCliResult.partial().safeParse(value).data?.[stream] ?? '';
}
