import { strangeTest } from './plain-test.js';
import { glyphsOf, ONE, SOME, type Glyphs } from '../words/index.js';

/** One command of a plain line: its words and redirections as every shell reads them. */
export interface PlainCommand {
  readonly words: readonly Glyphs[];
  readonly redirects: readonly { readonly operator: string; readonly target: Glyphs }[];
}

export type PlainReading =
  | { readonly plain: true; readonly commands: readonly PlainCommand[] }
  /** What in it is not plain and what could be written instead, as a part of a sentence. */
  | { readonly plain: false; readonly because: string };

/**
 * Reads a plain line: simple commands of literal words, joined by `|`, `&&`, `||`, `;` or line ends. This is a small language of
 * its own: whatever it does not know is not plain, so a shell can find nothing in a plain line that was not found here.
 */
export function readPlain(text: string): PlainReading {
  try {
    return { plain: true, commands: new PlainReader(text).commands() };
  } catch (error) {
    if (error instanceof NotPlain) return { plain: false, because: error.message };
    throw error;
  }
}

class NotPlain extends Error {}

/** Words that a shell takes for something else where a command can begin, in bash or in any sh. */
const RESERVED = new Set(
  '! { } [[ ]] case coproc do done elif else end esac fi for foreach function if in repeat select then time until while'.split(
    ' ',
  ),
);
const LITERAL = /[A-Za-z0-9_./:,+@%^-]|[^\0-\x7f]/u;
const PROGRAM = /^(?:[\w.+:/-]+|\[)$/u;
const DELIMITER = /(?:'([A-Za-z_]\w*)'|"([A-Za-z_]\w*)"|([A-Za-z_]\w*))(?=[\s|;&<>]|$)/uy;
const BRACKET = /\[[!^]?[A-Za-z0-9_-]+\]/uy;
const TILDE = 126;
const MINUS = 45;
const STAR = 42;
const EXCERPT_MAX = 40;

interface PlainWord {
  readonly glyphs: Glyphs;
  readonly quoted: boolean;
}

class PlainReader {
  #at = 0;
  /** A here-document whose text begins on the next line. */
  #pending: { readonly end: string; readonly quoted: boolean } | undefined;

  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  commands(): PlainCommand[] {
    const commands: PlainCommand[] = [];
    let joined = false;
    for (;;) {
      this.#skip(joined || commands.length === 0);
      const command = this.#command();
      const end = this.#terminator();
      if (command === undefined) {
        // Only line ends may stand alone.
        if (joined || (end !== '\n' && end !== '')) throw new NotPlain('it has an operator without a command');
      } else commands.push(command);
      joined = end === '|' || end === '&&' || end === '||';
      if (end === '') break;
    }
    if (this.#pending !== undefined) throw new NotPlain('the text behind << has no end');
    return commands;
  }

  #command(): PlainCommand | undefined {
    const words: Glyphs[] = [];
    const redirects: PlainCommand['redirects'][number][] = [];
    const from = this.#at;
    for (;;) {
      this.#blanks();
      const char = this.#text[this.#at] ?? '';
      if (char === '' || /[|&;\n]/u.test(char)) break;
      const redirect = /[0-9]?(?:<<|>>|>&|[<>])/uy;
      redirect.lastIndex = this.#at;
      const operator = redirect.exec(this.#text)?.[0];
      if (operator !== undefined) {
        this.#at += operator.length;
        const target = this.#redirect(operator.replace(/^\d/u, ''));
        if (target !== undefined) redirects.push(target);
        continue;
      }
      const start = this.#at;
      if (words.length === 0) this.#notAssigned();
      const word = this.#word();
      if (words.length === 0) this.#checkProgram(word, this.#text.slice(start, this.#at));
      words.push(word.glyphs);
    }
    if (words.length === 0 && redirects.length > 0)
      throw new NotPlain(`${this.#excerpt(from)} has no program: write : before it`);
    const strange = strangeTest(words.map(shown));
    if (strange !== undefined) throw new NotPlain(strange);
    return words.length === 0 ? undefined : { words, redirects };
  }

  #checkProgram({ quoted }: PlainWord, written: string): void {
    if (RESERVED.has(written))
      throw new NotPlain(`${written} begins something that is more than a command: give the commands one by one`);
    if (quoted || !PROGRAM.test(written))
      throw new NotPlain(`the name of a program must be written as it is, without quotes or patterns (${written})`);
  }

  #notAssigned(): void {
    const assigned = /[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=[^\s;&|]*/uy;
    assigned.lastIndex = this.#at;
    const found = assigned.exec(this.#text)?.[0];
    if (found !== undefined) throw new NotPlain(`it sets a variable (${cut(found)}): write the value where it is used`);
  }

  #terminator(): string {
    const found = /\|\||&&|[|;&\n]/uy;
    found.lastIndex = this.#at;
    const operator = found.exec(this.#text)?.[0] ?? '';
    this.#at += operator.length;
    const next = this.#text[this.#at] ?? '';
    if (operator === '&') throw new NotPlain('it goes on in the background (&): leave that out');
    if (operator === ';' && next === ';') throw new NotPlain('it has a ;;');
    if (operator === '|' && next === '&') throw new NotPlain('sh and bash read |& differently: write 2>&1 |');
    if (operator === '\n' && this.#pending !== undefined) this.#document(this.#pending);
    return operator;
  }

  /** Blanks and continued lines, then a comment if there is one. */
  #blanks(): void {
    for (;;) {
      const char = this.#text[this.#at];
      if (char === ' ' || char === '\t') this.#at += 1;
      else if (char === '\\' && this.#text[this.#at + 1] === '\n') this.#at += 2;
      else break;
    }
    if (this.#text[this.#at] !== '#') return;
    const end = this.#text.indexOf('\n', this.#at);
    this.#at = end < 0 ? this.#text.length : end;
  }

  /** Blanks, and line ends where a command goes on behind them. */
  #skip(lines: boolean): void {
    this.#blanks();
    if (!lines) return;
    while (this.#text[this.#at] === '\n' && this.#pending === undefined) {
      this.#at += 1;
      this.#blanks();
    }
  }

  #redirect(operator: string): PlainCommand['redirects'][number] | undefined {
    const next = this.#text[this.#at] ?? '';
    if (operator === '<<') {
      this.#documentBegins();
      return undefined;
    }
    if (operator === '>&') {
      const digit = /[012](?=[\s|;&<>]|$)/uy;
      digit.lastIndex = this.#at;
      const target = digit.exec(this.#text)?.[0];
      if (target === undefined) throw new NotPlain('sh and bash read >& before a file differently: write > file 2>&1');
      this.#at += 1;
      return { operator, target: glyphsOf(target) };
    }
    if (/[&(<>|]/u.test(next)) throw new NotPlain(`${operator}${next} is more than a redirection to a file`);
    this.#blanks();
    if (/[|&;<>\n]|^$/u.test(this.#text[this.#at] ?? '')) throw new NotPlain(`it has a ${operator} without a file`);
    const { glyphs } = this.#word();
    if (glyphs.some((glyph) => glyph < 0))
      throw new NotPlain(`the file behind ${operator} is written as a pattern: write its name`);
    return { operator, target: glyphs };
  }

  #documentBegins(): void {
    if (this.#pending !== undefined || /[<-]/u.test(this.#text[this.#at] ?? ''))
      throw new NotPlain("only one text behind a << 'EOF' is plain");
    this.#blanks();
    DELIMITER.lastIndex = this.#at;
    const found = DELIMITER.exec(this.#text);
    if (found === null) throw new NotPlain("the word behind << must be letters, as in << 'EOF'");
    const [written, single, double, bare] = found;
    this.#at += written.length;
    this.#pending = { end: single ?? double ?? bare ?? '', quoted: bare === undefined };
  }

  #document({ end, quoted }: { readonly end: string; readonly quoted: boolean }): void {
    const from = this.#at;
    for (;;) {
      if (this.#at >= this.#text.length) throw new NotPlain('the text behind << has no end');
      const lineEnd = this.#text.indexOf('\n', this.#at);
      const line = this.#text.slice(this.#at, lineEnd < 0 ? undefined : lineEnd);
      if (line === end) {
        const body = this.#text.slice(from, this.#at);
        if (!quoted && /[$`\\]/u.test(body))
          throw new NotPlain(`values are put into the text behind <<${end}: write <<'${end}' when they are not meant`);
        // The line end behind it ends the command, once more.
        this.#at = lineEnd < 0 ? this.#text.length : lineEnd;
        this.#pending = undefined;
        return;
      }
      this.#at = lineEnd < 0 ? this.#text.length : lineEnd + 1;
    }
  }

  #word(): PlainWord {
    const glyphs: number[] = [];
    const start = this.#at;
    let quoted = false;
    for (;;) {
      const char = this.#text[this.#at] ?? '';
      if (char === '' || /[ \t\n|&;<>]/u.test(char)) break;
      if (char === "'") {
        quoted = true;
        glyphs.push(...this.#single());
      } else if (char === '"') {
        quoted = true;
        glyphs.push(...this.#double());
      } else if (char === '\\') {
        const next = this.#text[this.#at + 1] ?? '';
        this.#at += 2;
        if (next === '\n') continue;
        if (next === '' || /[\p{L}\p{N}_]/u.test(next))
          throw new NotPlain(`it has a \\ before ${next === '' ? 'nothing' : next}: use single quotes`);
        quoted = true;
        glyphs.push(...glyphsOf(next));
      } else glyphs.push(...this.#bare(start));
    }
    const first = glyphs[0] ?? 0;
    if (glyphs.some((glyph) => glyph < 0) && (first < 0 || first === MINUS))
      throw new NotPlain(
        `a file that ${this.#text.slice(start, this.#at)} stands for could be read as an option: write ./ before it`,
      );
    return { glyphs, quoted };
  }

  #single(): Glyphs {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end < 0) throw new NotPlain('it has a quote without an end');
    const inside = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return glyphsOf(inside);
  }

  #double(): Glyphs {
    let inside = '';
    for (this.#at += 1; ; this.#at += 1) {
      const char = this.#text[this.#at];
      const next = this.#text[this.#at + 1] ?? '';
      if (char === undefined) throw new NotPlain('it has a quote without an end');
      if (char === '"') break;
      if (char === '\\' && /[$`"\\\n]/u.test(next)) {
        inside += next === '\n' ? '' : next;
        this.#at += 1;
      } else if (char === '`' || (char === '$' && !/["\s]/u.test(next))) this.#value(this.#at);
      else inside += char;
    }
    this.#at += 1;
    return glyphsOf(inside);
  }

  #bare(start: number): Glyphs {
    const char = this.#text[this.#at] ?? '';
    const from = this.#at;
    const [whole = char] = /^\P{C}/u.exec(this.#text.slice(from, from + 2)) ?? [];
    this.#at += whole.length;
    if (LITERAL.test(whole) || char === ']' || char === '=' || (char === '#' && from > start)) return glyphsOf(whole);
    if (char === '!') return glyphsOf(char);
    if (char === '*') return [SOME];
    if (char === '?') return [ONE];
    if (char === '~') return this.#tilde(from, start);
    if (char === '[') return this.#bracket(from);
    if (char === '{' && from === start && /^\}(?=[\s|;&]|$)/u.test(this.#text.slice(this.#at))) {
      this.#at += 1;
      return glyphsOf('{}');
    }
    if (char === '$' || char === '`') this.#value(from);
    if (char === '{' || char === '}') throw new NotPlain('sh and bash read braces differently: write the names out');
    if (char === '(' || char === ')') throw new NotPlain('it groups commands with ( ): give them one by one');
    throw new NotPlain(`${whole} stands outside of quotes`);
  }

  #tilde(from: number, start: number): Glyphs {
    const next = this.#text[this.#at] ?? '';
    if (from === start && !/[\s/]|^$/u.test(next)) throw new NotPlain('only ~ and ~/ are plain: write the folder');
    // bash puts the home in behind = and : as well.
    if (from > start && /[=:]/u.test(this.#text[from - 1] ?? ''))
      throw new NotPlain('sh and bash read a ~ inside of a word differently: write the folder');
    return [TILDE];
  }

  #bracket(from: number): Glyphs {
    const isAlone = /\s|^$/u.test(this.#text[this.#at] ?? '');
    if (isAlone) return glyphsOf('[');
    BRACKET.lastIndex = from;
    const found = BRACKET.exec(this.#text)?.[0];
    if (found === undefined) throw new NotPlain('it has a [ that is no simple pattern: use single quotes');
    this.#at = from + found.length;
    return [ONE];
  }

  #value(from: number): never {
    const excerpt = this.#excerpt(from);
    if (/^(?:`|\$\()/u.test(excerpt) && !excerpt.startsWith('$(('))
      throw new NotPlain(`it puts in what another command prints (${excerpt}): run that command first`);
    if (/^\$\{?HOME\b/u.test(excerpt)) throw new NotPlain('$HOME may be empty when it runs: write ~ or the folder');
    throw new NotPlain(`it puts in what is known only when it runs (${excerpt}): write the value`);
  }

  #excerpt(from: number): string {
    const [line = ''] = this.#text.slice(from).split('\n');
    return cut(line);
  }
}

const cut = (text: string): string =>
  text.length <= EXCERPT_MAX ? text : `${text.slice(0, EXCERPT_MAX - 1).toWellFormed()}…`;
const shown = (glyphs: Glyphs): string => String.fromCharCode(...glyphs.map((glyph) => (glyph < 0 ? STAR : glyph)));
