import { type ActorId, type GivenLimits, LIMITS, type Refusal } from '#proto';

const MINUTE_MS = 60_000;

interface Minute {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly requests: number;
  readonly bytes: number;
}

/** What came from an actor. */
interface Sent {
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** How much is taken of each system outside in a minute, which begins with its first request. Of this replica; kept in memory only. */
export class Quota {
  readonly #minutes = new Map<ActorId, Minute>();

  /** Counts what came, unless it is more than the actor may send: then the refusal says what the limit is and when to send it again. */
  take(actorId: ActorId, limits: GivenLimits, { bytes, now }: Sent): Refusal | undefined {
    const { requestsPerMinute = LIMITS.externalRequestsPerMinute } = limits;
    const { bytesPerMinute = LIMITS.externalBytesPerMinute } = limits;
    const known = this.#minutes.get(actorId);
    // A clock that was put back begins anew, too.
    const isOver = known === undefined || now >= known.from + MINUTE_MS || now < known.from;
    const minute = isOver ? { from: now, requests: 0, bytes: 0 } : known;
    const again = `are taken in a minute; send it again after ${new Date(minute.from + MINUTE_MS).toISOString()}`;
    if (minute.requests >= requestsPerMinute) {
      return reached(`at most ${requestsPerMinute} requests of ${actorId} ${again}`);
    }
    // One alone is taken, however large: it is bounded by itself.
    if (minute.requests > 0 && minute.bytes + bytes > bytesPerMinute) {
      return reached(`at most ${bytesPerMinute} bytes of ${actorId} ${again}`);
    }
    this.#minutes.set(actorId, { ...minute, requests: minute.requests + 1, bytes: minute.bytes + bytes });
    return undefined;
  }
}

/** Why no new run begins for somebody who has so many that have not ended; undefined while one may. */
export function tooManyOpen(
  actorId: ActorId,
  { openRuns = LIMITS.externalOpenRuns }: GivenLimits,
  open: number,
): Refusal | undefined {
  if (open < openRuns) return undefined;
  return reached(`${actorId} may have ${openRuns} runs that have not ended; send it again when one of them has`);
}

function reached(message: string): Refusal {
  return { code: 'LIMIT_REACHED', message, issues: [{ path: '', message }] };
}
