import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecCliResult } from '#proto';
import {
  HeadTail,
  type OutputFeed,
  type OutputFile,
  type OutputFiles,
  OutputSpool,
  type SpoolOptions,
} from '../output/index.js';
import { RedactedStream, type Redactor } from '../secrets/index.js';
import { EXEC_LIMITS } from './exec-cli.js';

const DRAIN_LOOK_MS = 20;

/** What a stream has given until now. */
export interface Collected {
  readonly kept: HeadTail;
  readonly spool: OutputSpool | undefined;
  readonly closed: Promise<void>;
  /** Nothing that comes now counts; what was held back does. */
  readonly close: () => void;
}

export interface Collecting {
  readonly spool: SpoolOptions | undefined;
  readonly redactor: Redactor | undefined;
}

/** Takes what a stream gives, without its secrets: nothing behind this has ever seen one. */
export function collect(stream: Readable, live: OutputFeed, { spool: options, redactor }: Collecting): Collected {
  const valve = { pause: () => void stream.pause(), resume: () => void stream.resume() };
  const spool = options && new OutputSpool(options, valve);
  const kept = new HeadTail(EXEC_LIMITS.headBytesMax, EXEC_LIMITS.tailBytesMax);
  const redacted = redactor && new RedactedStream(redactor);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const take = (chunk: Buffer): void => {
    if (chunk.length === 0) return;
    spool?.before(kept, chunk);
    kept.push(chunk);
    live.push(chunk);
  };
  let isOpen = true;
  const close = (): void => {
    if (isOpen && redacted !== undefined) take(redacted.end());
    isOpen = false;
    resolve();
  };
  stream.on('data', (chunk: Buffer) => {
    if (isOpen) take(redacted === undefined ? chunk : redacted.push(chunk));
  });
  stream.once('close', close);
  stream.once('end', close);
  stream.once('error', close);
  return { kept, spool, closed, close };
}

/** The files of the outputs that the result does not hold, or will not when it is made to fit into a frame. */
export async function wholeOutputs(
  output: Readonly<Record<'stdout' | 'stderr', Collected>>,
  result: ExecCliResult,
): Promise<OutputFiles> {
  const fits = Buffer.byteLength(JSON.stringify(result)) <= EXEC_LIMITS.resultBytesMax;
  const fileOf = async ({ kept, spool }: Collected): Promise<OutputFile | undefined> => {
    const isCut = !fits && kept.bytes > EXEC_LIMITS.neverCutBytes;
    // Bytes that are no characters stand in no text.
    if (isCut || !kept.isText) await spool?.takeWhole(kept);
    return spool?.take();
  };
  const [stdout, stderr] = await Promise.all([fileOf(output.stdout), fileOf(output.stderr)]);
  return { ...(stdout && { stdout }), ...(stderr && { stderr }) };
}

/**
 * Both streams to their ends, or as far as they come while somebody outside of the group holds them open. The time is that in which this
 * process could read: however long a machine stands still, what is in the pipes by then is read.
 */
export async function outputsEnded(...streams: Promise<void>[]): Promise<void> {
  const ended = new AbortController();
  const late = async (): Promise<void> => {
    const { signal } = ended;
    for (let waitedMs = 0; waitedMs < EXEC_LIMITS.drainMs && !signal.aborted; waitedMs += DRAIN_LOOK_MS)
      await sleep(DRAIN_LOOK_MS, undefined, { signal }).catch(() => undefined);
  };
  await Promise.race([Promise.all(streams), late()]);
  ended.abort();
}
