import { Worker } from 'node:worker_threads';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { LargeFrames } from '#libs/aip';
import { openUpload, type UploadEvents } from '#libs/messaging';
import { Slots } from '#libs/slots';
import { AIP_LIMITS, isObject, fieldsOf, parseJson, type ArtifactRef, type Json } from '#proto';
import type { LongText, TakeLimits } from './long-texts.js';

const LIMITS: Omit<TakeLimits, 'secrets'> = {
  textBytesMax: 64 * 1024,
  shownBytes: 8 * 1024,
  textsMax: 16,
  restBytesMax: AIP_LIMITS.foreignFrameBytesMax / 2,
};
/** What is written to the store and not taken by it yet. */
const UPLOAD_WINDOW_BYTES = 1024 * 1024;

/** Beside the compiled file; tests run the sources, which no thread can load. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../../dist/services/aip-gateway/files/long-texts.runner.js'
    : './long-texts.runner.js',
  import.meta.url,
);

interface Found {
  readonly text: string | undefined;
  readonly texts: readonly (LongText & { readonly sha256: string })[] | undefined;
  readonly bytes: Uint8Array;
}

/**
 * Frames of foreign devices that are larger than 8 MiB: one at a time in the whole gateway. Its long texts are found by a thread
 * of its own and stored as artifacts, as devices of ours do it themselves; what is left is a frame like any other.
 */
export class LargeFrameDesk implements LargeFrames {
  readonly fromBytes = AIP_LIMITS.foreignFrameBytesMax;
  readonly bytesMax = AIP_LIMITS.largeFrameBytesMax;
  readonly withinMs = AIP_LIMITS.largeFrameMs;
  readonly #nc: NatsConnection;
  readonly #logger: Logger;
  readonly #oneAtATime = new Slots(1);

  constructor(nc: NatsConnection, logger: Logger) {
    this.#nc = nc;
    this.#logger = logger;
  }

  enter(granted: () => void): () => void {
    return this.#oneAtATime.ask(granted);
  }

  async reduce(frame: Buffer, secrets: readonly string[]): Promise<string> {
    const { text, texts = [], bytes } = await inThread(frame, { ...LIMITS, secrets });
    if (text === undefined) throw new Error('a message above 8 MiB that is not a few long texts');
    const refs: (ArtifactRef | null)[] = [];
    for (const { sha256, start, end } of texts) {
      const ref = { sha256, bytes: end - start };
      refs.push((await this.#store(ref, bytes.subarray(start, end))) ? ref : null);
    }
    return withArtifacts(text, texts, refs);
  }

  /** A text that the store does not take is not lost for the task that waits: head and tail are there. */
  async #store(ref: ArtifactRef, content: Uint8Array): Promise<boolean> {
    try {
      const room = new UploadRoom();
      const upload = await openUpload(this.#nc, ref, room);
      if (upload === 'have') return true;
      try {
        for (let at = 0; at < content.length; at += UPLOAD_WINDOW_BYTES) {
          await room.until(at - UPLOAD_WINDOW_BYTES);
          upload.write(content.subarray(at, at + UPLOAD_WINDOW_BYTES));
        }
        await Promise.race([upload.commit(), room.broken]);
        return true;
      } catch (error) {
        await upload.discard();
        throw error;
      }
    } catch (error) {
      this.#logger.warn({ err: error, ...ref }, 'a large output was not stored');
      return false;
    }
  }
}

/** What the store has taken, for who writes no faster than that. */
class UploadRoom implements UploadEvents {
  readonly #failed = Promise.withResolvers<never>();
  #news = Promise.withResolvers<void>();
  #taken = 0;

  constructor() {
    // Heard of by the next waiter.
    this.#failed.promise.catch(() => undefined);
  }

  /** Rejects when the store fails. */
  get broken(): Promise<never> {
    return this.#failed.promise;
  }

  taken(bytes: number): void {
    this.#taken = bytes;
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  failed(error: unknown): void {
    this.#failed.reject(error instanceof Error ? error : new Error(String(error)));
  }

  /** Resolves when so many bytes are taken. */
  async until(bytes: number): Promise<void> {
    while (this.#taken < bytes) await Promise.race([this.#news.promise, this.broken]);
  }
}

/** Its memory goes there and comes back: nothing is copied. */
function inThread(frame: Buffer, limits: TakeLimits): Promise<Found> {
  const { promise, resolve, reject } = Promise.withResolvers<Found>();
  const whole = frame.byteLength === frame.buffer.byteLength ? frame : Buffer.from(frame);
  const bytes = new Uint8Array(whole.buffer as ArrayBuffer, whole.byteOffset, whole.byteLength);
  const worker = new Worker(WORKER);
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the thread ended without an answer')));
  worker.postMessage({ bytes, limits }, [bytes.buffer]);
  return promise.finally(() => void worker.terminate());
}

const RESULT = ['action_results', 0, 'result'] as const;
const NOT_STORED = 'not stored';

/** Names the stored texts beside what is left of them, as results of our own devices do. */
export function withArtifacts(
  text: string,
  texts: readonly Pick<LongText, 'path'>[],
  refs: readonly (ArtifactRef | null)[],
): string {
  const frame = fieldsOf(parseJson(text));
  const [action] = (frame['action_results'] ?? []) as { result?: Json }[];
  if (action === undefined) return text;
  const inResult = texts.flatMap(({ path }, index) =>
    RESULT.every((part, at) => path[at] === part)
      ? [{ path: path.slice(RESULT.length), ref: refs[index] ?? null }]
      : [],
  );
  if (inResult.length === 0) return text;
  const { result = null } = action;
  const isPlain = isObject(result);
  if (isPlain && inResult.every(({ path }) => path.length === 1)) {
    const named = inResult.flatMap(({ path: [field], ref }): [string, Json][] =>
      ref === null
        ? [['artifact_error', `${field}: ${NOT_STORED}`]]
        : [
            [`${field}_artifact`, { ...ref }],
            [`${field}_bytes`, ref.bytes],
          ],
    );
    action.result = { ...result, ...Object.fromEntries(named) };
  } else {
    const artifacts = inResult.map(({ path, ref }): [string, Json] => [
      path.join('.') || 'result',
      ref === null ? NOT_STORED : { ...ref },
    ]);
    action.result = { result, artifacts: Object.fromEntries(artifacts) };
  }
  return JSON.stringify(frame);
}
