import { useMemo, type ReactElement } from 'react';
import { Empty, goTo, Loading, Problem, Table, usePlace } from '../../parts/index.js';
import { useRun, type LiveRun } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { compared, comparedFigures, type ComparedMoment } from './compared.js';
import { LinesTable, TasksTable } from './differences.js';
import { compareAddress, sidesIn, type Side, type Sides } from './sides.js';
import { SideHead } from './side-head.js';

/** Two moments of a run, or of two runs, beside each other: what was planned, what became of it, and what it took. */
export function ComparePage(): ReactElement {
  const { search } = usePlace();
  const sides = sidesIn(search);
  const { from, to } = sides;
  const go = (change: Partial<Sides>): void => goTo(compareAddress({ ...sides, ...change }), { replace: true });
  return (
    <div className="page compare">
      <header className="page-head">
        <h1>{words.compare.title}</h1>
        <label className="row tight">
          <input type="checkbox" checked={sides.all} onChange={({ target }) => go({ all: target.checked })} />
          {words.compare.all}
        </label>
      </header>
      {from.run === undefined || to.run === undefined ? (
        <div className="compare-heads">
          <SideHead
            name={words.compare.from}
            side={from}
            followed={undefined}
            onChange={(side) => go({ from: side })}
          />
          <SideHead name={words.compare.to} side={to} followed={undefined} onChange={(side) => go({ to: side })} />
        </div>
      ) : (
        <Both key={`${from.run} ${to.run}`} sides={sides} from={from.run} to={to.run} go={go} />
      )}
    </div>
  );
}

interface BothProps {
  readonly sides: Sides;
  readonly from: string;
  readonly to: string;
  readonly go: (change: Partial<Sides>) => void;
}

function Both({ sides, from, to, go }: BothProps): ReactElement {
  const [left, right] = [useRun(from), useRun(to)];
  const before = useMoment(left, sides.from);
  const after = useMoment(right, sides.to);
  return (
    <>
      <div className="compare-heads">
        <SideHead name={words.compare.from} side={sides.from} followed={left} onChange={(side) => go({ from: side })} />
        <SideHead name={words.compare.to} side={sides.to} followed={right} onChange={(side) => go({ to: side })} />
      </div>
      {[left, right].map(({ problem, stale }, at) => (
        <Trouble key={at} problem={problem} stale={stale} />
      ))}
      {before === undefined || after === undefined ? (
        left.problem === undefined && right.problem === undefined ? (
          <Loading />
        ) : null
      ) : (
        <Differences before={before} after={after} all={sides.all} />
      )}
    </>
  );
}

function Trouble({ problem, stale }: { problem: string | undefined; stale: string | undefined }): ReactElement | null {
  if (problem !== undefined) return <Problem text={problem} />;
  return stale === undefined ? null : <p className="stale">{words.stale(stale)}</p>;
}

function useMoment({ record }: LiveRun, { at }: Side): ComparedMoment | undefined {
  return useMemo(() => {
    const count = at === undefined ? record.commits.length : record.countAt(at);
    const run = record.after(count);
    return run === undefined ? undefined : { run, commits: record.commits.slice(0, count) };
  }, [record, at]);
}

interface DifferencesProps {
  readonly before: ComparedMoment;
  readonly after: ComparedMoment;
  readonly all: boolean;
}

function Differences({ before, after, all }: DifferencesProps): ReactElement {
  const comparison = useMemo(() => compared(before, after), [before, after]);
  const figures = useMemo(() => comparedFigures(before, after), [before, after]);
  const shownOf = <T extends { readonly isSame: boolean }>(some: readonly T[]): T[] =>
    some.filter(({ isSame }) => all || !isSame);
  const [tasks, lines] = [shownOf(comparison.tasks), shownOf(comparison.lines)];
  return (
    <>
      {tasks.length === 0 && lines.length === 0 ? <Empty title={words.compare.same} /> : null}
      {tasks.length === 0 ? null : <TasksTable tasks={tasks} name={comparison.name} />}
      {lines.length === 0 ? null : <LinesTable lines={lines} />}
      <section aria-label={words.compare.figures}>
        <Table
          folds={false}
          className="compare-figures"
          rows={figures}
          keyOf={({ of }) => of}
          markOf={({ before: was, after: is }) => (was === is ? '' : 'differs')}
          columns={[
            {
              name: words.compare.figures,
              cell: ({ of }) => (of === 'lasted' ? words.runs.duration : words.figures[of]),
            },
            { name: words.compare.from, cell: ({ before: was }) => was },
            { name: words.compare.to, cell: ({ after: is }) => is },
          ]}
        />
      </section>
    </>
  );
}
