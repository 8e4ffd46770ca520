import { memo, useId, type ReactElement, type ReactNode } from 'react';
import { words } from '../../words/index.js';
import { ROWS_A_BLOCK } from './row-blocks.js';
import { useRowWindow } from './use-row-window.runner.js';

/** Draws the cells of a row, with one button in them. `tabIndex`: of this button. */
export type RowDrawing<T> = (row: T, tabIndex: 0 | -1) => ReactNode;

interface RowsProps<T> {
  readonly label: string;
  readonly className: string;
  /** Only what is behind others is new; a row that did not change is the same object. */
  readonly rows: readonly T[];
  /** The same as long as it draws the same. */
  readonly draw: RowDrawing<T>;
  readonly newestFirst?: boolean;
  readonly rowPx: number;
  readonly markOf?: (row: T) => string;
  /** This row comes into view whenever it is another one. */
  readonly at?: number | undefined;
}

/** A table as long as it likes: only the rows that are seen are on the page, and of them only what has changed is drawn. Arrow keys lead from row to row, and a screen reader is told how many there are, and where it is. */
export function Rows<T>(props: RowsProps<T>): ReactElement {
  const { label, className, rows, draw, newestFirst = false, rowPx, markOf, at } = props;
  const { box, pieces, stop, onKeyDown } = useRowWindow({ rows: rows.length, newestFirst, rowPx, at });
  const hint = useId();
  return (
    <>
      <p id={hint} className="unseen">
        {words.rows}
      </p>
      <div
        ref={box}
        role="table"
        className={className}
        aria-label={label}
        aria-rowcount={rows.length}
        aria-describedby={hint}
        onKeyDown={onKeyDown}
      >
        {pieces.map((piece) =>
          'px' in piece ? (
            <div key={`before ${piece.before}`} role="presentation" style={{ height: piece.px }} />
          ) : (
            <div key={piece.block} role="rowgroup" data-block={piece.block}>
              {numbersIn(piece.block, rows.length, newestFirst).map((number) => (
                <div
                  key={number}
                  role="row"
                  data-row={number}
                  aria-rowindex={newestFirst ? rows.length - number : number + 1}
                  className={rows[number] === undefined ? '' : (markOf?.(rows[number]) ?? '')}
                >
                  <Cells row={rows[number]} draw={draw as RowDrawing<unknown>} tabIndex={number === stop ? 0 : -1} />
                </div>
              ))}
            </div>
          ),
        )}
      </div>
    </>
  );
}

interface CellsProps {
  readonly row: unknown;
  readonly draw: RowDrawing<unknown>;
  readonly tabIndex: 0 | -1;
}

const Cells = memo(({ row, draw, tabIndex }: CellsProps): ReactElement => <>{draw(row, tabIndex)}</>);

/** The rows of a block, from top to bottom. */
function numbersIn(block: number, rows: number, newestFirst: boolean): number[] {
  const from = block * ROWS_A_BLOCK;
  const numbers = Array.from({ length: Math.min(ROWS_A_BLOCK, rows - from) }, (_, at) => from + at);
  return newestFirst ? numbers.toReversed() : numbers;
}
