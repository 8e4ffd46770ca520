import { doubledMs, spreadMs } from '#libs/backoff';
import type { ModelErrorCode } from '../models/index.js';

const WAIT = { msMin: 500, msMax: 20_000 };
/** An endpoint that wants more rest than this is left alone for this question. */
const RETRY_AFTER_MS_MAX = 60_000;

/** What may be different the next time. */
const RETRYABLE: ReadonlySet<ModelErrorCode> = new Set<ModelErrorCode>([
  'TIMEOUT',
  'RATE_LIMITED',
  'SERVER_ERROR',
  'UNREACHABLE',
  'STREAM_CUT',
  'BAD_RESPONSE',
]);

/** What another endpoint may do better. The rest is the model's answer, or the caller's will. */
const ELSEWHERE: ReadonlySet<ModelErrorCode> = new Set<ModelErrorCode>([
  ...RETRYABLE,
  'BAD_REQUEST',
  'UNAUTHORIZED',
  'CIRCUIT_OPEN',
]);

/** What says that an endpoint is ill, rather than busy or asked wrongly. */
const ILLNESS: ReadonlySet<ModelErrorCode> = new Set<ModelErrorCode>([
  'TIMEOUT',
  'SERVER_ERROR',
  'UNREACHABLE',
  'STREAM_CUT',
  'BAD_RESPONSE',
]);

export const isWorthBackup = (code: ModelErrorCode): boolean => ELSEWHERE.has(code);
export const isIllness = (code: ModelErrorCode): boolean => ILLNESS.has(code);

/**
 * Milliseconds to wait before the next try; null when there is none. `random`: from 0 to 1; the wait is between half and all of
 * what doubles with every try, so that those who failed together do not come back together.
 */
export function waitBefore(
  fault: { readonly code: ModelErrorCode; readonly retryAfterMs?: number },
  tries: { readonly made: number; readonly max: number },
  random: number,
): number | null {
  if (!RETRYABLE.has(fault.code) || tries.made >= tries.max) return null;
  const asked = fault.retryAfterMs ?? 0;
  if (asked > RETRY_AFTER_MS_MAX) return null;
  return Math.round(Math.max(spreadMs(doubledMs(WAIT, tries.made), random), asked));
}

export type Sleep = (ms: number, signal: AbortSignal) => Promise<unknown>;

/** False when the sleep was cut short. */
export async function slept(sleep: Sleep, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return !signal.aborted;
}
