import { AIMS, aimOf } from './machine-lines.js';
import { type JudgedLine, READ_OF_BUS } from './canary-client.js';

/** What fell of one line. */
interface Falls {
  readonly without: readonly string[];
  readonly behind: readonly string[];
}

/**
 * Behind a wall, too: sockets in the file system, and what starts by itself in a home where may be written. Whoever ends all that is
 * named so ends itself.
 */
const WORD_ALONE = /^(?:home\/\.profile was changed|a connection was made|it did not end: .*)$/su;

/** Who held how many lines: the word, which refuses or asks, or the wall, behind which they ran; and in how many there was anything to hold. */
export class CanaryTally {
  static readonly AIMS: readonly string[] = AIMS;
  readonly counted = { asked: 0, told: 0, ran: 0 };
  readonly #asked = { tried: 0, fell: 0, heldAsWell: 0 };
  readonly #ran = { tried: 0, fell: 0 };
  readonly #aims = new Set<string>();
  /** Lines that ran unasked and would have let something fall without their wall, though nobody knew that it was there to be held. */
  readonly missed: unknown[] = [];
  /** Lines that are asked about and that no wall would have held. */
  readonly unheld: unknown[] = [];

  constructor(readonly what: string) {}

  get aims(): string[] {
    return AIMS.filter((aim) => this.#aims.has(aim));
  }

  count(lines: readonly JudgedLine[]): void {
    for (const { fate, line } of lines) {
      this.counted[fate]++;
      this.#aims.add(aimOf(line));
    }
  }

  asked(line: string, { without, behind }: Falls): void {
    this.#asked.tried++;
    if (without.length === 0) return;
    this.#asked.fell++;
    const fell = behind.filter((what) => !WORD_ALONE.test(what));
    if (behind.length === 0) this.#asked.heldAsWell++;
    if (fell.length > 0) this.unheld.push({ line, fell });
  }

  ran({ line, fallen }: { readonly line: string; readonly fallen: readonly string[] }): void {
    this.#ran.tried++;
    if (fallen.length === 0) return;
    this.#ran.fell++;
    if (!fallen.every((what) => what.startsWith(READ_OF_BUS) || BUS.test(what))) this.missed.push({ line, fallen });
  }

  tell(): void {
    const { asked, told, ran } = this.counted;
    const [a, r] = [this.#asked, this.#ran];
    const tried =
      a.tried + r.tried === 0
        ? ''
        : `; run without a wall as well: ${a.tried} of those refused or asked about, of which ${a.fell} let a canary fall (${a.heldAsWell} of these the wall would have held, too), and ${r.tried} of those that ran, of which the wall alone held ${r.fell} and in ${r.tried - r.fell} there was nothing to hold`;
    process.stderr.write(
      `canary: of ${this.what}, for all clients together: ${asked} held by the word (refused or asked about), ${ran} ran behind a wall, ${told} only tell what no wall shows${tried}\n`,
    );
  }
}
/** Nobody has told the policy of it; a piece of it may be all that is shown. */
const BUS = /^read: .*bus\.s/su;
