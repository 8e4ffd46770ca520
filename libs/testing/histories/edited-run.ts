// A run that is edited while it runs, as it would lie in the log, for tests that alter it.
import { findTask, type Input } from '#libs/constellation';
import { runIdOf } from '#libs/event-log';
import { runCommitsOf } from './histories.js';
import { History, type HistoryStep } from './history-writer.js';
import {
  subjects,
  type Edit,
  type Proposal,
  type RunEvent,
  type RunEventData,
  type RunOptions,
  type TaskConstellation,
} from '#proto';
import { auditRun, findingText, type ExportRecord } from '#libs/audit';
import { sealRun } from './sample-run.js';

export const AT = '2026-01-01T00:00:00.000Z';
export const LATE = '2026-01-01T12:00:00.000Z';
const REQUEST_ID = 'edited';
export const RUN = runIdOf('default', REQUEST_ID);
export const OPERATOR = { kind: 'person', id: 'operator' } as const;
export const PLANNER = { kind: 'system', id: 'planner' } as const;

/** As the steps would lie in the log. */
export function recordsOf(steps: readonly HistoryStep[]): ExportRecord[] {
  const records = steps.map((step, index): ExportRecord => {
    const { kind, commit } = step;
    if (kind === 'run') return { stream: 'RUNS', subject: subjects.run(commit.runId), sequence: index + 1, commit };
    if (kind === 'plan') return { stream: 'PLANS', subject: subjects.plan(commit.runId), sequence: index + 1, commit };
    const subject = subjects.attempt(step.commit, step.subject);
    return { stream: 'ATTEMPTS', subject, sequence: index + 1, commit };
  });
  return records.toSorted((a, b) => (a.stream === b.stream ? a.sequence - b.sequence : a.stream === 'RUNS' ? -1 : 1));
}

export const star = (id: string) => ({
  id,
  name: id,
  description: '',
  tips: [],
  target: { device: 'web-1' },
  command: { tool: 'EXEC_CLI', arguments: { command: `echo ${id}` } },
});
export const line = (from: string, to: string) => ({ id: `${from}-${to}`, from, to, type: 'unconditional' as const });
const PLAN: TaskConstellation = {
  name: 'plan',
  tasks: [star('a'), star('b'), star('c')],
  lines: [line('a', 'b'), line('b', 'c')],
};

/** A run with the plan a -> b -> c whose planner is asked after every result. */
export class Told extends History {
  constructor(more: RunOptions = {}) {
    super(RUN);
    const requested: RunEventData<'RUN_REQUESTED'> = {
      requestId: REQUEST_ID,
      namespace: 'default',
      contentHash: 'c'.repeat(64),
      goal: null,
      constellation: PLAN,
      options: { editPolicy: 'every-result', lockPolicy: 'scoped', ...more },
      metadata: {},
      requestedBy: OPERATOR,
      requestedAt: AT,
      deadlineAt: '2026-01-02T00:00:00.000Z',
    };
    this.decide([{ kind: 'submit', requested }]);
  }

  ends(taskId: string, failing = false): this {
    const task = findTask(this.run, taskId);
    if (task === undefined) throw new Error(`no task ${taskId}`);
    this.decide([this.endAttempt(task, failing, taskId)]);
    return this;
  }

  proposes(number: number, change: Partial<Proposal>): this {
    const { editing } = this.run;
    const proposal: Proposal = {
      editId: editing?.editId ?? null,
      try: number,
      baseRevision: null,
      state: 'CONTINUE',
      edits: [],
      ...change,
    };
    this.decide([this.proposing(proposal)]);
    return this;
  }

  obeys(action: Extract<Input, { kind: 'verb' }>['action']): this {
    this.decide([{ kind: 'verb', id: `v${this.run.verbs.size}`, by: OPERATOR, action }]);
    return this;
  }
}

const ADD: readonly Edit[] = [
  { tool: 'add_task', task: star('d') },
  { tool: 'add_dependency', line: line('a', 'd') },
];

/** a ends and opens a round; its first answer is refused, the second one adds d, which hangs from a. */
export const edited = () =>
  new Told()
    .ends('a')
    .proposes(1, { edits: [{ tool: 'remove_task', taskId: 'a' }] })
    .proposes(2, { edits: [...ADD] });

export type Groups = RunEvent[][];
/** The events of each commit, to alter at will. */
export function groupsOf(steps: readonly HistoryStep[]): Groups {
  return structuredClone(runCommitsOf(steps)).map(({ events }) =>
    events.map(({ type, data }) => ({ type, data }) as RunEvent),
  );
}

/** The findings after somebody altered the events and made all hashes again. */
export function altered({ steps }: History, alter: (groups: Groups) => void): string {
  const groups = groupsOf(steps);
  alter(groups);
  const others = recordsOf(steps).filter(({ stream }) => stream !== 'RUNS');
  const { findings } = auditRun(RUN, [...sealRun(groups, RUN), ...others]);
  return findings.map(findingText).join('\n');
}

export function dataOf<T extends RunEvent['type']>(groups: Groups, type: T): RunEventData<T> {
  const found = groups.flat().find((event) => event.type === type);
  if (found === undefined) throw new Error(`there is no ${type}`);
  return found.data as RunEventData<T>;
}
