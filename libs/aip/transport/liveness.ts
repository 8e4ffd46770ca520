import { AIP_LIMITS } from '#proto';

/**
 * Is the peer still there? A cut cable sends no FIN: only an answer to a ping proves life.
 *
 *   heard --20 s--> ping --25 s without a sound--> dead
 */
export interface Liveness {
  readonly heardAtMs: number;
  readonly pingedAtMs: number | null;
}

export interface LivenessPolicy {
  readonly pingEveryMs: number;
  readonly deadAfterMs: number;
}

/** A peer that is silent for this long is dead; it is pinged as often, in proportion, as it usually is. */
export const livenessPolicy = (deadAfterMs: number): LivenessPolicy => ({
  deadAfterMs,
  pingEveryMs: Math.round((deadAfterMs * AIP_LIMITS.pingEveryMs) / AIP_LIMITS.deadAfterMs),
});

export type LivenessVerdict = 'alive' | 'ping' | 'dead';

export const alive = (nowMs: number): Liveness => ({ heardAtMs: nowMs, pingedAtMs: null });

/** Whatever arrives, a frame as much as a pong, proves life. */
export function heard(_: Liveness, nowMs: number): Liveness {
  return alive(nowMs);
}

/** Bytes of a frame that is not whole yet: the peer lives, but it hears nothing of us unless it is pinged as before. */
export function trickled({ heardAtMs, pingedAtMs }: Liveness, nowMs: number): Liveness {
  return { heardAtMs: nowMs, pingedAtMs: pingedAtMs ?? heardAtMs };
}

/** To be asked every few seconds; `ping` is said once per silence of `pingEveryMs`. */
export function check(
  liveness: Liveness,
  nowMs: number,
  { pingEveryMs, deadAfterMs }: LivenessPolicy = AIP_LIMITS,
): [Liveness, LivenessVerdict] {
  const { heardAtMs, pingedAtMs } = liveness;
  if (nowMs - heardAtMs >= deadAfterMs) return [liveness, 'dead'];
  if (nowMs - (pingedAtMs ?? heardAtMs) < pingEveryMs) return [liveness, 'alive'];
  return [{ heardAtMs, pingedAtMs: nowMs }, 'ping'];
}
