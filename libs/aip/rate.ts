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

/** Takes one token, on credit when there is none: `waitMs` says how long to read nothing until the debt is paid. */
export function takeToken(rate: Rate, policy: RatePolicy, nowMs: number): [Rate, { waitMs: number }] {
  const elapsedMs = Math.max(0, nowMs - rate.atMs);
  const tokens = Math.min(policy.burst, rate.tokens + (elapsedMs * policy.perSecond) / 1_000) - 1;
  return [{ tokens, atMs: nowMs }, { waitMs: tokens >= 0 ? 0 : Math.ceil((-tokens * 1_000) / policy.perSecond) }];
}
