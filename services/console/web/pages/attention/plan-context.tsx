import type { ReactElement } from 'react';
import type { RunView, TaskView } from '#proto';
import { Facts, Foreign, PageLink } from '../../parts/index.js';
import { words } from '../../words/index.js';

interface PlanContextProps {
  readonly view: RunView;
  readonly taskId: string;
}

/** Where in its run what is asked stands: what the run is for, what came before its task, and what waits for it. */
export function PlanContext({ view, taskId }: PlanContextProps): ReactElement {
  const byId = new Map(view.tasks.map((task) => [task.id, task]));
  const tasksOf = (ids: readonly string[]): TaskView[] => ids.flatMap((id) => byId.get(id) ?? []);
  const before = tasksOf(view.lines.flatMap(({ from, to }) => (to === taskId ? [from] : [])));
  const behind = tasksOf(view.lines.flatMap(({ from, to }) => (from === taskId ? [to] : [])));
  const { goal = null, name, requestedBy, runId } = view;
  const task = byId.get(taskId);
  return (
    <Facts
      of={[
        [
          words.approval.run,
          <>
            <PageLink href={`/runs/${runId}`}>
              <Foreign text={name} />
            </PageLink>{' '}
            <span className="faint">
              <Foreign text={words.approval.askedBy(requestedBy)} />
            </span>
          </>,
        ],
        [words.approval.goal, goal === null || goal === name ? null : <Foreign text={goal} />],
        [words.approval.task, task === undefined ? null : <Foreign text={task.name} />],
        [words.approval.comesAfter, <Tasks of={before} />],
        [words.approval.waiting, <Tasks of={behind} />],
      ]}
    />
  );
}

const TASKS_MAX = 5;

function Tasks({ of }: { readonly of: readonly TaskView[] }): ReactElement {
  if (of.length === 0) return <span className="faint">{words.approval.nothingElse}</span>;
  const named = of.slice(0, TASKS_MAX).map(({ name, status }) => `${name} (${words.status[status]})`);
  return (
    <Foreign
      text={[...named, ...(of.length > TASKS_MAX ? [words.approval.others(of.length - TASKS_MAX)] : [])].join(', ')}
    />
  );
}
