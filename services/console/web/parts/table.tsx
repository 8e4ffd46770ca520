import type { ReactElement, ReactNode } from 'react';

export interface TableColumn<T> {
  readonly name: string;
  /** What stands there; null or an empty text: nothing does. */
  readonly cell: (row: T) => ReactNode;
  readonly isNumber?: boolean;
  /** What stands there says by itself what it is: on a phone its name is left out. */
  readonly isPlain?: boolean;
}

interface TableProps<T> {
  readonly label?: string;
  /** The first is what a row is called. */
  readonly columns: readonly [TableColumn<T>, ...TableColumn<T>[]];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly isSmall?: boolean;
  /** On a phone each row stands by itself, with the names of its columns in it; else the table is as it is everywhere. */
  readonly folds?: boolean;
  readonly className?: string;
  readonly markOf?: (row: T) => string;
}

/** Rows that are few enough to be all on the page. */
export function Table<T>(props: TableProps<T>): ReactElement {
  const { label, columns, rows, keyOf, isSmall = true, folds = true, className = '', markOf } = props;
  const classes = ['table', isSmall ? 'small' : '', folds ? 'rows-table' : '', className].filter((one) => one !== '');
  return (
    <table className={classes.join(' ')} aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ name, isNumber = false }) => (
            <th key={name} scope="col" className={isNumber ? 'number' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} className={markOf?.(row)}>
            {columns.map((column, index) => (
              <Cell key={column.name} column={column} row={row} isHead={index === 0} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CellProps<T> {
  readonly column: TableColumn<T>;
  readonly row: T;
  readonly isHead: boolean;
}

function Cell<T>({ column, row, isHead }: CellProps<T>): ReactElement {
  const { name, cell, isNumber = false, isPlain = false } = column;
  const said = cell(row);
  if (isHead) return <th scope="row">{said}</th>;
  const isNothing = said === null || said === '';
  return (
    <td className={isNumber ? 'number' : undefined} data-name={isNothing || isPlain ? undefined : name}>
      {said}
    </td>
  );
}
