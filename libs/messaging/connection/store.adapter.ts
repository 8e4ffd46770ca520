import { JetStreamApiError } from '@nats-io/jetstream';
import { z } from 'zod';
import type { Refusal } from '#proto';
import { type Disk, diskOf, type Room } from './disk.adapter.js';
import { readMonitor } from './monitor.adapter.js';

/** Why nats-server stores nothing more. */
export interface StoreFault {
  /** No room on its disk; no more than it is allowed to; or a stream could not be written for another reason. */
  readonly kind: 'disk-full' | 'limit' | 'failed';
  /** A clause for people. */
  readonly why: string;
}

/** What nats-server stores on its disk and how much it may, as its HTTP monitoring tells it. */
export interface StoreLook extends Room {
  /** Where that is, when the server is on this machine. */
  readonly disk: Disk | undefined;
  readonly fault: StoreFault | undefined;
}

/** It was not stored, because nats-server has no room for it or cannot write; what is stored already is as it was. */
export class CannotStoreError extends Error {
  override readonly name = 'CannotStoreError';
  readonly fault: StoreFault;
  constructor(fault: StoreFault, options?: ErrorOptions) {
    super(`It cannot be stored: ${fault.why}.`, options);
    this.fault = fault;
  }
}

const Jsz = z.looseObject({
  storage: z.number(),
  config: z.looseObject({ max_storage: z.number(), store_dir: z.string().optional() }),
});
const Healthz = z.looseObject({ error: z.string().optional() });

/** nats-server says so for as long as it runs: a stream that could not be written once is not written again before it starts anew. */
const WRITE_ERROR = /write error: (?<cause>.+)$/su;
const NO_ROOM = /no space left on device|disk quota exceeded/u;
const DISK_FULL: StoreFault = { kind: 'disk-full', why: 'the disk of nats-server is full' };
const LIMIT_REACHED: StoreFault = { kind: 'limit', why: 'nats-server stores as much as it is allowed to' };

/** API errors of a write for which there is no room: of the server, the account, a new stream (nats-server, `errors.json`). */
const NO_RESOURCES: readonly number[] = [10_023, 10_002, 10_047];
/** A stream did not take a message; its text says why. */
const STORE_FAILED = 10_077;

/** What the monitoring of nats-server says of its store. Throws when it does not answer. */
export async function lookAtStore(monitorUrl: string): Promise<StoreLook> {
  const [told, health] = await Promise.all([
    readMonitor(monitorUrl, '/jsz?config=true'),
    readMonitor(monitorUrl, '/healthz'),
  ]);
  const { storage: usedBytes, config } = Jsz.parse(told);
  const { max_storage: limitBytes, store_dir: directory } = config;
  const disk = directory !== undefined && isHere(monitorUrl) ? await diskOf(directory) : undefined;
  const isOver = limitBytes > 0 && usedBytes > limitBytes;
  const fault = writeFault(Healthz.parse(health).error ?? '') ?? (isOver ? LIMIT_REACHED : undefined);
  return { usedBytes, limitBytes, disk, fault };
}

const isHere = (url: string): boolean => /^(?:127\.[\d.]+|localhost|\[::1\])$/u.test(new URL(url).hostname);

/** What `/healthz` says of streams that cannot be written. */
export function writeFault(health: string): StoreFault | undefined {
  const cause = WRITE_ERROR.exec(health)?.groups?.['cause'];
  if (cause === undefined) return undefined;
  if (NO_ROOM.test(cause)) return DISK_FULL;
  return { kind: 'failed', why: `nats-server could not write to its disk (${cause.split(': ').at(-1)})` };
}

/** The server's own refusal of a write for want of room. */
export function isOverLimit(error: unknown): boolean {
  if (!(error instanceof JetStreamApiError)) return false;
  return NO_RESOURCES.includes(error.code) || (error.code === STORE_FAILED && /maximum bytes/u.test(error.message));
}

export const overLimit = (cause: unknown): CannotStoreError => new CannotStoreError(LIMIT_REACHED, { cause });

/** Why it was not stored, when that is what an error, or what caused it, is about. */
export function storeFaultOf(error: unknown): StoreFault | undefined {
  if (error instanceof CannotStoreError) return error.fault;
  return error instanceof Error && error.cause !== undefined ? storeFaultOf(error.cause) : undefined;
}

/** "No" to what would have to be stored. Whoever sends the same again is answered as if it were the first time. */
export function refusalOfFault({ kind, why }: StoreFault): Refusal {
  const code = kind === 'failed' ? 'TRY_AGAIN' : 'STORAGE_FULL';
  return {
    code,
    message: `Nothing new is taken, because ${why}. Send it again, with the same id, when it stores again.`,
    issues: [],
  };
}
