import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { blocksIn, blocksOf, rowPieces, rowByKey, ROWS_A_BLOCK, type RowPiece } from './row-blocks.js';

/** So far around what is seen rows are ready. */
const AROUND_PX = 300;
const NOTHING: readonly number[] = [];

interface WindowParts {
  readonly rows: number;
  readonly newestFirst: boolean;
  /** As high as a row is about. */
  readonly rowPx: number;
  /** This row is to be seen whenever it is another one. */
  readonly at: number | undefined;
}

export interface RowWindow {
  readonly box: (element: HTMLDivElement | null) => void;
  readonly pieces: readonly RowPiece[];
  /** The row where the keyboard is, or would come to. */
  readonly stop: number;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** Which rows of a long list are on the page: those that are seen, and the one where the keyboard is. */
export function useRowWindow({ rows, newestFirst, rowPx, at }: WindowParts): RowWindow {
  const box = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<number, number>());
  const wanted = useRef<{ readonly row: number; readonly focus: boolean }>(undefined);
  const [seen, setSeen] = useState(NOTHING);
  const [reached, setReached] = useState<number>();
  const count = Math.ceil(rows / ROWS_A_BLOCK);
  const order = useMemo(() => blocksOf(count * ROWS_A_BLOCK, newestFirst), [count, newestFirst]);
  const heightOf = (block: number): number =>
    heights.current.get(block) ?? rowPx * Math.min(ROWS_A_BLOCK, Math.max(0, rows - block * ROWS_A_BLOCK));
  const latest = useRef({ order, heightOf });
  latest.current = { order, heightOf };
  const look = useCallback((): void => {
    const list = box.current;
    if (list === null) return;
    const { top, height } = list.getBoundingClientRect();
    // It is in a tab that is not shown.
    if (height === 0) return;
    for (const block of list.querySelectorAll<HTMLElement>('[data-block]'))
      heights.current.set(Number(block.dataset['block']), block.offsetHeight);
    const next = blocksIn(latest.current, -top - AROUND_PX, innerHeight - top + AROUND_PX);
    const kept = list.contains(document.activeElement) ? blockAround(document.activeElement) : undefined;
    if (kept !== undefined && !next.includes(kept)) next.push(kept);
    setSeen((before) => (next.join() === before.join() ? before : next));
  }, []);
  useLook(look);
  useLayoutEffect(look, [look, order]);
  useLayoutEffect(() => {
    if (at === undefined) return;
    wanted.current = { row: at, focus: false };
    setSeen((before) => withBlock(before, at));
  }, [at]);
  useLayoutEffect(() => {
    const { row, focus } = wanted.current ?? {};
    const found = row === undefined ? null : box.current?.querySelector<HTMLElement>(`[data-row="${row}"]`);
    if (found === null || found === undefined) return;
    wanted.current = undefined;
    if (focus === true) found.querySelector('button')?.focus();
    else found.scrollIntoView({ block: 'nearest' });
  });
  const open = new Set(seen.length > 0 ? seen.filter((block) => block < count) : order.slice(0, 1));
  const isThere = reached !== undefined && open.has(Math.floor(reached / ROWS_A_BLOCK));
  const first = order.find((block) => open.has(block)) ?? 0;
  return {
    box: useCallback((element) => {
      box.current = element;
    }, []),
    pieces: rowPieces({ order, heightOf }, open),
    stop: isThere ? reached : newestFirst ? Math.min(rows, (first + 1) * ROWS_A_BLOCK) - 1 : first * ROWS_A_BLOCK,
    onKeyDown: (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
      const row = event.target.closest<HTMLElement>('[data-row]')?.dataset['row'];
      const place = (one: number): number => (newestFirst ? rows - 1 - one : one);
      const to = row === undefined ? undefined : rowByKey(event.key, place(Number(row)), rows);
      if (to === undefined) return;
      event.preventDefault();
      wanted.current = { row: place(to), focus: true };
      setReached(place(to));
      setSeen((before) => withBlock(before, place(to)));
    },
  };
}

/** Looks again whenever something was scrolled or has another size; at most once in a frame. */
function useLook(look: () => void): void {
  useEffect(() => {
    let frame: number | undefined;
    const soon = (): void => {
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        look();
      });
    };
    soon();
    addEventListener('scroll', soon, { capture: true, passive: true });
    addEventListener('resize', soon);
    return () => {
      if (frame !== undefined) cancelAnimationFrame(frame);
      removeEventListener('scroll', soon, { capture: true });
      removeEventListener('resize', soon);
    };
  }, [look]);
}

function blockAround(element: Element | null): number | undefined {
  const block = element?.closest<HTMLElement>('[data-block]')?.dataset['block'];
  return block === undefined ? undefined : Number(block);
}

function withBlock(blocks: readonly number[], row: number): readonly number[] {
  const block = Math.floor(row / ROWS_A_BLOCK);
  return blocks.includes(block) ? [...blocks] : [...blocks, block];
}
