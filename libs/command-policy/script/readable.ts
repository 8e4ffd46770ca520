import { marksOf, type Mark } from './second-reader.js';
import type { SyntaxNode } from './syntax.js';

/** Why this text would deceive its readers, as a sentence; undefined when it does not. */
export function hiddenIn(text: string): string | undefined {
  if (!text.isWellFormed()) return 'The command is not valid text.';
  // Controls (and with them NUL and carriage returns), bidirectional marks, zero-width characters, separators other than blanks.
  const hidden = /[^\P{C}\n\t]|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/u.exec(text);
  if (hidden !== null) return `The command has a character that is not seen: ${codeOf(hidden[0])}.`;
  const blank = /[^\P{Zs} ]/u.exec(text);
  return blank === null ? undefined : `The command has a blank that is no blank to a shell: ${codeOf(blank[0])}.`;
}

const codeOf = (char: string): string => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Why a tree is not believed, as a sentence. */
export function doubtsAbout(text: string, root: SyntaxNode): string | undefined {
  const flaw = flawIn(text, root);
  if (flaw !== undefined) return flaw;
  const marks = marksOf(text);
  if (marks === undefined) return 'The command is written in a way that shells read differently.';
  return same(marks, marksIn(text, root))
    ? undefined
    : 'Quotes, comments or here-documents cannot be told apart for certain.';
}

const GAP = /^(?:[ \t\n]|\\\n)*$/u;
const OPAQUE = new Set(['string', 'heredoc_body', 'expansion']);
/** An operator inside a word: the grammar took two things for one. */
const OPERATOR = /(?<!\\)(?:\\\\)*[;&|()<>\s'"`]/u;

function flawIn(text: string, node: SyntaxNode): string | undefined {
  if (node.type === 'ERROR' || node.type === 'MISSING') return 'The command is not complete shell text.';
  let at = node.start;
  for (const child of node.children) {
    // The grammar takes the end of a case for the end of any command.
    if (child.type === ';;' && node.type !== 'case_item') return 'The command has parts that are not understood.';
    if (child.start < at) return 'The command has parts that overlap.';
    if (!OPAQUE.has(node.type) && !GAP.test(text.slice(at, child.start)))
      return 'The command has parts that are not understood.';
    const flaw = flawIn(text, child);
    if (flaw !== undefined) return flaw;
    at = child.end;
  }
  if (node.children.length > 0 && !OPAQUE.has(node.type) && !GAP.test(text.slice(at, node.end)))
    return 'The command has parts that are not understood.';
  if (
    node.type === 'word' &&
    node.children.length === 0 &&
    OPERATOR.test(text.slice(node.start, node.end).replace(/\\./gsu, ''))
  )
    return 'The command has words that are not understood.';
  return undefined;
}

const KINDS: Readonly<Record<string, Mark['kind']>> = {
  raw_string: 'raw',
  ansi_c_string: 'ansi',
  string: 'string',
  comment: 'comment',
};
const SUBSTITUTIONS = new Set(['command_substitution', 'process_substitution']);

function marksIn(text: string, root: SyntaxNode): Mark[] {
  const marks: Mark[] = [];
  const visit = (node: SyntaxNode): void => {
    const kind = KINDS[node.type];
    if (kind !== undefined) marks.push({ kind, start: node.start, end: node.end });
    if (SUBSTITUTIONS.has(node.type)) {
      const start = node.start + Math.max(text.slice(node.start, node.end).search(/\S/u), 0);
      marks.push({ kind: 'command', start, end: start });
    }
    const body = node.children.find(({ type }) => type === 'heredoc_body');
    const end = node.children.find(({ type }) => type === 'heredoc_end');
    if (body !== undefined && end !== undefined) marks.push({ kind: 'heredoc', start: end.start, end: end.start });
    for (const child of node.children) visit(child);
  };
  visit(root);
  return marks;
}

function same(a: readonly Mark[], b: readonly Mark[]): boolean {
  const keys = (marks: readonly Mark[]) => marks.map(({ kind, start, end }) => `${start}-${end}${kind}`).sort();
  const [left, right] = [keys(a), keys(b)];
  return left.length === right.length && left.every((key, at) => key === right[at]);
}
