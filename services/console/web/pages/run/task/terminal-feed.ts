/** So many characters are with the terminal at a time. */
const AT_WORK_MAX = 4 * 1_024 * 1_024;
/** Of what comes meanwhile so many of the last ones are kept: more rows than the terminal has. */
const WAITING_MAX = 8 * 1_024 * 1_024;

/** Gives a text to a terminal; `done` is called when it has been taken in. */
export type FeedWrite = (text: string, done: () => void) => void;

/**
 * Gives a terminal no more than it takes in: what it cannot take it would throw away, and a page that has too much to do stands still. What
 * writes faster than it can be read is shown from its last part on, which says so.
 */
export class TerminalFeed {
  readonly #write: FeedWrite;
  /** Said in the place of what was left out. */
  readonly #leftOut: string;
  #atWork = 0;
  #waiting: string[] = [];
  #waits = 0;
  #isCut = false;

  constructor(write: FeedWrite, leftOut: string) {
    this.#write = write;
    this.#leftOut = leftOut;
  }

  push(text: string): void {
    this.#waiting.push(text);
    this.#waits += text.length;
    for (let [first] = this.#waiting; this.#waits > WAITING_MAX && first !== undefined; [first] = this.#waiting) {
      if (this.#waiting.length === 1) break;
      this.#waiting.shift();
      this.#waits -= first.length;
      this.#isCut = true;
    }
    this.#give();
  }

  #give(): void {
    if (this.#waits === 0 || this.#atWork >= AT_WORK_MAX) return;
    const text = `${this.#isCut ? this.#leftOut : ''}${this.#waiting.join('')}`;
    [this.#waiting, this.#waits, this.#isCut] = [[], 0, false];
    this.#atWork += text.length;
    this.#write(text, () => {
      this.#atWork -= text.length;
      this.#give();
    });
  }
}
