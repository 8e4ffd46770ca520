import { hashOfText } from './random.js';
import type { Scheduler } from './scheduler.js';

/** What happened, line by line: as a hash always, as text when somebody wants to read it. */
export class Trace {
  readonly lines: string[] = [];
  readonly #scheduler: Scheduler;
  readonly #keep: boolean;
  #hash = hashOfText('');

  constructor(scheduler: Scheduler, keep: boolean) {
    this.#scheduler = scheduler;
    this.#keep = keep;
  }

  get hash(): string {
    return this.#hash.toString(16).padStart(8, '0');
  }

  note(who: string, what: string): void {
    const at = this.#scheduler.elapsed.toFixed(1);
    this.#hash = hashOfText(`${at} ${who} ${what}`, this.#hash);
    if (this.#keep) this.lines.push(`${at.padStart(10)} ms  ${who.padEnd(9)} ${what}`);
  }
}
