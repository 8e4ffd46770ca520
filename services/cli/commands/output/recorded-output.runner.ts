import type { NatsConnection } from '@nats-io/transport-node';
import {
  loadRecordedOutput,
  NoSuchOutputError,
  recordedBytes,
  recordedFileNamed,
  recordedItems,
  RecordedLines,
  type KeptFile,
  type OutputWish,
  type RecordedItem,
  type PlacedLine,
  type RecordedLinesOptions,
  type RecordedOutput,
  type RecordedStream,
} from '#libs/output';
import { ArtifactError } from '#libs/messaging';
import type { RunView } from '#proto';
import { visibleText } from '#libs/visible';
import { badInput, cleanLine, failure, paintFor, type CliContext } from '../../terminal/index.js';
import { cleanOutput, Paced, paintOutput } from '../../live/index.js';

/** What a command gave as its result; what it wrote beside it goes to our standard error. */
const MAIN: readonly RecordedStream[] = ['stdout', 'result', 'answer'];

interface RecordedWish {
  readonly view: RunView;
  readonly wish: OutputWish;
  readonly raw: boolean;
}

/**
 * What is recorded of the outputs of a run, whole, as the log and the store of artifacts have it. One command in a pipe is given byte by byte;
 * several have their place before each line, and nothing in a line can look like the output of another.
 */
export async function printRecorded(
  context: CliContext,
  nc: NatsConnection,
  { view, wish, raw }: RecordedWish,
): Promise<void> {
  const { terminal, json } = context;
  const found = await loaded(nc, view, wish);
  if (json) {
    const paced = new Paced(terminal);
    for await (const item of recordedItems(nc, found, wish)) {
      const text = visibleText(JSON.stringify(item));
      terminal.out(text);
      await paced.printed(text.length);
    }
    return;
  }
  const one = wish.taskId === undefined || terminal.isTerminal || wish.search !== undefined ? undefined : last(found);
  if (raw || one !== undefined) return printBytes(context, nc, { found: one === undefined ? found : one, wish, raw });
  const hasContext = (wish.search?.before ?? 0) + (wish.search?.after ?? 0) > 0;
  await printLines(context, recordedItems(nc, found, wish), { isAlone: found.commands.length === 1, hasContext });
}

/** The file of this name, of those that are recorded. Throws CliError. */
export async function recordedFileOf(
  nc: NatsConnection,
  { view, wish }: Pick<RecordedWish, 'view' | 'wish'>,
  name: string,
): Promise<KeptFile> {
  const { commands } = await loaded(nc, view, wish);
  try {
    return recordedFileNamed(commands, name);
  } catch (error) {
    throw error instanceof NoSuchOutputError ? badInput(cleanLine(error.message)) : error;
  }
}

/** Of the last attempt, when that is one command: what a file of the task is made of. */
function last({ view, commands }: RecordedOutput): RecordedOutput | undefined {
  const attempt = commands.at(-1)?.attempt;
  const [only, ...more] = commands.filter((command) => command.attempt === attempt);
  return only === undefined || more.length > 0 ? undefined : { view, commands: [only] };
}

async function loaded(nc: NatsConnection, view: RunView, wish: OutputWish): Promise<RecordedOutput> {
  try {
    return await loadRecordedOutput(nc, view, wish);
  } catch (error) {
    throw error instanceof NoSuchOutputError ? badInput(error.message) : error;
  }
}

interface Bytes extends Pick<RecordedWish, 'wish' | 'raw'> {
  readonly found: RecordedOutput;
}

async function printBytes(context: CliContext, nc: NatsConnection, { found, wish, raw }: Bytes): Promise<void> {
  const { terminal } = context;
  try {
    for await (const data of recordedBytes(nc, found, wish.streams ?? MAIN)) await terminal.bytes(data);
  } catch (error) {
    throw error instanceof ArtifactError ? failure(error.message, error) : error;
  }
  // What there is to say, and without --raw the standard error.
  const given = wish.streams ?? (raw ? [...MAIN, 'stderr'] : MAIN);
  await printLines(context, recordedItems(nc, found, { ...wish, given }), { isAlone: true });
}

/** Lines as people read them: clean, with their place when several wrote; standard error of a single one goes to ours. */
async function printLines(
  { terminal }: CliContext,
  items: AsyncIterable<RecordedItem>,
  how: RecordedLinesOptions,
): Promise<void> {
  const paint = paintFor(terminal);
  const lines = new RecordedLines(how);
  const say = ({ stream, label, text }: PlacedLine): void => {
    if (stream === null) terminal.err(cleanLine(text));
    else if (label === '' && stream === 'stderr') terminal.err(cleanOutput(text));
    else if (label === '') terminal.out(cleanOutput(text));
    else terminal.out(`${paintOutput(paint, stream, label)} ${cleanOutput(text)}`.trimEnd());
  };
  const paced = new Paced(terminal);
  for await (const item of items) {
    lines.push(item).forEach(say);
    await paced.printed('text' in item ? item.text.length : 0);
  }
  lines.end().forEach(say);
}
