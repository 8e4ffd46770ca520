import type { NatsConnection } from '@nats-io/transport-node';
import { deniedRight, readCommits, readStored } from '#libs/event-log';
import { ArtifactError, lastStored } from '#libs/messaging';
import { AttemptCommit, parseJson, subjects, type AttemptKey, type RunCommit, type RunId, type TaskId } from '#proto';
import { Confluence } from './confluence.js';
import { keptStreams, type KeptStream } from './kept-output.adapter.js';
import { LiveStreams, type LastPiece } from './live-streams.js';
import { parsePiece, type TaskOutputPiece } from './output-piece.js';
import { finishedCommands, placeOfOutput, type RecordedCommand } from './recorded-commands.js';
import { emptyNote, partNote } from './recorded-notes.js';

/** A commit of the run that is followed, with how many more are there already. */
export interface FollowedCommit {
  readonly commit: RunCommit;
  readonly behind: number;
}

/** What a follower hears, in the order in which it makes sense: what a task wrote stands before the news that it is over. */
export type FollowedItem =
  | ({ readonly kind: 'commit' } & FollowedCommit)
  | { readonly kind: 'piece'; readonly piece: TaskOutputPiece }
  /** The first piece behind one that is missing: this stream goes on when its command has ended. */
  | { readonly kind: 'held'; readonly piece: TaskOutputPiece }
  /** What there is to say of an output that is not whole. */
  | { readonly kind: 'note'; readonly text: string };

export interface FollowOptions {
  readonly runId: RunId;
  /** Of this task only. */
  readonly taskId?: TaskId | undefined;
  /** Nothing may be missing: what does not come live is read of the record. Else the newest counts, with gaps. */
  readonly isWhole: boolean;
  readonly signal: AbortSignal;
}

/** This key may not read what tasks write. */
export class OutputDeniedError extends Error {}

/**
 * A run as it goes on, with what its tasks write, from the beginning of both: first what is there, then what comes. Each byte once, in order, for each
 * command and stream, also when the connection breaks, a gateway dies, or more is written than anybody carries live. Ends with
 * `commits`. Throws OutputDeniedError.
 * @param commits those of the run until the signal, which this gives when nobody listens here any more
 */
export async function* followedRun(
  nc: NatsConnection,
  options: FollowOptions,
  commits: (signal: AbortSignal) => AsyncIterable<FollowedCommit>,
): AsyncGenerator<FollowedItem, void, undefined> {
  const stop = new AbortController();
  const until = AbortSignal.any([options.signal, stop.signal]);
  const follower = new Follower(nc, options, until);
  const all = new Confluence<FollowedItem>();
  all.join(commitItems(commits(until)), { isMain: true });
  let isBegun = false;
  try {
    for await (const item of all.items()) {
      if (item.kind === 'piece') {
        yield* follower.taken(item.piece);
        continue;
      }
      if (item.kind === 'commit') yield* follower.ended(item.commit);
      yield item;
      if (isBegun || item.kind !== 'commit' || item.behind > 0) continue;
      // Not before: what runs is told of first.
      isBegun = true;
      all.join(follower.pieces());
    }
  } finally {
    stop.abort();
  }
}

/** What one follower has been shown, and what there is beside it. */
class Follower {
  readonly #nc: NatsConnection;
  readonly #options: FollowOptions;
  readonly #until: AbortSignal;
  readonly #live: LiveStreams;
  /** Sequence in OUTPUT of the newest piece that was taken. */
  #seen = 0;

  constructor(nc: NatsConnection, options: FollowOptions, until: AbortSignal) {
    this.#nc = nc;
    this.#options = options;
    this.#until = until;
    this.#live = new LiveStreams(options);
  }

  /** All pieces that are wanted, from the first that is stored. */
  async *pieces(): AsyncGenerator<FollowedItem> {
    const { runId, taskId } = this.#options;
    const filter = taskId === undefined ? subjects.outputOfRun(runId) : subjects.outputOfTask(runId, taskId);
    for await (const { piece, sequence } of this.#stored(filter, 0)) {
      if (piece !== undefined) yield { kind: 'piece', piece };
      this.#seen = Math.max(this.#seen, sequence);
    }
  }

  /** A piece is shown once, and in its place. */
  *taken(piece: TaskOutputPiece): Generator<FollowedItem> {
    const wasHeld = this.#live.isHeld(piece);
    const verdict = this.#live.take(piece);
    if (verdict === 'show') yield { kind: 'piece', piece };
    else if (verdict === 'held' && !wasHeld) yield { kind: 'held', piece };
  }

  /** All that is left of the attempts that end with this commit. */
  async *ended(commit: RunCommit): AsyncGenerator<FollowedItem> {
    const { runId, taskId: only } = this.#options;
    for (const { taskId, attempt } of attemptsEndedBy(commit)) {
      if ((only !== undefined && only !== taskId) || attempt === 0 || this.#live.hasEnded(taskId, attempt)) continue;
      yield* this.#rest({ runId, taskId, attempt });
      this.#live.end(taskId, attempt);
    }
  }

  /** First what is stored of the live output, then what the record has more, then what is in neither as far as it was live. */
  async *#rest(key: AttemptKey): AsyncGenerator<FollowedItem> {
    const filter = subjects.outputOfTask(key.runId, key.taskId);
    const last = await lastStored(this.#nc, 'OUTPUT', filter);
    if (last > this.#seen) {
      for await (const { piece, sequence } of this.#stored(filter, this.#seen)) {
        if (piece !== undefined) yield* this.taken(piece);
        if (sequence >= last) break;
      }
    }
    if (!this.#options.isWhole) return;
    const recorded = new Set<string>();
    for await (const item of restOfAttempt(this.#nc, key, this.#live)) {
      if (item.kind === 'piece') recorded.add(streamOf(item.piece));
      yield item;
    }
    if (last === 0 || !this.#live.holdsOf(key.taskId, recorded)) return;
    for await (const { piece, sequence } of this.#stored(filter, 0)) {
      if (piece !== undefined && this.#live.isBehind(piece) && !recorded.has(streamOf(piece)))
        yield { kind: 'piece', piece };
      if (sequence >= last) break;
    }
  }

  async *#stored(filter: string, afterSequence: number): AsyncGenerator<StoredPiece> {
    const options = { afterSequence, filter, signal: this.#until };
    try {
      for await (const { subject, data, sequence } of readCommits(this.#nc, 'OUTPUT', options)) {
        yield { piece: parsePiece(subject, data), sequence };
      }
    } catch (error) {
      throw error instanceof Error && deniedRight(error)
        ? new OutputDeniedError(error.message, { cause: error })
        : error;
    }
  }
}

/** No piece: what came on that subject is none. */
interface StoredPiece {
  readonly piece: TaskOutputPiece | undefined;
  readonly sequence: number;
}

const streamOf = ({ commandId, stream }: Pick<TaskOutputPiece, 'commandId' | 'stream'>): string =>
  `${commandId} ${stream}`;

/** Attempts that are over with this commit: they write nothing more. */
export function attemptsEndedBy({ events }: RunCommit): { readonly taskId: TaskId; readonly attempt: number }[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case 'TASK_COMPLETED':
      case 'TASK_FAILED':
      case 'TASK_CANCELLED':
      case 'TASK_REOPENED':
        return [{ taskId: event.data.taskId, attempt: event.data.attempt }];
      default:
        return [];
    }
  });
}

async function* commitItems(commits: AsyncIterable<FollowedCommit>): AsyncGenerator<FollowedItem> {
  for await (const { commit, behind } of commits) yield { kind: 'commit', commit, behind };
}

/** What has not been shown of the commands of an attempt that is over, as it is recorded. */
async function* restOfAttempt(nc: NatsConnection, key: AttemptKey, live: LiveStreams): AsyncGenerator<FollowedItem> {
  const commits: AttemptCommit[] = [];
  for await (const { data } of readStored(nc, 'ATTEMPTS', subjects.attemptFilter(key))) {
    commits.push(AttemptCommit.parse(parseJson(data)));
  }
  for (const command of finishedCommands(commits)) {
    const { commandId, result } = command;
    if (commandId === null) continue;
    if (result === null && !command.refused) yield { kind: 'note', text: emptyNote(command) };
    const streams = result === null ? [] : await keptStreams(nc, result);
    for (const stream of streams) yield* restOfStream(command, stream, live.last({ commandId, stream: stream.stream }));
  }
}

async function* restOfStream(
  command: RecordedCommand,
  kept: KeptStream,
  last: LastPiece | undefined,
): AsyncGenerator<FollowedItem> {
  const { commandId, deviceId, taskId, attempt } = command;
  const { stream, bytes, why } = kept;
  if (commandId === null || deviceId === null || (stream !== 'stdout' && stream !== 'stderr')) return;
  const of = { commandId, deviceId, taskId, attempt, stream };
  if (why !== null) yield { kind: 'note', text: partNote(command, kept) };
  const isAligned = kept.isBeginning || last === undefined;
  try {
    if (isAligned)
      for await (const piece of textsAfter(kept.read(), last)) yield { kind: 'piece', piece: { ...of, ...piece } };
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    yield {
      kind: 'note',
      text: `${placeOfOutput(command)} ${stream}: the rest of it cannot be read: ${error.message}`,
    };
  }
  // Where it ends, so that what is missing has a place and a size.
  if (why !== null && bytes !== null) yield { kind: 'piece', piece: { ...of, offset: bytes, text: '' } };
}

const PIECE_BYTES = 16 * 1024;

/** What follows a piece in the bytes that it is of. Where a piece ends in them is known by its text: bytes that are none were replaced. */
async function* textsAfter(
  bytes: AsyncIterable<Uint8Array>,
  last: LastPiece | undefined,
): AsyncGenerator<{ readonly offset: number; readonly text: string }> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let [skip, known] = [last?.offset ?? 0, last?.text.length ?? 0];
  let offset = skip;
  const fresh = (decoded: string): { offset: number; text: string } => {
    const text = decoded.slice(known);
    known = Math.max(0, known - decoded.length);
    const at = offset + Buffer.byteLength(decoded) - Buffer.byteLength(text);
    offset += Buffer.byteLength(decoded);
    return { offset: at, text };
  };
  for await (const data of bytes) {
    const from = Math.min(skip, data.length);
    skip -= from;
    for (let at = from; at < data.length; at += PIECE_BYTES) {
      const piece = fresh(decoder.decode(data.subarray(at, at + PIECE_BYTES), { stream: true }));
      if (piece.text !== '') yield piece;
    }
  }
  const rest = fresh(decoder.decode());
  if (rest.text !== '') yield rest;
}
