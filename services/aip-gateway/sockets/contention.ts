import type { DeviceId } from '#proto';

export interface ContentionPolicy {
  /** Sessions of one device that may take the place of one that is still there, within `withinMs`. */
  readonly replacementsMax: number;
  readonly withinMs: number;
  /** How long others are refused the first time; doubled each time until `refuseMsMax`. */
  readonly refuseMsMin: number;
  readonly refuseMsMax: number;
  /** After so long without a replacement everything is forgotten; counted from the end of the last refusal. */
  readonly calmMs: number;
  /** Devices that are remembered; the one that was quiet for longest is forgotten. */
  readonly devicesMax: number;
}

/** A network that comes and goes replaces a session now and then; two clients with one token do it every two seconds. */
export const CONTENTION: ContentionPolicy = {
  replacementsMax: 10,
  withinMs: 60_000,
  refuseMsMin: 30_000,
  refuseMsMax: 10 * 60_000,
  calmMs: 10 * 60_000,
  devicesMax: 10_000,
};

interface Contest {
  /** When sessions were replaced, oldest first. */
  readonly timesMs: readonly number[];
  /** 0: nobody was refused yet. */
  readonly refuseMs: number;
  readonly untilMs: number;
}

const NONE: Contest = { timesMs: [], refuseMs: 0, untilMs: -Infinity };

/** Which devices have several clients that take the session from each other, and since when newcomers are refused. Deterministic. */
export class Contention {
  readonly #policy: ContentionPolicy;
  readonly #contests = new Map<DeviceId, Contest>();

  constructor(policy: ContentionPolicy = CONTENTION) {
    this.#policy = policy;
  }

  /** A session has taken the place of one that was still there. True: it was one too many, and from now on others are refused. */
  replaced(id: DeviceId, nowMs: number): boolean {
    const { replacementsMax, withinMs, refuseMsMin, refuseMsMax, calmMs } = this.#policy;
    const { timesMs, refuseMs, untilMs } = this.#contests.get(id) ?? NONE;
    // Sockets that were open before the refusal began.
    if (nowMs < untilMs) return false;
    const recentMs = [...timesMs.filter((ms) => ms > nowMs - withinMs), nowMs];
    const isKnown = refuseMs > 0 && nowMs < untilMs + calmMs;
    if (!isKnown && recentMs.length <= replacementsMax) {
      this.#keep(id, { ...NONE, timesMs: recentMs });
      return false;
    }
    const longerMs = isKnown ? Math.min(refuseMsMax, 2 * refuseMs) : refuseMsMin;
    this.#keep(id, { timesMs: [], refuseMs: longerMs, untilMs: nowMs + longerMs });
    return true;
  }

  /** Whether who comes now is refused, as long as somebody else has the session. */
  isRefused(id: DeviceId, nowMs: number): boolean {
    return nowMs < (this.#contests.get(id)?.untilMs ?? -Infinity);
  }

  #keep(id: DeviceId, contest: Contest): void {
    // Set anew, so that the map is in the order of the last replacement.
    this.#contests.delete(id);
    this.#contests.set(id, contest);
    const [quietest] = this.#contests.keys();
    if (this.#contests.size > this.#policy.devicesMax && quietest !== undefined) this.#contests.delete(quietest);
  }
}
