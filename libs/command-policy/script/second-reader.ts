/**
 * A second, much simpler reader of shell text. It knows quotes, comments and here-documents only, and says where each begins and
 * ends. A grammar that guesses (it is made for editors) and a shell could see different commands in one text; where the grammar
 * and this reader do not see the same marks, nobody is believed.
 */
export interface Mark {
  readonly kind: 'raw' | 'ansi' | 'string' | 'comment' | 'heredoc' | 'command';
  readonly start: number;
  /** Of a here-document both are where its closing word begins, of a substitution both where it does. */
  readonly end: number;
}

/** Undefined: the text has something that readers are known to disagree about. */
export function marksOf(text: string): readonly Mark[] | undefined {
  const reader = new Reader(text);
  try {
    reader.code(undefined);
    return reader.marks;
  } catch (error) {
    if (error instanceof Disagreement) return undefined;
    throw error;
  }
}

class Disagreement extends Error {}

const DEPTH_MAX = 60;
const WORD_START = /[\s;&|()<>]/u;

class Reader {
  readonly marks: Mark[] = [];
  #at = 0;
  #depth = 0;
  readonly #waiting: { readonly word: string; readonly tabs: boolean; readonly literal: boolean }[] = [];

  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads commands until `close`, or the end of the text. */
  code(close: ')' | '`' | undefined): void {
    if (++this.#depth > DEPTH_MAX) throw new Disagreement();
    let open = 0;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at];
      if (char === close && open === 0) break;
      if (char === '(') open += 1;
      if (char === ')') open = Math.max(0, open - 1);
      this.#one(char ?? '', close === '`');
    }
    if (close !== undefined && this.#text[this.#at] !== close) throw new Disagreement();
    this.#depth -= 1;
  }

  #one(char: string, inBackticks: boolean): void {
    if (char === '\\') this.#escape(inBackticks);
    else if (char === "'") this.#raw('raw', this.#at + 1);
    else if (char === '"') this.#string();
    else if (char === '`') this.#backticks();
    else if (char === '$') this.#dollar(false);
    else if (char === '#') this.#hash();
    else if (char === '\n') this.#newline();
    else if ((char === '<' || char === '>') && this.#text[this.#at + 1] === '(') this.#process();
    else if (char === '<' && this.#text.startsWith('<<', this.#at)) this.#heredoc();
    else this.#at += 1;
  }

  #process(): void {
    this.marks.push({ kind: 'command', start: this.#at, end: this.#at });
    this.#at += 2;
    this.code(')');
    this.#at += 1;
  }

  #escape(inBackticks: boolean): void {
    if (inBackticks) throw new Disagreement();
    if (this.#text[this.#at + 1] === '\n') {
      // In the middle of a word a shell joins what the grammar takes for two words.
      const before = this.#text[this.#at - 1] ?? ' ';
      const behind = this.#text[this.#at + 2] ?? ' ';
      if (!/\s/u.test(before) && !/\s/u.test(behind)) throw new Disagreement();
    }
    this.#at += 2;
  }

  #raw(kind: 'raw' | 'ansi', from: number): void {
    const start = this.#at;
    const end = this.#text.indexOf("'", from);
    if (end < 0) throw new Disagreement();
    // sh ends `$'a\'` here, bash does not.
    if (kind === 'ansi' && this.#text[end - 1] === '\\') throw new Disagreement();
    this.marks.push({ kind, start, end: end + 1 });
    this.#at = end + 1;
  }

  #string(): void {
    const start = this.#at;
    this.#at += 1;
    this.#quoted((char) => char === '"');
    this.#at += 1;
    this.marks.push({ kind: 'string', start, end: this.#at });
  }

  /** Text in which only `\`, `$` and backticks mean something. */
  #quoted(isEnd: (char: string, at: number) => boolean): void {
    while (!isEnd(this.#text[this.#at] ?? '', this.#at)) {
      const char = this.#text[this.#at];
      if (char === undefined) throw new Disagreement();
      if (char === '\\') {
        // What follows is joined to what stands before, and so can become a substitution.
        if (this.#text[this.#at + 1] === '\n' && /[$<>]/u.test(this.#text[this.#at - 1] ?? ''))
          throw new Disagreement();
        this.#at += 2;
      } else if (char === '`') this.#backticks();
      else if (char === '$') this.#dollar(true);
      else this.#at += 1;
    }
  }

  #backticks(): void {
    this.marks.push({ kind: 'command', start: this.#at, end: this.#at });
    this.#at += 1;
    this.code('`');
    this.#at += 1;
  }

  #dollar(inString: boolean): void {
    const rest = this.#text.slice(this.#at, this.#at + 3);
    if (rest.startsWith('$((')) this.#arithmetic();
    else if (rest.startsWith('$(')) {
      this.marks.push({ kind: 'command', start: this.#at, end: this.#at });
      this.#at += 2;
      this.code(')');
      this.#at += 1;
    } else if (rest.startsWith('${')) this.#expansion(inString);
    else if (rest.startsWith("$'") && !inString) this.#raw('ansi', this.#at + 2);
    else if (rest.startsWith('$[')) throw new Disagreement();
    else if (/^\$[#$!?*@-]/u.test(rest)) this.#at += 2;
    else this.#at += 1;
  }

  /** Text of numbers: quotes and separators in it are read differently by different shells. */
  #arithmetic(): void {
    this.#at += 3;
    let open = 2;
    while (open > 0) {
      const char = this.#text[this.#at];
      if (char === undefined || /['"`\\;\n]/u.test(char)) throw new Disagreement();
      if (char === '$') {
        this.#dollar(false);
        continue;
      }
      if (char === '(') open += 1;
      if (char === ')') open -= 1;
      if (open === 1 && char === ')' && this.#text[this.#at + 1] !== ')') throw new Disagreement();
      this.#at += 1;
    }
  }

  #expansion(inString: boolean): void {
    this.#at += 2;
    while (this.#text[this.#at] !== '}') {
      const char = this.#text[this.#at];
      if (char === undefined || char === '\n' || char === '\\' || char === '`') throw new Disagreement();
      if (inString && (char === "'" || char === '"')) throw new Disagreement();
      if (char === "'") this.#raw('raw', this.#at + 1);
      else if (char === '"') this.#string();
      else if (char === '$') this.#dollar(inString);
      else this.#at += 1;
    }
    this.#at += 1;
  }

  #hash(): void {
    const before = this.#text[this.#at - 1];
    if (before !== undefined && !WORD_START.test(before)) {
      this.#at += 1;
      return;
    }
    if (before !== undefined && this.#text[this.#at - 2] === '\\') throw new Disagreement();
    const start = this.#at;
    const end = this.#text.indexOf('\n', start);
    this.#at = end < 0 ? this.#text.length : end;
    this.marks.push({ kind: 'comment', start, end: this.#at });
  }

  #heredoc(): void {
    if (this.#text.startsWith('<<<', this.#at)) {
      this.#at += 3;
      return;
    }
    const match = /^<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\\$`\n]+)"|\\?([\w.]+))(?=[\s;&|)<>]|$)/u.exec(
      this.#text.slice(this.#at),
    );
    if (match === null) throw new Disagreement();
    const [all, dash, single, double, bare] = match;
    this.#waiting.push({
      word: single ?? double ?? bare ?? '',
      tabs: dash === '-',
      literal: !/^<<-?[ \t]*\w/u.test(all),
    });
    this.#at += all.length;
  }

  #newline(): void {
    this.#at += 1;
    for (const { word, tabs, literal } of this.#waiting.splice(0)) {
      const start = this.#at;
      const isEnd = (at: number) => {
        const line = this.#line(at);
        return (tabs ? line.replace(/^\t+/u, '') : line) === word;
      };
      if (literal) while (!isEnd(this.#at)) this.#at = this.#nextLine(this.#at);
      else this.#quoted((_, at) => (at === start || this.#text[at - 1] === '\n') && isEnd(at));
      const end = this.#at + (tabs ? this.#line(this.#at).search(/[^\t]/u) : 0);
      this.marks.push({ kind: 'heredoc', start: end, end });
      this.#at += this.#line(this.#at).length;
    }
  }

  #line(at: number): string {
    const end = this.#text.indexOf('\n', at);
    return this.#text.slice(at, end < 0 ? this.#text.length : end);
  }

  #nextLine(at: number): number {
    const end = this.#text.indexOf('\n', at);
    if (end < 0) throw new Disagreement();
    return end + 1;
  }
}
