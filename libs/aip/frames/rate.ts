import { AIP_LIMITS } from '#proto';

/** A token bucket: `burst` frames at once, then `perSecond`. */
export interface Rate {
  readonly tokens: number;
  readonly atMs: number;
}

export interface RatePolicy {
  readonly perSecond: number;
  readonly burst: number;
}

export const fullRate = ({ burst }: RatePolicy, nowMs: number): Rate => ({ tokens: burst, atMs: nowMs });

/** Takes one token, or `cost`, on credit when there is none: `waitMs` says how long to read nothing until the debt is paid. */
export function takeToken(
  rate: Rate,
  { perSecond, burst, cost = 1 }: RatePolicy & { readonly cost?: number },
  nowMs: number,
): [Rate, { waitMs: number }] {
  const elapsedMs = Math.max(0, nowMs - rate.atMs);
  const tokens = Math.min(burst, rate.tokens + (elapsedMs * perSecond) / 1_000) - cost;
  return [{ tokens, atMs: nowMs }, { waitMs: tokens >= 0 ? 0 : Math.ceil((-tokens * 1_000) / perSecond) }];
}

/** Of one connection. */
const FRAME_RATE = { perSecond: AIP_LIMITS.framesPerSecond, burst: AIP_LIMITS.framesBurst };
/** A large frame takes as long to read as many small ones: what a frame counts for grows with it. */
const CHARS_PER_TOKEN = 16 * 1024;

export const fullFrameRate = (nowMs: number): Rate => fullRate(FRAME_RATE, nowMs);

/** Of a binary frame only the head is parsed; how much of a file may come is said by the window of its transfer. */
const BYTES_PER_TOKEN = 256 * 1024;

/** Takes what a frame costs. Null: one that is no text, of `bytes` bytes. */
export function takeFrame(rate: Rate, text: string | null, nowMs: number, bytes = 0): [Rate, { waitMs: number }] {
  const more = text === null ? bytes / BYTES_PER_TOKEN : text.length / CHARS_PER_TOKEN;
  return takeToken(rate, { ...FRAME_RATE, cost: 1 + Math.floor(more) }, nowMs);
}
