import { setTimeout as sleep } from 'node:timers/promises';
import { PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';
import { doubledMs } from '#libs/backoff';
import { HEADER_COMMIT, HEADER_TYPES, STREAMS, type StreamName } from '#proto';
import { readStream, type ReadPage } from '#libs/messaging';

const WAIT = { msMin: 100, msMax: 2_000 };

export interface ReadOptions {
  /** The last stream sequence that is known already; 0 for everything. */
  readonly afterSequence: number;
  /** Only these subjects; all when absent. */
  readonly filter?: string;
  /** How many messages may lie here unread; a page when absent. */
  readonly readAheadMessages?: number;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
  /** The server is away, or refuses us; tried again for ever. */
  readonly onInterrupted?: (error: Error) => void;
}

/** One stored message of a stream, unparsed. `commit` and `types` are empty on streams that carry no commits. */
export interface StreamEntry {
  readonly sequence: number;
  readonly subject: string;
  readonly commit: string;
  readonly types: readonly string[];
  readonly data: Uint8Array;
  /** Messages of the stream behind this one: 0 means that the reader has caught up. */
  readonly pending: number;
}

/**
 * Reads a stream in order, first what is there, then what comes, for ever: over restarts of the server it goes on after the
 * last sequence it gave out, without gap or repetition. Ends with `signal`, by `break`, or with the connection.
 */
export async function* readCommits(
  nc: NatsConnection,
  stream: StreamName,
  options: ReadOptions,
): AsyncGenerator<StreamEntry, void, undefined> {
  const { signal } = options;
  let last = options.afterSequence;
  let failures = 0;
  while (!isOver(nc, signal)) {
    try {
      for await (const entry of readUntilItBreaks(nc, stream, { ...options, afterSequence: last })) {
        failures = 0;
        last = entry.sequence;
        yield entry;
      }
    } catch (error) {
      // No waiting gives a user another right.
      if (!(error instanceof Error) || deniedRight(error)) throw error;
      if (!isOver(nc, signal)) options.onInterrupted?.(error);
    }
    if (isOver(nc, signal)) return;
    failures += 1;
    await sleep(doubledMs(WAIT, failures), undefined, signal && { signal }).catch(() => {});
  }
}

/** Entry by entry, until a page fails. */
async function* readUntilItBreaks(
  nc: NatsConnection,
  stream: StreamName,
  { afterSequence: after, filter = STREAMS[stream].subjects[0], signal, readAheadMessages }: ReadOptions,
): AsyncGenerator<StreamEntry, void, undefined> {
  for await (const page of readStream(nc, { stream, filter, after, messagesMax: readAheadMessages }, signal)) {
    for (const entry of entriesOf(page)) {
      yield entry;
      if (signal?.aborted === true) return;
    }
  }
}

function entriesOf({ messages, pending }: ReadPage): StreamEntry[] {
  return messages.map(({ seq: sequence, subject, header, data }, index) => ({
    sequence,
    subject,
    commit: header.get(HEADER_COMMIT),
    types: header
      .get(HEADER_TYPES)
      .split(',')
      .filter((type) => type !== ''),
    data,
    pending: pending + messages.length - 1 - index,
  }));
}

/** Whether the server refuses this user what he asked for: no waiting changes that. */
export function deniedRight(error: Error): boolean {
  return error instanceof PermissionViolationError || error.cause instanceof PermissionViolationError;
}

function isOver(nc: NatsConnection, signal: AbortSignal | undefined): boolean {
  return nc.isClosed() || signal?.aborted === true;
}
