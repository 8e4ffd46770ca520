export const SILENCE = {
  /** So long nothing was heard: it is asked. */
  quietMs: 15_000,
  /** So long after that there was no answer: nobody is there. */
  answerMs: 10_000,
  /** So long nobody has looked: this computer has slept, or its clock was set. */
  sleptMs: 90_000,
} as const;

/**
 * Whether an open socket still leads to somebody. One whose other end went away without a word, e.g. while this computer slept, stays open
 * for many minutes, and what is shown would be taken for what is.
 */
export class Silence {
  #heardMs: number;
  #lookedMs: number;
  #askedMs: number | undefined;

  constructor(nowMs: number) {
    [this.#heardMs, this.#lookedMs] = [nowMs, nowMs];
  }

  heard(nowMs: number): void {
    this.#heardMs = nowMs;
    this.#askedMs = undefined;
  }

  /** `ask`: whether somebody is there. `doubt`: the same, and until then nothing is live. `lost`: nobody is. */
  look(nowMs: number): 'fine' | 'ask' | 'doubt' | 'lost' {
    const slept = Math.abs(nowMs - this.#lookedMs) > SILENCE.sleptMs;
    this.#lookedMs = nowMs;
    if (slept) {
      [this.#heardMs, this.#askedMs] = [nowMs, nowMs];
      return 'doubt';
    }
    if (this.#askedMs !== undefined) return nowMs - this.#askedMs >= SILENCE.answerMs ? 'lost' : 'fine';
    if (nowMs - this.#heardMs < SILENCE.quietMs) return 'fine';
    this.#askedMs = nowMs;
    return 'ask';
  }
}
