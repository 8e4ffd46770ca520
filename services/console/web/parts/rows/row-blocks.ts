/** Rows that come to the page, and go from it, together. */
export const ROWS_A_BLOCK = 20;

/** A part of a long list from top to bottom: rows that are on the page, or the room that others take. */
export type RowPiece = { readonly block: number } | { readonly before: number; readonly px: number };

/** In which order blocks stand, and how high each is; only one that was on the page is known exactly. */
export interface RowBlocks {
  /** From top to bottom. Blocks are counted from the first row on, so that a list that grows at either end leaves them as they are. */
  readonly order: readonly number[];
  readonly heightOf: (block: number) => number;
}

export function blocksOf(rows: number, newestFirst: boolean): number[] {
  const count = Math.ceil(rows / ROWS_A_BLOCK);
  return Array.from({ length: count }, (_, at) => (newestFirst ? count - 1 - at : at));
}

/** The blocks that reach into a part of the list, in pixels from its top; the nearest where it lies beyond. */
export function blocksIn({ order, heightOf }: RowBlocks, from: number, to: number): number[] {
  let top = 0;
  const found = order.filter((block) => {
    const begins = top;
    top += heightOf(block);
    return top > from && begins < to;
  });
  return found.length > 0 ? found : order.slice(...(from <= 0 ? [0, 1] : [-1]));
}

/** What stands on the page: these blocks, and room for all others. */
export function rowPieces({ order, heightOf }: RowBlocks, open: ReadonlySet<number>): RowPiece[] {
  const pieces: RowPiece[] = [];
  let room = 0;
  for (const block of order) {
    if (!open.has(block)) room += heightOf(block);
    else {
      if (room > 0) pieces.push({ before: block, px: room });
      room = 0;
      pieces.push({ block });
    }
  }
  if (room > 0) pieces.push({ before: -1, px: room });
  return pieces;
}

const A_PAGE = 10;

/** Where a key leads to from a row, of so many; undefined for keys that lead nowhere. */
export function rowByKey(key: string, from: number, rows: number): number | undefined {
  const to = {
    ArrowDown: from + 1,
    ArrowUp: from - 1,
    PageDown: from + A_PAGE,
    PageUp: from - A_PAGE,
    Home: 0,
    End: rows - 1,
  }[key];
  return to === undefined ? undefined : Math.max(0, Math.min(rows - 1, to));
}
