import type { ReactElement } from 'react';
import type { FieldChange } from '#libs/constellation';
import type { Json, LineView, TaskView } from '#proto';
import { lineState } from '../../model/index.js';
import { Foreign, Status, Table } from '../../parts/index.js';
import { words } from '../../words/index.js';
import { cameTo, type Compared, type Comparison } from './compared.js';

const TEXT_CHARS_MAX = 400;

/** Tasks of both moments, beside each other. */
export function TasksTable({
  tasks,
  name,
}: {
  readonly tasks: readonly Compared<TaskView>[];
  readonly name: Comparison['name'];
}): ReactElement {
  return (
    <section aria-label={words.figures.tasks}>
      <h2>{words.figures.tasks}</h2>
      {name === null ? null : <Changes fields={[{ field: 'name', ...name }]} />}
      <Differing
        of={words.task.id}
        rows={tasks}
        nameOf={({ name: shown }) => shown}
        cell={(task) => <Fate task={task} />}
      />
    </section>
  );
}

/** Lines of both moments, beside each other. */
export function LinesTable({ lines }: { readonly lines: readonly Compared<LineView>[] }): ReactElement {
  return (
    <section aria-label={words.figures.lines}>
      <h2>{words.figures.lines}</h2>
      <Differing of={words.figures.lines} rows={lines} nameOf={lineText} cell={(line) => <State line={line} />} />
    </section>
  );
}

interface DifferingProps<T> {
  readonly of: string;
  readonly rows: readonly Compared<T>[];
  readonly nameOf: (one: T) => string;
  readonly cell: (one: T) => ReactElement;
}

function Differing<T>({ of, rows, nameOf, cell }: DifferingProps<T>): ReactElement {
  const shown = (one: T | undefined) => (one === undefined ? null : cell(one));
  const named = ({ id, change, fields, before, after }: Compared<T>): ReactElement => {
    const newest = after ?? before;
    return (
      <>
        <Foreign text={newest === undefined ? id : nameOf(newest)} />
        <Mark change={change} />
        <Changes fields={fields} />
      </>
    );
  };
  return (
    <div className="compare-scroll" tabIndex={0} role="group" aria-label={of}>
      <Table
        className="compare-table"
        rows={rows}
        keyOf={({ id }) => id}
        markOf={({ change }) => `compare-${change}`}
        columns={[
          { name: of, cell: named },
          { name: words.compare.from, cell: ({ before }) => shown(before) },
          { name: words.compare.to, cell: ({ after }) => shown(after) },
        ]}
      />
    </div>
  );
}

function Mark({ change }: { readonly change: Compared<unknown>['change'] }): ReactElement | null {
  return change === 'same' ? null : <span className={`tag change-${change}`}>{words.compare.change[change]}</span>;
}

/** What of a definition is otherwise. */
function Changes({ fields }: { readonly fields: readonly FieldChange[] }): ReactElement | null {
  if (fields.length === 0) return null;
  return (
    <dl className="compare-fields">
      {fields.map(({ field, before, after }) => (
        <div key={field}>
          <dt>{field}</dt>
          <dd>
            <del>
              <Foreign text={valueOf(before)} />
            </del>{' '}
            <ins>
              <Foreign text={valueOf(after)} />
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Fate({ task }: { readonly task: TaskView }): ReactElement {
  const { status, device, attempts } = task;
  const result = cut(cameTo(task));
  return (
    <>
      <p className="row">
        <Status status={status} />
        {device === null ? null : <Foreign text={device} />}
        {attempts > 1 ? <span className="faint">{words.attempt(attempts)}</span> : null}
      </p>
      {result === '' ? null : (
        <pre className="foreign">
          <Foreign text={result} />
        </pre>
      )}
    </>
  );
}

function State({ line }: { readonly line: LineView }): ReactElement {
  const state = lineState(line);
  return (
    <>
      <span className={`line-word line-${state}`}>{words.legend[state]}</span>{' '}
      {line.reason === null ? null : <Foreign text={line.reason} />}
    </>
  );
}

function lineText({ from, to, type, condition }: LineView): string {
  return `${from} → ${to}, ${words.line[type]}${condition === null ? '' : ` ${condition}`}`;
}

function valueOf(value: Json | undefined): string {
  if (value === undefined) return words.compare.unset;
  return cut(typeof value === 'string' ? value : JSON.stringify(value));
}

const cut = (text: string): string => (text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text);
