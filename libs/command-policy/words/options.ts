import type { CommandClass } from '#proto';
import { type CommandFinding, CLASSES, type View, VIEWS } from './finding.js';
import { after, literal, showWord, wordOf, type Word } from './word.js';

/** What becomes of the value of an option. `none`: it has none. */
export type Use = 'none' | 'text' | 'maybe' | 'read' | 'write' | 'list';

export interface Option {
  readonly use: Use;
  /** What the option makes of the command. */
  readonly class?: CommandClass;
  /** What the command must see with it. */
  readonly view?: View;
}

export interface Options {
  readonly short: ReadonlyMap<string, Option>;
  readonly long: ReadonlyMap<string, Option>;
  /** `-20` is a number of lines. */
  readonly numbers: boolean;
  /** Each word behind one dash is one option, as with openssl and ip. */
  readonly whole: boolean;
}

/**
 * The options that are known of a program, as text: `-abc` have no value, `-n:` has a text, `-o>` a file that is written, `-f<` one
 * that is read, `-d%` one that is only looked at, `--color?` a text after `=` or none; a class behind `!` is what the option makes
 * of the command, a view what it must see; `-#` is a number. `=` as the first token: `-noout` is one option and not five.
 */
export function optionsOf(text: string): Options {
  const short = new Map<string, Option>();
  const long = new Map<string, Option>();
  let numbers = false;
  const whole = text.startsWith('= ');
  for (const token of `${text} --help --version`.split(/\s+/u)) {
    const match = /^(--?)([\w#.@+-]*)([:<>?%]?)(?:!([\w-]+))?$/u.exec(token);
    if (match === null || token === '') continue;
    const [, dashes, names = '', mark = '', of] = match;
    const option: Option = {
      use: USES[mark] ?? 'none',
      ...(isClass(of) ? { class: of } : {}),
      ...(isView(of) ? { view: of } : {}),
    };
    if (dashes === '--' || whole) long.set(`--${names}`, option);
    else if (names === '#') numbers = true;
    else for (const name of names) short.set(name, option);
  }
  return { short, long, numbers, whole };
}

const isClass = (text: string | undefined): text is CommandClass =>
  (CLASSES as readonly (string | undefined)[]).includes(text);
const isView = (text: string | undefined): text is View => (VIEWS as readonly (string | undefined)[]).includes(text);
const USES: Readonly<Record<string, Use>> = { ':': 'text', '<': 'read', '>': 'write', '?': 'maybe', '%': 'list' };

export interface Given {
  /** As it is written, without its value. */
  readonly name: string;
  readonly option: Option;
  readonly value: Word | undefined;
}

export interface Arguments {
  readonly given: readonly Given[];
  readonly operands: readonly Word[];
  /** Options that nothing is known of. */
  readonly unknown: readonly string[];
}

/** Takes arguments apart as getopt does. `stopAtOperand`: what follows the first operand is another command. */
export function takeApart(args: readonly Word[], options: Options, stopAtOperand = false): Arguments {
  const taker = new Taker(args, options, stopAtOperand);
  return taker.take();
}

class Taker {
  readonly #given: Given[] = [];
  readonly #operands: Word[] = [];
  readonly #unknown: string[] = [];
  #at = 0;

  readonly #args: readonly Word[];
  readonly #options: Options;
  readonly #stopAtOperand: boolean;

  constructor(args: readonly Word[], options: Options, stopAtOperand: boolean) {
    this.#args = args;
    this.#options = options;
    this.#stopAtOperand = stopAtOperand;
  }

  take(): Arguments {
    while (this.#at < this.#args.length) {
      const word = this.#args[this.#at] ?? literal('');
      this.#at += 1;
      if (word.text === '--') {
        this.#operands.push(...this.#args.slice(this.#at));
        break;
      }
      if (word.glyphs[0] === 45 && word.glyphs.length > 1) this.#option(word);
      else {
        this.#operands.push(word);
        if (!this.#stopAtOperand) continue;
        this.#operands.push(...this.#args.slice(this.#at));
        break;
      }
    }
    return { given: this.#given, operands: this.#operands, unknown: this.#unknown };
  }

  #option(word: Word): void {
    if (word.glyphs[1] === 45 || this.#options.whole) this.#long(word);
    else if (this.#options.numbers && /^-\d+$/u.test(word.text ?? '')) return;
    else this.#shorts(word);
  }

  #long(word: Word): void {
    const equals = word.glyphs.indexOf(61);
    const written = wordOf(equals < 0 ? word.glyphs : word.glyphs.slice(0, equals)).text ?? '';
    const name = this.#options.whole ? written.replace(/^--?/u, '--') : written;
    const option = this.#options.long.get(name);
    if (option === undefined) {
      this.#unknown.push(showWord(word));
      return;
    }
    const value = equals < 0 ? undefined : after(word, `${written}=`);
    if (option.use === 'none' && value !== undefined) this.#unknown.push(showWord(word));
    else if (option.use === 'none' || option.use === 'maybe') this.#given.push({ name, option, value });
    else this.#given.push({ name, option, value: value ?? this.#next() });
  }

  #shorts(word: Word): void {
    for (let index = 1; index < word.glyphs.length; index++) {
      const glyph = word.glyphs[index] ?? 0;
      const name = glyph < 0 ? '' : String.fromCharCode(glyph);
      const option = this.#options.short.get(name);
      if (option === undefined) {
        this.#unknown.push(showWord(word));
        return;
      }
      const rest = word.glyphs.slice(index + 1);
      if (option.use === 'none') this.#given.push({ name: `-${name}`, option, value: undefined });
      else {
        const own = rest.length > 0 ? wordOf(rest, { substitution: word.substitution }) : undefined;
        this.#given.push({ name: `-${name}`, option, value: option.use === 'maybe' ? own : (own ?? this.#next()) });
        return;
      }
    }
  }

  #next(): Word | undefined {
    const word = this.#args[this.#at];
    if (word !== undefined) this.#at += 1;
    return word;
  }
}

export const has = ({ given }: Arguments, ...names: readonly string[]): boolean =>
  given.some(({ name }) => names.includes(name));
export const optionValue = ({ given }: Arguments, ...names: readonly string[]): Word | undefined =>
  given.findLast(({ name }) => names.includes(name))?.value;

export const unknownOption = (program: string, option: string): CommandFinding => ({
  kind: 'program',
  class: 'privileged',
  atLeast: 'approve',
  rule: `program.${program}.option`,
  reason: `What ${program} does with ${option} is not known.`,
});
