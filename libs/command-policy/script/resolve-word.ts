import { ansiText } from './ansi-text.js';
import { expandBraces, type Element } from './expand-braces.js';
import { ANY, DIGITS, glyphsOf, ONE, SOME, type Glyphs, unknownWord, wordOf, type Word } from '../words/index.js';
import { nodeText, type SyntaxNode } from './syntax.js';

/** What is known of variables at one place: their possible values. A name that is not in it can be anything. */
export type Variables = ReadonlyMap<string, readonly Glyphs[]>;

/** More possible readings than these are as good as none. */
const READINGS_MAX = 16;
const SPACE = new Set([32, 9, 10]);

/** A part of the tree that stands where only words can, and is none that is known. */
export class UnknownSyntax extends Error {}

/** The words that a node stands for: every possible reading, each a list of words. */
export function resolveWord(source: string, node: SyntaxNode, variables: Variables): readonly (readonly Word[])[] {
  const substitution = substitutionIn(node);
  const expanded = expandBraces(elementsOf(source, node, variables, false));
  if (expanded === undefined) return [[unknownWord(substitution, true)]];
  let readings: readonly (readonly Word[])[] = [[]];
  for (const elements of expanded) {
    const own = readingsOf(elements, substitution);
    if (readings.length * own.length > READINGS_MAX) return [[unknownWord(substitution, true)]];
    readings = readings.flatMap((reading) => own.map((words) => [...reading, ...words]));
  }
  return readings;
}

function substitutionIn(node: SyntaxNode): Word['substitution'] {
  if (node.type === 'command_substitution') return 'command';
  if (node.type === 'process_substitution') return 'process';
  for (const child of node.children) {
    const found = substitutionIn(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

const plain = (text: string): Element[] => glyphsOf(text).map((glyph) => ({ glyph, quoted: true }));
const unknown = (quoted: boolean): Element[] => [{ glyph: ANY, quoted }];

function elementsOf(source: string, node: SyntaxNode, variables: Variables, quoted: boolean): Element[] {
  const text = nodeText(source, node);
  switch (node.type) {
    case 'word':
    case 'number':
    case 'variable_name':
    case 'test_operator':
    case 'special_variable_name':
    case '$':
      return node.children.length > 0 ? unknown(quoted) : bare(text);
    case '``':
      return [];
    case 'raw_string':
      return [...plain(text.slice(1, -1)), EMPTY];
    case 'ansi_c_string':
      return [...plain(ansiText(text.slice(2, -1))), EMPTY];
    case 'string':
      return [...inQuotes(source, node, variables), EMPTY];
    case 'translated_string':
    case 'concatenation':
      // The mark of a translated string is no part of what it says.
      return node.children
        .filter(({ type }) => node.type !== 'translated_string' || type !== '$')
        .flatMap((child) => elementsOf(source, child, variables, quoted));
    case 'simple_expansion':
    case 'expansion':
      return variable(text, variables, quoted);
    case 'command_substitution':
      return unknown(quoted);
    case 'process_substitution':
      return plain('/dev/fd/63');
    case 'arithmetic_expansion':
    case 'brace_expression':
      return [{ glyph: DIGITS, quoted: true }];
    default:
      throw new UnknownSyntax(node.type);
  }
}

/** Quotes make a word even of nothing. */
const EMPTY: Element = { empty: true };

/** Unquoted text: a backslash takes the next character as it is. */
function bare(text: string): Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '\\') elements.push({ glyph: text.charCodeAt(at), quoted: false });
    else if (text[++at] !== '\n' && at < text.length) elements.push({ glyph: text.charCodeAt(at), quoted: true });
  }
  return elements;
}

const LITERAL_IN_QUOTES = new Set(['"', 'string_content', '$']);

function inQuotes(source: string, node: SyntaxNode, variables: Variables): Element[] {
  const elements: Element[] = [];
  let from = node.start + 1;
  const text = (until: number) => {
    elements.push(
      ...plain(source.slice(from, until).replace(/\\([$`"\\\n])/gu, (_, char: string) => (char === '\n' ? '' : char))),
    );
  };
  for (const child of node.children) {
    if (LITERAL_IN_QUOTES.has(child.type)) continue;
    // The grammar counts blanks before an expansion to it.
    const blanks = source.slice(child.start, child.end).search(/\S/u);
    text(child.start + Math.max(blanks, 0));
    elements.push(...elementsOf(source, { ...child, start: child.start + Math.max(blanks, 0) }, variables, true));
    from = child.end;
  }
  text(node.end - 1);
  return elements;
}

/** Set by the login, and by nothing else that matters here. */
const HOME = /^\$(?:HOME|\{HOME\})$/u;
const NAME = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})$/u;

function variable(text: string, variables: Variables, quoted: boolean): Element[] {
  const match = NAME.exec(text);
  const name = match?.[1] ?? match?.[2];
  const values = name === undefined ? undefined : variables.get(name);
  if (values !== undefined && values.length > 0) return [{ values, quoted }];
  if (HOME.test(text) && !variables.has('HOME')) return [{ home: true }];
  // A number or one of few letters: no place to hide a word in.
  if (/^\$(?:[?#$!]|\{[?#$!]\}|\{#\w+\})$/u.test(text)) return [{ glyph: DIGITS, quoted: true }];
  return unknown(quoted);
}

/** Puts values in, splits what is not quoted, finds patterns. */
function readingsOf(elements: readonly Element[], substitution: Word['substitution']): Word[][] {
  let readings: Element[][] = [[]];
  for (const element of elements) {
    if (!('values' in element)) {
      for (const reading of readings) reading.push(element);
      continue;
    }
    if (readings.length * element.values.length > READINGS_MAX) return [[unknownWord(substitution, true)]];
    const { quoted } = element;
    readings = readings.flatMap((reading) =>
      element.values.map((value) => [
        ...reading,
        ...(quoted ? [EMPTY] : []),
        ...value.map((glyph) => ({ glyph, quoted, value: true as const })),
      ]),
    );
  }
  return readings.map((reading) => split(reading, substitution));
}

function split(elements: readonly Element[], substitution: Word['substitution']): Word[] {
  const words: Word[] = [];
  let current: Element[] | undefined;
  for (const element of elements) {
    if ('value' in element && !element.quoted && SPACE.has(element.glyph)) {
      if (current !== undefined) words.push(finished(current, substitution));
      current = undefined;
    } else (current ??= []).push(element);
  }
  if (current !== undefined) words.push(finished(current, substitution));
  return words;
}

const [TILDE, SLASH, OPEN, CLOSE] = [126, 47, 91, 93];

function finished(elements: readonly Element[], substitution: Word['substitution']): Word {
  const glyphs: number[] = [];
  let home = false;
  for (let at = 0; at < elements.length; at++) {
    const element = elements[at];
    if (element === undefined || 'empty' in element || 'values' in element) continue;
    if ('home' in element) {
      home ||= glyphs.length === 0;
      glyphs.push(TILDE);
      continue;
    }
    const { glyph, quoted } = element;
    if (quoted) glyphs.push(glyph);
    else if (glyph === 42) glyphs.push(SOME);
    else if (glyph === 63) glyphs.push(ONE);
    else if (glyph === OPEN) {
      const close = elements.findIndex((next, i) => i > at + 1 && 'glyph' in next && next.glyph === CLOSE);
      glyphs.push(close < 0 ? glyph : ONE);
      if (close >= 0) at = close;
    } else {
      if (glyph === TILDE && at === 0) {
        const next = elements[1];
        home = next === undefined || ('glyph' in next && next.glyph === SLASH);
        // `~name`, `~+`: somebody's home, or a folder that is not known here.
        if (!home) return wordOf([ANY], { substitution });
      }
      glyphs.push(glyph);
    }
  }
  const splits = elements.some((element) => 'glyph' in element && element.glyph === ANY && !element.quoted);
  return wordOf(glyphs, { home, substitution, splits });
}
