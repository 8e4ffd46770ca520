/** Says of a text whether the whole of it fits; linear in its length, whatever the pattern is. */
export interface TextPattern {
  fits(text: string): boolean;
}

export type CompiledPattern =
  { readonly ok: true; readonly pattern: TextPattern } | { readonly ok: false; readonly message: string };

/**
 * Compiles the common part of RE2 and JavaScript: characters, classes, `.`, `\d \w \s`, groups, `|`, `? * + {n,m}`. It is run
 * as a set of states (Thompson, CACM 11(6), 1968) and never backtracks, so that nobody can write a pattern, or a text for one,
 * that takes for ever. The whole text must fit: `^` in front and `$` at the end are allowed and say nothing new.
 */
export function compilePattern(source: string): CompiledPattern {
  try {
    const program: Instruction[] = [];
    emit(new Reader(source).read(), program);
    return { ok: true, pattern: { fits: (text) => run(program, text) } };
  } catch (error) {
    if (error instanceof PatternError) return { ok: false, message: error.message };
    throw error;
  }
}

class PatternError extends Error {}

type Node =
  | { readonly kind: 'one'; readonly test: RegExp }
  | { readonly kind: 'all'; readonly nodes: readonly Node[] }
  | { readonly kind: 'any'; readonly nodes: readonly Node[] }
  | { readonly kind: 'repeat'; readonly node: Node; readonly min: number; readonly max: number };

/** A character that fits is taken; `split` goes on at all of these places. */
type Instruction = { readonly test: RegExp } | { split: readonly number[] };

const INSTRUCTIONS_MAX = 2_000;
const COUNT_MAX = 1_000;
const CLASS_ESCAPES = new Set(['d', 'D', 'w', 'W', 's', 'S', 't', 'n', 'r']);
const ALLOWED = 'allowed are characters, [classes], \\d \\w \\s, ( ) | . ? * + and {n,m}';

class Reader {
  #at = 0;
  readonly #source: string;

  constructor(source: string) {
    this.#source = source.replace(/^\^/u, '').replace(/(?<!\\)\$$/u, '');
  }

  read(): Node {
    const node = this.#alternatives();
    if (this.#at < this.#source.length) throw new PatternError('there is a ")" without its "("');
    return node;
  }

  #alternatives(): Node {
    const nodes = [this.#sequence()];
    while (this.#take('|')) nodes.push(this.#sequence());
    return { kind: 'any', nodes };
  }

  #sequence(): Node {
    const nodes: Node[] = [];
    for (let next = this.#peek(); next !== '' && next !== '|' && next !== ')'; next = this.#peek()) {
      nodes.push(this.#repeated(this.#atom()));
    }
    return { kind: 'all', nodes };
  }

  #repeated(node: Node): Node {
    const [text = '', sign, min = '', comma, max = ''] =
      /^(?:([?*+])|\{(\d{1,4})(?:(,)(\d{0,4}))?\})/u.exec(this.#source.slice(this.#at)) ?? [];
    if (text === '') return node;
    this.#at += text.length;
    if (/^[?*+{]/u.test(this.#peek())) throw new PatternError(`only one of ? * + {n,m} may follow a part; ${ALLOWED}`);
    if (sign !== undefined) {
      return { kind: 'repeat', node, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity };
    }
    const least = Number(min);
    const most = comma === undefined ? least : max === '' ? Infinity : Number(max);
    if (most < least || least > COUNT_MAX || (most > COUNT_MAX && most !== Infinity)) {
      throw new PatternError(`${text} must count upwards, to ${COUNT_MAX} at most`);
    }
    return { kind: 'repeat', node, min: least, max: most };
  }

  #atom(): Node {
    if (this.#take('(')) return this.#group();
    if (this.#peek() === '[') return this.#class();
    if (this.#take('.')) return { kind: 'one', test: /^[^\n\r\u2028\u2029]$/u };
    if (this.#take('\\')) return this.#escape();
    const [character = ''] = this.#source.slice(this.#at);
    if ('?*+{}]^$'.includes(character)) {
      throw new PatternError(`"${character}" means nothing there; write \\${character} for the character; ${ALLOWED}`);
    }
    this.#at += character.length;
    return literal(character);
  }

  #group(): Node {
    if (this.#peek() === '?' && !this.#source.startsWith('?:', this.#at)) {
      throw new PatternError(`of the groups that begin with "(?" only "(?:" is there; ${ALLOWED}`);
    }
    if (this.#take('?')) this.#take(':');
    const node = this.#alternatives();
    if (!this.#take(')')) throw new PatternError('there is a "(" without its ")"');
    return node;
  }

  #class(): Node {
    const [text] = /^\[\^?(?:\\.|[^\\[\]])+\]/su.exec(this.#source.slice(this.#at)) ?? [];
    const escapes = [...(text ?? '').matchAll(/\\(.)/gsu)].map(([, escaped = '']) => escaped);
    if (text === undefined || escapes.some((one) => /[A-Za-z0-9]/u.test(one) && !CLASS_ESCAPES.has(one))) {
      throw new PatternError('a class is written [a-z0-9_.-]; in it \\ stands before ] [ \\ ^ - d w s t n r only');
    }
    this.#at += text.length;
    try {
      // Exactly one character is ever given to it: nothing to go back over.
      return { kind: 'one', test: new RegExp(`^${text}$`, 'u') };
    } catch {
      throw new PatternError(`${text} is not a class of characters`);
    }
  }

  #escape(): Node {
    const [character = ''] = this.#source.slice(this.#at);
    this.#at += character.length;
    if (CLASS_ESCAPES.has(character)) return { kind: 'one', test: new RegExp(`^\\${character}$`, 'u') };
    if (character === '' || /[A-Za-z0-9]/u.test(character)) {
      throw new PatternError(`\\${character} is not there; ${ALLOWED}`);
    }
    return literal(character);
  }

  #peek(): string {
    return this.#source.charAt(this.#at);
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at += 1;
    return true;
  }
}

function literal(character: string): Node {
  return { kind: 'one', test: new RegExp(`^${character.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')}$`, 'u') };
}

function emit(node: Node, program: Instruction[]): void {
  if (program.length > INSTRUCTIONS_MAX) throw new PatternError('it is too large: use smaller counts');
  switch (node.kind) {
    case 'one':
      program.push({ test: node.test });
      return;
    case 'all':
      for (const part of node.nodes) emit(part, program);
      return;
    case 'any':
      emitAny(node.nodes, program);
      return;
    case 'repeat':
      emitRepeat(node, program);
  }
}

function emitAny(nodes: readonly Node[], program: Instruction[]): void {
  const choice = { split: [] as number[] };
  program.push(choice);
  const ends: { split: number[] }[] = [];
  for (const node of nodes) {
    choice.split.push(program.length);
    emit(node, program);
    const end = { split: [] as number[] };
    ends.push(end);
    program.push(end);
  }
  for (const end of ends) end.split.push(program.length);
}

function emitRepeat({ node, min, max }: Extract<Node, { kind: 'repeat' }>, program: Instruction[]): void {
  for (let count = 0; count < min; count++) emit(node, program);
  if (max === Infinity) {
    const start = program.length;
    const choice = { split: [start + 1] };
    program.push(choice);
    emit(node, program);
    program.push({ split: [start] });
    choice.split.push(program.length);
    return;
  }
  const choices: { split: number[] }[] = [];
  for (let count = min; count < max; count++) {
    const choice = { split: [program.length + 1] };
    choices.push(choice);
    program.push(choice);
    emit(node, program);
  }
  for (const choice of choices) choice.split.push(program.length);
}

function run(program: readonly Instruction[], text: string): boolean {
  let places = reach(program, [0]);
  for (const character of text) {
    const next: number[] = [];
    for (const place of places) {
      const instruction = program[place];
      if (instruction !== undefined && 'test' in instruction && instruction.test.test(character)) next.push(place + 1);
    }
    if (next.length === 0) return false;
    places = reach(program, next);
  }
  return places.has(program.length);
}

/** Every place that is reached without taking a character. */
function reach(program: readonly Instruction[], from: readonly number[]): Set<number> {
  const places = new Set<number>();
  const open = [...from];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (places.has(place)) continue;
    places.add(place);
    const instruction = program[place];
    if (instruction !== undefined && 'split' in instruction) open.push(...instruction.split);
  }
  return places;
}
