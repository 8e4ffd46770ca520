import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, type ConsumerMessages } from '@nats-io/jetstream';
import { PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';
import { doubledMs } from '#libs/backoff';
import { HEADER_COMMIT, HEADER_TYPES, type StreamName } from '#proto';
import { ConnectionWatch } from '#libs/messaging';

const READ_AHEAD_MESSAGES = 500;
const PULL_EXPIRES_MS = 2_000;
/** The server forgets a reader that did not pull for so long; a slow one is made again behind its last message. */
const FORGOTTEN_MS = 30_000;
const WAIT = { msMin: 100, msMax: 2_000 };

export interface ReadOptions {
  /** The last stream sequence that is known already; 0 for everything. */
  readonly afterSequence: number;
  /** Only these subjects; all when absent. */
  readonly filters?: readonly string[];
  /** How many messages may lie here unread; 500 when absent. */
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

/** One ordered consumer, until its server restarts or forgets it. */
async function* readUntilItBreaks(
  nc: NatsConnection,
  stream: StreamName,
  { afterSequence, filters, signal, readAheadMessages = READ_AHEAD_MESSAGES }: ReadOptions,
): AsyncGenerator<StreamEntry, void, undefined> {
  const consumer = await ConnectionWatch.of(nc).request(() =>
    jetstream(nc).consumers.get(stream, {
      opt_start_seq: afterSequence + 1,
      // Nobody has to delete it: readers are not allowed to.
      inactive_threshold: FORGOTTEN_MS,
      ...(filters === undefined ? {} : { filter_subjects: [...filters] }),
    }),
  );
  const messages = await consumer.consume({
    max_messages: readAheadMessages,
    expires: PULL_EXPIRES_MS,
    abort_on_missing_resource: true,
  });
  const stop = stopOnAbort(messages, signal);
  try {
    for await (const message of messages) {
      yield {
        sequence: message.seq,
        subject: message.subject,
        commit: message.headers?.get(HEADER_COMMIT) ?? '',
        types: (message.headers?.get(HEADER_TYPES) ?? '').split(',').filter((type) => type !== ''),
        data: message.data,
        pending: message.info.pending,
      };
    }
  } finally {
    stop();
  }
}

function stopOnAbort(messages: ConsumerMessages, signal: AbortSignal | undefined): () => void {
  const stop = () => messages.stop();
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop);
  return () => {
    signal?.removeEventListener('abort', stop);
    stop();
  };
}

function deniedRight(error: Error): boolean {
  return error instanceof PermissionViolationError || error.cause instanceof PermissionViolationError;
}

function isOver(nc: NatsConnection, signal: AbortSignal | undefined): boolean {
  return nc.isClosed() || signal?.aborted === true;
}
