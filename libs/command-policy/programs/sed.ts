import { type Call, optionFindings, type ProgramJudge } from '../calls/index.js';
import { type CommandFinding, extended, has, optionsOf, takeApart, unknownOption, type Word } from '../words/index.js';

const OPTIONS = optionsOf(
  '-nErsuzb -e: -f<!privileged -i? -l: --quiet --silent --expression: --file<!privileged --in-place? --regexp-extended --separate --null-data --line-length: --posix --debug --unbuffered --sandbox --follow-symlinks',
);

/** sed is a language of its own: programs that only change text are known by their form, all others are asked about. */
export const sed: ProgramJudge = (call) => {
  const args = takeApart(call.args, OPTIONS);
  const given = args.given.filter(({ name }) => name === '-e' || name === '--expression');
  const isGiven = given.length > 0 || has(args, '-f', '--file');
  const scripts = isGiven ? given.map(({ value }) => value) : args.operands.slice(0, 1);
  const files = isGiven ? args.operands : args.operands.slice(1);
  const inPlace = has(args, '-i', '--in-place');
  const copies = args.given.flatMap(({ name, value }) =>
    (name === '-i' || name === '--in-place') && value !== undefined ? [value] : [],
  );
  return [
    call.is(inPlace ? 'write' : 'read', inPlace ? 'changes files in place.' : 'prints text.'),
    ...args.unknown.map((option) => unknownOption('sed', option)),
    ...args.given.flatMap((one) => optionFindings(one, call)),
    ...copies
      .filter(({ text }) => text === undefined || /[*/]/u.test(text))
      .map(() => call.ask('privileged', 'would put copies elsewhere.')),
    ...scripts.flatMap((script) => scriptFindings(script, call)),
    ...files.flatMap((word) => [
      ...call.read(word),
      ...(inPlace
        ? [word, ...copies.map((copy) => extended(word, copy.glyphs))].flatMap((one) => call.write(one))
        : []),
    ]),
  ];
};

function scriptFindings(script: Word | undefined, call: Call): CommandFinding[] {
  if (script?.text !== undefined && isTextOnly(script.text)) return [];
  return [call.ask('privileged', 'has a program that may run commands or write files.')];
}

/** Whether a program of sed does nothing but change text. Told by reading it as sed does; what is not known is not text only. */
export function isTextOnly(script: string): boolean {
  const reader = new SedReader(script);
  while (!reader.isAtEnd) if (!reader.command()) return false;
  return true;
}

class SedReader {
  #at = 0;

  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    this.#skip(/[\s;]*/uy);
    return this.#at >= this.#text.length;
  }

  command(): boolean {
    if (this.#text[this.#at] === '#') return this.#skip(/[^\n]*/uy);
    if (!this.#address()) return false;
    this.#skip(/\s*/uy);
    if (this.#text[this.#at] === ',') {
      this.#at += 1;
      this.#skip(/\s*/uy);
      if (!this.#address()) return false;
    }
    this.#skip(/[\s!]*/uy);
    const char = this.#text[this.#at];
    this.#at += 1;
    if (char === undefined) return false;
    if ('{}'.includes(char)) return true;
    if ('pdPDnNgGhHxz='.includes(char)) return this.#ends();
    if (char === 'q' || char === 'Q' || char === 'l') return this.#skip(/ *\d*/uy) && this.#ends();
    if (char === 's') return this.#substitution();
    if (char === 'y') return this.#delimited(2) && this.#ends();
    if (char === 'b' || char === 't' || char === 'T' || char === ':') return this.#skip(/ *[\w.-]*/uy) && this.#ends();
    // Text up to the end of its line.
    if ('aic'.includes(char)) return this.#skip(/(?:\\\n|[^\n])*/uy);
    return false;
  }

  #address(): boolean {
    const char = this.#text[this.#at];
    if (char === '/') return this.#delimited(1) && this.#skip(/[IM]*/uy);
    if (char === '\\') {
      this.#at += 1;
      return this.#delimited(1) && this.#skip(/[IM]*/uy);
    }
    return this.#skip(/(?:\$|[+~]?\d+(?:~\d+)?)?/uy);
  }

  #substitution(): boolean {
    return this.#delimited(2) && this.#skip(/[gpiImM\d]*/uy) && this.#ends();
  }

  #ends(): boolean {
    this.#skip(/[ \t]*/uy);
    const char = this.#text[this.#at];
    return char === undefined || /[;\n}#]/u.test(char);
  }

  /** Parts between equal delimiters. In brackets a delimiter ends the part as well: that is stricter than sed. */
  #delimited(parts: number): boolean {
    const delimiter = this.#text[this.#at];
    if (delimiter === undefined || /[\s\\\w;{}]/u.test(delimiter)) return false;
    this.#at += 1;
    for (let part = 0; part < parts; part++) {
      while (this.#text[this.#at] !== delimiter) {
        // In brackets some seds read on where others stop.
        if (this.#at >= this.#text.length) return false;
        this.#at += this.#text[this.#at] === '\\' ? 2 : 1;
      }
      this.#at += 1;
    }
    return true;
  }

  #skip(pattern: RegExp): true {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at += match[0].length;
    return true;
  }
}
