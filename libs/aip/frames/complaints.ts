import { fullRate, takeToken, type Rate } from './rate.js';

/** Of one connection: enough to see what is wrong, and no way to fill a log. */
const RATE = { perSecond: 0.1, burst: 10 };

/** Which of the errors that a peer reports are written down; the others say nothing new, or too much. */
export class Complaints {
  #rate: Rate;

  constructor(nowMs: number) {
    this.#rate = fullRate(RATE, nowMs);
  }

  /** False: this one is left out. */
  take(nowMs: number): boolean {
    const [rate, { waitMs }] = takeToken(this.#rate, RATE, nowMs);
    if (waitMs > 0) return false;
    this.#rate = rate;
    return true;
  }
}
