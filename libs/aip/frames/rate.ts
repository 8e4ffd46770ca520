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

/** Takes what a frame costs. Null: one that is no text. */
export const takeFrame = (rate: Rate, text: string | null, nowMs: number): [Rate, { waitMs: number }] =>
  takeToken(rate, { ...FRAME_RATE, cost: 1 + Math.floor((text ?? '').length / CHARS_PER_TOKEN) }, nowMs);
