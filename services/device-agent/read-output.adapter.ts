import { commandIdOf, ExecCliResult, type ArtifactRef, type Json, type TaskResult } from '#proto';
import type { OutputRead, ReadOutput } from '#libs/device-agent';
import { ArtifactError } from '#libs/messaging';
import type { AttemptSession } from './attempt-session.runner.js';
import { wholeOf, type Artifacts } from './inputs.adapter.js';

/** Bytes of an output that is read as a whole; of a larger one there is what its event holds. */
const WHOLE_BYTES_MAX = 8 * 1024 * 1024;
const TEXT_CHARS_MAX = 64 * 1024;
const LINES_MAX = 2_000;

/** Lines of an output of this attempt. The same every time it is asked: a result does not change once it is recorded. */
export async function readOutput(
  { book, live }: AttemptSession,
  { step, index, stream, fromLine, lines, containing }: ReadOutput,
  artifacts: Artifacts,
): Promise<OutputRead> {
  const result = book.commands.get(commandIdOf(live.order.key, step, index))?.finished?.result ?? null;
  if (result === null) return { kind: 'read', text: '', totalLines: 0 };
  const text = await textOf(result, stream, artifacts);
  const all = text.split('\n');
  if (all.at(-1) === '') all.pop();
  const wanted = containing === undefined ? all : all.filter((line) => line.includes(containing));
  const from = Math.max(1, Math.trunc(fromLine)) - 1;
  const count = Math.min(Math.max(0, Math.trunc(lines)), LINES_MAX);
  const shown = wanted.slice(from, from + count).join('\n');
  return { kind: 'read', text: shown.slice(0, TEXT_CHARS_MAX).toWellFormed(), totalLines: wanted.length };
}

async function textOf(result: TaskResult, stream: ReadOutput['stream'], artifacts: Artifacts): Promise<string> {
  try {
    return await wholeText(await wholeOf(result, artifacts, WHOLE_BYTES_MAX), stream, artifacts);
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    // What was too long for the log is gone: the part that the log holds is still there.
    return wholeText(result.value, stream, null);
  }
}

async function wholeText(value: Json, stream: ReadOutput['stream'], artifacts: Artifacts | null): Promise<string> {
  if (stream === 'result') return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const answer = ExecCliResult.partial().safeParse(value);
  if (!answer.success) return '';
  const artifact: ArtifactRef | undefined = answer.data[`${stream}_artifact`];
  if (artifacts === null || artifact === undefined || artifact.bytes > WHOLE_BYTES_MAX)
    return answer.data[stream] ?? '';
  return new TextDecoder().decode(await artifacts.get(artifact.sha256));
}
