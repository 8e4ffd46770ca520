/** A terminal takes in what it is given at once, however long it takes, and looks at the clock only behind it: parts of this many characters leave the page time. */
const PART_MAX = 16 * 1_024;
/** So many characters are with the terminal at a time. */
const AT_WORK_MAX = 32 * PART_MAX;
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
  /** Parts, each as long as it may be but the last. */
  #waiting: string[] = [];
  #waits = 0;
  #isCut = false;

  constructor(write: FeedWrite, leftOut: string) {
    this.#write = write;
    this.#leftOut = leftOut;
  }

  push(text: string): void {
    for (let from = 0; from < text.length;) {
      const last = this.#waiting.at(-1) ?? '';
      const isFull = last.length === 0 || last.length >= PART_MAX;
      const taken = text.slice(from, from + PART_MAX - (isFull ? 0 : last.length));
      if (isFull) this.#waiting.push(taken);
      else this.#waiting[this.#waiting.length - 1] = last + taken;
      from += taken.length;
    }
    this.#waits += text.length;
    while (this.#waits > WAITING_MAX) {
      this.#waits -= this.#waiting.shift()?.length ?? 0;
      this.#isCut = true;
    }
    this.#give();
  }

  #give(): void {
    for (let [text] = this.#waiting; text !== undefined && this.#atWork < AT_WORK_MAX; [text] = this.#waiting) {
      this.#waiting.shift();
      this.#waits -= text.length;
      this.#atWork += text.length;
      const said = this.#isCut ? `${this.#leftOut}${text}` : text;
      this.#isCut = false;
      const { length } = text;
      this.#write(said, () => {
        this.#atWork -= length;
        this.#give();
      });
    }
  }
}
