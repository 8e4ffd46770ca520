/** A piece of two texts: in both, or in one of them. */
export interface WordPiece {
  readonly text: string;
  readonly is: 'same' | 'removed' | 'added';
}

/** Above this many comparisons the texts are shown one after the other. */
const COMPARED_MAX = 1_000_000;

/** What of a command line stays, goes and comes, word by word: together the pieces are both texts, whole. */
export function wordDiff(before: string, after: string): WordPiece[] {
  const [was, is] = [wordsOf(before), wordsOf(after)];
  if (was.length * is.length > COMPARED_MAX) return joined([piece('removed', before), piece('added', after)]);
  const common = commonLengths(was, is);
  const pieces: WordPiece[] = [];
  let [at, to] = [0, 0];
  while (at < was.length || to < is.length) {
    const [old, next] = [was[at], is[to]];
    if (old !== undefined && old === next) {
      pieces.push(piece('same', old));
      [at, to] = [at + 1, to + 1];
    } else if (old !== undefined && lengthAt(common, at + 1, to) >= lengthAt(common, at, to + 1)) {
      pieces.push(piece('removed', old));
      at += 1;
    } else if (next === undefined) {
      pieces.push(piece('removed', old ?? ''));
      at += 1;
    } else {
      pieces.push(piece('added', next));
      to += 1;
    }
  }
  return joined(pieces);
}

const piece = (is: WordPiece['is'], text: string): WordPiece => ({ is, text });

/** Words and what stands between them. */
const wordsOf = (text: string): string[] => text.split(/(\s+)/u).filter((word) => word !== '');

const lengthAt = (common: readonly (readonly number[])[], at: number, to: number): number => common[at]?.[to] ?? 0;

/** How many words the rests of both have in common, in order, from each place on. */
function commonLengths(was: readonly string[], is: readonly string[]): number[][] {
  const common = Array.from({ length: was.length + 1 }, () => Array.from({ length: is.length + 1 }, () => 0));
  for (let at = was.length - 1; at >= 0; at -= 1) {
    const row = common[at] ?? [];
    for (let to = is.length - 1; to >= 0; to -= 1) {
      row[to] =
        was[at] === is[to]
          ? lengthAt(common, at + 1, to + 1) + 1
          : Math.max(lengthAt(common, at + 1, to), lengthAt(common, at, to + 1));
    }
  }
  return common;
}

/** Neighbours of one kind are one piece: what goes stands before what comes in its place. */
function joined(pieces: readonly WordPiece[]): WordPiece[] {
  const all: WordPiece[] = [];
  let pending = { removed: '', added: '' };
  const flush = (): void => {
    for (const is of ['removed', 'added'] as const) if (pending[is] !== '') all.push(piece(is, pending[is]));
    pending = { removed: '', added: '' };
  };
  for (const { is, text } of pieces) {
    if (is !== 'same') {
      pending[is] += text;
      continue;
    }
    flush();
    const last = all.at(-1);
    if (last?.is === 'same') all[all.length - 1] = piece('same', last.text + text);
    else all.push(piece('same', text));
  }
  flush();
  return all;
}
