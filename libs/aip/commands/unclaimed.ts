import { doubledMs } from '#libs/backoff';
import { AIP_LIMITS, type CommandId } from '#proto';

/*
 * Results that are here and not known to be stored. Who wants one asks for it and says `stored` afterwards; one that nobody
 * asks for is handed over, again and again until somebody says what becomes of it.
 *
 *   kept --5 s--> handed over --stored, unknown--> gone
 *    ^ asked for: 30 s more     \--wanted, no answer--> waits, each time twice as long
 */

/** Who has asked for a result stores it, which may take its time. */
const ASKED_MS = 6 * AIP_LIMITS.unclaimedMs;
const WAIT = { msMin: AIP_LIMITS.unclaimedMs, msMax: 5 * 60 * 1_000 };
/** Results of one session that are handed over at the same time. */
const IN_FLIGHT_MAX = 4;

interface Unclaimed {
  dueAtMs: number;
  tries: number;
}

export class UnclaimedResults {
  readonly #waiting = new Map<CommandId, Unclaimed>();
  readonly #inFlight = new Map<CommandId, Unclaimed>();

  /** A result is here. `asked`: somebody has asked for it in this session. */
  keep(commandId: CommandId, asked: boolean, nowMs: number): void {
    this.#waiting.set(commandId, { dueAtMs: nowMs + (asked ? ASKED_MS : AIP_LIMITS.unclaimedMs), tries: 0 });
  }

  /** Somebody has got it now. */
  asked(commandId: CommandId, nowMs: number): void {
    const waiting = this.#waiting.get(commandId);
    if (waiting !== undefined) waiting.dueAtMs = Math.max(waiting.dueAtMs, nowMs + ASKED_MS);
  }

  forget(commandId: CommandId): void {
    this.#waiting.delete(commandId);
    this.#inFlight.delete(commandId);
  }

  /** What is to be handed over now; each is in flight until `undelivered` or `forget`. */
  due(nowMs: number): CommandId[] {
    const ids: CommandId[] = [];
    for (const [commandId, unclaimed] of this.#waiting) {
      if (this.#inFlight.size >= IN_FLIGHT_MAX) break;
      if (unclaimed.dueAtMs > nowMs) continue;
      this.#waiting.delete(commandId);
      this.#inFlight.set(commandId, unclaimed);
      ids.push(commandId);
    }
    return ids;
  }

  /** It was not taken: somebody will ask for it, or nobody has answered. */
  undelivered(commandId: CommandId, nowMs: number): void {
    const unclaimed = this.#inFlight.get(commandId);
    if (unclaimed === undefined) return;
    this.#inFlight.delete(commandId);
    const tries = unclaimed.tries + 1;
    this.#waiting.set(commandId, { dueAtMs: nowMs + doubledMs(WAIT, tries), tries });
  }

  get size(): number {
    return this.#waiting.size + this.#inFlight.size;
  }
}
