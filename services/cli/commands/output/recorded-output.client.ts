import type { NatsConnection } from '@nats-io/transport-node';
import { cutParts, type CutPart } from '#libs/constellation';
import type { Json, RunView, TaskResult } from '#proto';
import { copyArtifact, wholeArtifact } from './artifacts.runner.js';
import { badInput, failure, type CliContext } from '../../terminal/index.js';
import { cleanOutput } from '../../live/index.js';
import { answerText, stderrOf } from '../../text/index.js';

/**
 * What a task of a run that is over wrote, or answered: whole, as the log and the store of artifacts have it. A pipe or a
 * file gets it byte by byte, a terminal in clean lines; the standard error goes to ours.
 */
export async function printRecorded(
  context: CliContext,
  nc: NatsConnection,
  { runId, tasks }: RunView,
  taskId: string,
): Promise<void> {
  const task = tasks.find(({ id }) => id === taskId);
  const result = task?.result ?? task?.error?.output;
  if (result === undefined) {
    throw badInput(`Task ${taskId} of run ${runId} has no recorded output: it is ${task?.status ?? 'unknown'}.`);
  }
  const parts = cutParts(result);
  const main = parts.find(({ part }) => part !== 'stderr');
  const writer = writerFor(context);
  if (main === undefined) await writer.write(Buffer.from(answerText(result.value, 2)));
  else if (main.ref === null) await writeRest(context, result, main, writer);
  else if (main.isText) await copyArtifact(nc, main.ref.sha256, writer.write);
  else await writer.write(Buffer.from(wholeOf(await wholeArtifact(nc, main.ref.sha256))));
  writer.end();
  if (main !== undefined && main.ref !== null && main.problem !== null) {
    context.terminal.err(`not all of it is kept: ${cleanOutput(main.problem)}`);
  }
  for (const line of linesOf(stderrOf(result.value))) context.terminal.err(cleanOutput(line));
  const errors = parts.find(({ part }) => part === 'stderr');
  if (errors?.ref) context.terminal.err(`stderr is cut: orrery artifacts get ${errors.ref.sha256}`);
}

/** Head and tail are all there is. */
async function writeRest({ terminal }: CliContext, result: TaskResult, { bytes }: CutPart, writer: Writer) {
  await writer.write(Buffer.from(answerText(result.value, 2)));
  terminal.err(`this is cut: it had ${bytes ?? 'more'} bytes, and the whole is not kept`);
}

function wholeOf(content: Uint8Array): string {
  try {
    return answerText(JSON.parse(new TextDecoder().decode(content)) as Json, 2);
  } catch (error) {
    throw failure('The artifact of this result is not the JSON that it should be.', error);
  }
}

interface Writer {
  readonly write: (data: Uint8Array) => Promise<void>;
  /** Half a line is all there is. */
  readonly end: () => void;
}

function writerFor({ terminal }: CliContext): Writer {
  if (!terminal.isTerminal) return { write: (data) => terminal.bytes(data), end: () => undefined };
  const decoder = new TextDecoder();
  let rest = '';
  return {
    write: async (data) => {
      const lines = `${rest}${decoder.decode(data, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) terminal.out(cleanOutput(line));
    },
    end: () => {
      if (rest !== '') terminal.out(cleanOutput(rest));
    },
  };
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/u, '').split('\n');
}
