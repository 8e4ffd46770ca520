import { AIP_LIMITS } from '#proto';

/*
 * Numbers and acknowledgements of one connection of revision 2, the same at both ends. TCP keeps frames in order while a
 * connection lives; the numbers show that both ends mean the same frames, and that the other program takes what its
 * machine has received.
 *
 *   stamp --seq, ack--> take --every 16 frames or 200 ms--> ack (or on whatever is sent before) --> take: latency
 *
 * An `ack` frame has a number like every other, but nobody has to acknowledge it: two quiet ends would never stop.
 * Deterministic: times come in as arguments, in milliseconds of one clock.
 */

/** What a frame needs to have to be numbered. */
export interface Numberable {
  readonly type: string;
  readonly seq?: number | null | undefined;
  readonly ack?: number | null | undefined;
}

export type Stamped<M> = M & { readonly seq: number; readonly ack: number };

/** Counted until it is acknowledged, by class: what one class has under way can be limited. */
export interface Cargo {
  readonly class: string;
  readonly bytes: number;
}

export type JudgedFrame =
  /** `latencyMs` when it acknowledges something: from the newest of these frames to now. */
  | { readonly kind: 'fresh'; readonly latencyMs?: number }
  /** Taken before: to be ignored. */
  | { readonly kind: 'duplicate' }
  /** The ends do not mean the same frames any more: the connection has to be given up. `error` says why, for people. */
  | { readonly kind: 'gap'; readonly error: string };

export interface SequencePolicy {
  readonly ackEveryFrames: number;
  readonly ackAfterMs: number;
  readonly unackedMsMax: number;
}

interface Underway {
  readonly seq: number;
  readonly sentAtMs: number;
  readonly cargo: Cargo | undefined;
}

/** A peer that leaves so many frames unacknowledged is as good as one that takes nothing. */
const UNACKED_FRAMES_MAX = 65_536;

export class Sequence {
  readonly #policy: SequencePolicy;
  #sent = 0;
  #taken = 0;
  /** Of what was sent, how far the peer has said to have it. */
  #acked = 0;
  /** Frames taken since the last word about it, and when the first of them came. */
  #owed = 0;
  #owedSinceMs = 0;
  /** Sent, to be acknowledged, not acknowledged yet; the oldest first. */
  readonly #underway: Underway[] = [];
  readonly #bytes = new Map<string, number>();
  #latencyMs: number | null = null;

  constructor(policy: SequencePolicy = AIP_LIMITS) {
    this.#policy = policy;
  }

  /** Gives a frame that is sent now its number, and acknowledges on it what was taken. */
  stamp<M extends Numberable>(message: M, nowMs: number, cargo?: Cargo): Stamped<M> {
    const seq = ++this.#sent;
    this.#owed = 0;
    if (message.type !== 'ack') {
      this.#underway.push({ seq, sentAtMs: nowMs, cargo });
      if (cargo !== undefined) this.#count(cargo, 1);
    }
    return { ...message, seq, ack: this.#taken };
  }

  /** Judges a frame that came in. Only a `fresh` one may have any effect. */
  take({ type, seq, ack }: Numberable, nowMs: number): JudgedFrame {
    if (typeof seq !== 'number') return gap(`a frame without a number, ${this.#taken + 1} was expected`);
    if (seq <= this.#taken) return { kind: 'duplicate' };
    if (seq !== this.#taken + 1) return gap(`frame ${seq} came, ${this.#taken + 1} was expected`);
    if (typeof ack === 'number' && ack > this.#sent) {
      return gap(`frame ${ack} is acknowledged, ${this.#sent} were sent`);
    }
    this.#taken = seq;
    if (type !== 'ack' && this.#owed++ === 0) this.#owedSinceMs = nowMs;
    const latencyMs = typeof ack === 'number' ? this.#acknowledged(ack, nowMs) : undefined;
    return latencyMs === undefined ? { kind: 'fresh' } : { kind: 'fresh', latencyMs };
  }

  /** A frame that cannot be read, its number included: on a connection that keeps the order it is the next one. */
  skip(nowMs: number): void {
    this.take({ type: 'unreadable', seq: this.#taken + 1 }, nowMs);
  }

  /** Whether a frame `ack` has to be sent, because nothing else was. */
  ackDue(nowMs: number): boolean {
    if (this.#owed === 0) return false;
    return this.#owed >= this.#policy.ackEveryFrames || nowMs - this.#owedSinceMs >= this.#policy.ackAfterMs;
  }

  /** Whether the peer has not taken what it was sent for so long that it has to be given up. */
  unackedTooLong(nowMs: number): boolean {
    const [oldest] = this.#underway;
    if (oldest === undefined) return false;
    return nowMs - oldest.sentAtMs >= this.#policy.unackedMsMax || this.#underway.length > UNACKED_FRAMES_MAX;
  }

  /** Bytes of this class that are sent and not acknowledged. */
  unackedBytes(ofClass: string): number {
    return this.#bytes.get(ofClass) ?? 0;
  }

  /** From the newest frame that was acknowledged to its acknowledgement; up to `ackAfterMs` of it is the peer's pause. Null before the first. */
  get latencyMs(): number | null {
    return this.#latencyMs;
  }

  #acknowledged(ack: number, nowMs: number): number | undefined {
    if (ack <= this.#acked) return undefined;
    this.#acked = ack;
    const count = this.#underway.findIndex(({ seq }) => seq > ack);
    const done = this.#underway.splice(0, count < 0 ? this.#underway.length : count);
    for (const { cargo } of done) if (cargo !== undefined) this.#count(cargo, -1);
    const newest = done.at(-1);
    if (newest === undefined) return undefined;
    this.#latencyMs = nowMs - newest.sentAtMs;
    return this.#latencyMs;
  }

  #count(cargo: Cargo, sign: 1 | -1): void {
    const bytes = this.unackedBytes(cargo.class) + sign * cargo.bytes;
    if (bytes === 0) this.#bytes.delete(cargo.class);
    else this.#bytes.set(cargo.class, bytes);
  }
}

const gap = (error: string): JudgedFrame => ({ kind: 'gap', error });
