import type { NatsConnection } from '@nats-io/transport-node';
import { exitCodeIn } from '#libs/constellation';
import { readStored } from '#libs/event-log';
import { ArtifactError } from '#libs/messaging';
import { AttemptCommit, parseJson, placeOfCommand, subjects, type RunView } from '#proto';
import { fileListNote, withFileLists } from './file-lists.adapter.js';
import { keptStreams, type KeptStream, type RecordedStream } from './kept-output.adapter.js';
import { LineSearch, matcherOf, type SearchWish } from './line-search.js';
import { OutputLines } from './output-lines.js';
import {
  placeOfOutput,
  recordedCommands,
  selectedCommands,
  type OutputSelection,
  type RecordedCommand,
} from './recorded-commands.js';
import { recordedFiles, type RecordedFile } from './recorded-files.js';
import type { RecordedItem } from './recorded-item.js';
import { emptyNote, partNote, taskNotes } from './recorded-notes.js';

/** What is asked of the recorded output of a run. */
export interface OutputWish extends OutputSelection {
  /** Only these streams. */
  readonly streams?: readonly RecordedStream[] | undefined;
  readonly search?: SearchWish | undefined;
  /** Given otherwise: only what there is to say of them. */
  readonly given?: readonly RecordedStream[] | undefined;
}

/** Commands that are selected, and the run that they are of. */
export interface RecordedOutput {
  readonly view: RunView;
  readonly commands: readonly RecordedCommand[];
}

const PIECE_CHARS_MAX = 16 * 1024;

/** The commands of a run that have ended, of those that are wished. Throws NoSuchOutputError, and an Error where the log cannot be read. */
export async function loadRecordedOutput(
  nc: NatsConnection,
  view: RunView,
  selection: OutputSelection,
): Promise<RecordedOutput> {
  const commits: AttemptCommit[] = [];
  for await (const { data } of readStored(nc, 'ATTEMPTS', subjects.attemptsOfRun(view.runId))) {
    commits.push(AttemptCommit.parse(parseJson(data)));
  }
  const commands = selectedCommands(recordedCommands(commits, view), view, selection);
  return { view, commands: await withFileLists(nc, commands) };
}

/**
 * What they wrote, command by command, each stream from its beginning: pieces, or the lines that match. Nothing is read before it is
 * asked for. Throws when the store cannot be reached.
 */
export async function* recordedItems(
  nc: NatsConnection,
  { view, commands }: RecordedOutput,
  wish: OutputWish,
): AsyncGenerator<RecordedItem, void, undefined> {
  const matches = wish.search === undefined ? undefined : matcherOf(wish.search);
  const files = recordedFiles(commands);
  for (const command of commands) {
    const { result, commandId } = command;
    const all = result === null ? [] : await keptStreams(nc, result, commandId === null ? 'answer' : 'result');
    const streams = all.filter(({ stream }) => wish.streams === undefined || wish.streams.includes(stream));
    yield commandItem(command, streams);
    const isEmpty = all.every(({ bytes, kept }) => kept === 'whole' && bytes === 0);
    if (isEmpty) yield { type: 'note', text: emptyNote(command) };
    if (wish.streams === undefined && matches === undefined) yield* fileItems(files, command);
    for (const stream of streams) {
      if (stream.kept === 'part') yield { type: 'note', text: partNote(command, stream) };
      if (wish.given?.includes(stream.stream) === true) continue;
      const shown =
        matches === undefined ? pieces(command, stream) : found(command, stream, { matches, ...wish.search });
      yield* undamaged(command, stream, shown);
    }
  }
  for (const text of taskNotes(view, commands, wish)) yield { type: 'note', text };
}

function fileItems(files: readonly RecordedFile[], command: RecordedCommand): RecordedItem[] {
  const own = files.filter((one) => one.command === command);
  const unnamed = fileListNote(command);
  return [
    ...own.map(({ file }): RecordedItem => ({ type: 'file', ...placed(command), file })),
    ...(unnamed === undefined ? [] : [{ type: 'note', text: `${placeOfOutput(command)}: ${unnamed}` } as const]),
  ];
}

/** The bytes of the streams that are wished, one after the other, as they are kept. Throws ArtifactError at the latest instead of ending. */
export async function* recordedBytes(
  nc: NatsConnection,
  { commands }: Pick<RecordedOutput, 'commands'>,
  streams: readonly RecordedStream[],
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const { result, commandId } of commands) {
    const all = result === null ? [] : await keptStreams(nc, result, commandId === null ? 'answer' : 'result');
    for (const { stream, read } of all) if (streams.includes(stream)) yield* read();
  }
}

const placed = ({
  taskId,
  attempt,
  commandId,
}: RecordedCommand): Pick<RecordedCommand, 'taskId' | 'attempt' | 'commandId'> => ({
  taskId,
  attempt,
  commandId,
});

function commandItem(command: RecordedCommand, streams: readonly KeptStream[]): RecordedItem {
  const { commandId, deviceId, call, state, startedAt, durationMs, result } = command;
  const { step, index } = (commandId === null ? undefined : placeOfCommand(commandId)) ?? { step: null, index: null };
  const exitCode = (result === null ? undefined : exitCodeIn(result.value)) ?? null;
  return {
    type: 'command',
    ...placed(command),
    step,
    index,
    deviceId,
    call,
    state,
    exitCode,
    startedAt,
    durationMs,
    streams: streams.map(({ stream, bytes, kept, why }) => ({ stream, bytes, kept, why })),
  };
}

async function* pieces(command: RecordedCommand, { stream, read }: KeptStream): AsyncGenerator<RecordedItem> {
  const { deviceId } = command;
  let offset = 0;
  for await (const text of texts(read())) {
    yield { type: 'output', ...placed(command), deviceId, stream, offset, text };
    offset += Buffer.byteLength(text);
  }
}

interface Search extends Pick<SearchWish, 'before' | 'after'> {
  readonly matches: (line: string) => boolean;
}

async function* found(
  command: RecordedCommand,
  { stream, read }: KeptStream,
  { matches, ...around }: Search,
): AsyncGenerator<RecordedItem> {
  const search = new LineSearch(matches, around);
  const lines = new OutputLines();
  const of = { commandId: placeOfOutput(command), taskId: command.taskId, stream };
  let offset = 0;
  const items = (ended: readonly { readonly text: string }[]): RecordedItem[] =>
    ended
      .flatMap(({ text }) => search.push(text))
      .map((line) => ({ type: 'line', ...placed(command), stream, ...line }));
  for await (const text of texts(read())) {
    yield* items(lines.push({ ...of, offset, text }));
    offset += Buffer.byteLength(text);
  }
  yield* items(lines.flush());
}

/** Bytes as text, no character cut in two, each piece short enough for a message. */
async function* texts(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const data of bytes) {
    for (let from = 0; from < data.length; from += PIECE_CHARS_MAX) {
      const text = decoder.decode(data.subarray(from, from + PIECE_CHARS_MAX), { stream: true });
      if (text !== '') yield text;
    }
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

/** What turns out to be damaged while it is read is said, and the others are shown all the same. */
async function* undamaged(
  command: RecordedCommand,
  { stream }: KeptStream,
  items: AsyncIterable<RecordedItem>,
): AsyncGenerator<RecordedItem> {
  try {
    yield* items;
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    yield {
      type: 'note',
      text: `${placeOfOutput(command)} ${stream}: what was shown of it is not proven: ${error.message}`,
    };
  }
}
