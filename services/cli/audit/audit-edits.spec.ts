import { describe, expect, it } from '@jest/globals';
import { subjects, type Edit, type Proposal, type RunEvent, type RunEventData, type TaskConstellation } from '#proto';
import { findTask, forkedFrom, type Input } from '#libs/constellation';
import { runIdOf } from '#libs/event-log';
import { forkHistory, generateEditedHistory, History, runCommitsOf, type HistoryStep } from '#libs/testing';
import { sealRun } from '../testing/sample-run.js';
import { auditRun } from './audit-run.js';
import type { ExportRecord } from './export-file.js';
import { findingText } from './findings.js';

const AT = '2026-01-01T00:00:00.000Z';
const LATE = '2026-01-01T12:00:00.000Z';
const REQUEST_ID = 'edited';
const RUN = runIdOf('default', REQUEST_ID);
const OPERATOR = { kind: 'person', id: 'operator' } as const;
const PLANNER = { kind: 'system', id: 'planner' } as const;

/** As the steps would lie in the log. */
function recordsOf(steps: readonly HistoryStep[]): ExportRecord[] {
  const records = steps.map((step, index): ExportRecord => {
    const { kind, commit } = step;
    if (kind === 'run') return { stream: 'RUNS', subject: subjects.run(commit.runId), sequence: index + 1, commit };
    const subject = subjects.attempt(step.commit, step.subject);
    return { stream: 'ATTEMPTS', subject, sequence: index + 1, commit };
  });
  return records.toSorted((a, b) => (a.stream === b.stream ? a.sequence - b.sequence : a.stream === 'RUNS' ? -1 : 1));
}

const star = (id: string) => ({
  id,
  name: id,
  description: '',
  tips: [],
  target: { device: 'web-1' },
  command: { tool: 'EXEC_CLI', arguments: { command: `echo ${id}` } },
});
const line = (from: string, to: string) => ({ id: `${from}-${to}`, from, to, type: 'unconditional' as const });
const PLAN: TaskConstellation = {
  name: 'plan',
  tasks: [star('a'), star('b'), star('c')],
  lines: [line('a', 'b'), line('b', 'c')],
};

class Told extends History {
  constructor() {
    super(RUN);
    const requested: RunEventData<'RUN_REQUESTED'> = {
      requestId: REQUEST_ID,
      namespace: 'default',
      contentHash: 'c'.repeat(64),
      goal: null,
      constellation: PLAN,
      options: { editPolicy: 'every-result', lockPolicy: 'scoped' },
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
    this.decide([{ kind: 'proposal', proposal, by: PLANNER, planHash: null }]);
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
const edited = () =>
  new Told()
    .ends('a')
    .proposes(1, { edits: [{ tool: 'remove_task', taskId: 'a' }] })
    .proposes(2, { edits: [...ADD] });

type Groups = RunEvent[][];
/** The events of each commit, to alter at will. */
function groupsOf(steps: readonly HistoryStep[]): Groups {
  return structuredClone(runCommitsOf(steps)).map(({ events }) =>
    events.map(({ type, data }) => ({ type, data }) as RunEvent),
  );
}

/** The findings after somebody altered the events and made all hashes again. */
function altered({ steps }: History, alter: (groups: Groups) => void): string {
  const groups = groupsOf(steps);
  alter(groups);
  const attempts = recordsOf(steps).filter(({ stream }) => stream === 'ATTEMPTS');
  const { findings } = auditRun(RUN, [...sealRun(groups, RUN), ...attempts]);
  return findings.map(findingText).join('\n');
}

function dataOf<T extends RunEvent['type']>(groups: Groups, type: T): RunEventData<T> {
  const found = groups.flat().find((event) => event.type === type);
  if (found === undefined) throw new Error(`there is no ${type}`);
  return found.data as RunEventData<T>;
}

describe('runs that are edited while they run', () => {
  it.each(Array.from({ length: 40 }, (_, index) => index + 1))('are as they were written (history %i)', (seed) => {
    const steps = generateEditedHistory({ seed, goal: seed % 3 === 0 });
    const [first] = runCommitsOf(steps);
    expect(auditRun(first?.runId ?? '', recordsOf(steps)).findings.map(findingText)).toEqual([]);
  });

  it('are as they were written, step by step', () => {
    const steps = edited().ends('b', true).obeys({ verb: 'PAUSE' }).obeys({ verb: 'RESUME' }).steps;
    const records = recordsOf(steps);
    for (let count = 1; count <= steps.length; count++) {
      const upTo = records.filter(({ sequence }) => sequence <= count);
      const starts = upTo.filter(({ stream }) => stream === 'RUNS').length;
      if (steps[count - 1]?.kind === 'run') expect([starts, auditRun(RUN, upTo).findings]).toEqual([starts, []]);
    }
  });

  it('are noticed when their tasks are started in spite of the lock', () => {
    const finding = altered(edited(), (groups) => {
      const start = groups[3]?.find(({ type }) => type === 'TASK_STARTED');
      if (start !== undefined) groups[1]?.push(start);
    });
    expect(finding).toContain('TASK_STARTED of b: it is held by the open round e1');
  });

  it('are noticed when their tasks are skipped in spite of the lock', () => {
    const finding = altered(edited(), (groups) => {
      const lines = dataOf(groups, 'TASK_COMPLETED').lines;
      if (lines[0] !== undefined) lines[0] = { id: 'a-b', satisfied: false, reason: 'so' };
      groups[1]?.push({
        type: 'TASK_SKIPPED',
        data: { taskId: 'b', by: 'failure', lineId: 'a-b', reason: 'so', lines: [], skippedAt: AT },
      });
    });
    expect(finding).toContain('TASK_SKIPPED of b: it is held by the open round e1');
  });

  const reject: [string, (groups: Groups) => void, string][] = [
    [
      'a round that was not opened',
      (groups) => void groups[1]?.splice(1),
      'commit 2: the planner has something to look at, and no round was opened',
    ],
    [
      'a second round',
      (groups) => groups[1]?.push({ type: 'EDIT_OPENED', data: { ...dataOf(groups, 'EDIT_OPENED'), editId: 'e2' } }),
      'EDIT_OPENED: the round e1 is open',
    ],
    [
      'a round out of turn',
      (groups) => Object.assign(dataOf(groups, 'EDIT_OPENED'), { editId: 'e7' }),
      'EDIT_OPENED: it is the round e7, the next one is e1',
    ],
    [
      'a round about something else',
      (groups) => Object.assign(dataOf(groups, 'EDIT_OPENED'), { triggers: [{ kind: 'end-of-plan' }] }),
      'EDIT_OPENED: its triggers are not what the planner had not looked at yet',
    ],
    [
      'a creation of what is there',
      (groups) => Object.assign(dataOf(groups, 'EDIT_OPENED'), { mode: 'creation' }),
      'EDIT_OPENED: its mode is creation, and the run has a constellation',
    ],
    [
      'a round of another revision',
      (groups) => Object.assign(dataOf(groups, 'EDIT_OPENED'), { revision: 2 }),
      'EDIT_OPENED: revision 2 after revision 1, where 1 is due',
    ],
    [
      'a refusal in a round that is not open',
      (groups) => Object.assign(dataOf(groups, 'EDIT_REJECTED'), { editId: 'e9' }),
      'EDIT_REJECTED: the round e9 is not open; e1 is',
    ],
    [
      'a lock that is loosened',
      (groups) => {
        const data = dataOf(groups, 'EDIT_REJECTED');
        groups[2]?.push({ type: 'EDIT_REJECTED', data: { ...data, try: 2, lockPolicy: 'scoped' } });
      },
      'EDIT_REJECTED: it loosens the lock',
    ],
    [
      'a try that was judged before',
      (groups) => Object.assign(modified(groups), { try: 1 }),
      'CONSTELLATION_MODIFIED: try 1 was judged before',
    ],
    [
      'more refusals than repairs are allowed',
      (groups) => {
        const data = dataOf(groups, 'EDIT_REJECTED');
        for (const number of [2, 3, 4]) groups[2]?.push({ type: 'EDIT_REJECTED', data: { ...data, try: number } });
      },
      'commit 3: 4 tries of the round e1 were refused, and it is still open',
    ],
    [
      'a round that was given up before its deadline',
      (groups) =>
        groups[2]?.push({
          type: 'EDIT_ABANDONED',
          data: { editId: 'e1', reason: { code: 'DEADLINE', message: 'late' }, abandonedAt: AT },
        }),
      'EDIT_ABANDONED: its deadline is 2026-01-01T00:01:30.000Z',
    ],
    [
      'a round that was given up too soon',
      (groups) =>
        groups[2]?.push({
          type: 'EDIT_ABANDONED',
          data: { editId: 'e1', reason: { code: 'REPAIRS_EXHAUSTED', message: 'no' }, abandonedAt: LATE },
        }),
      'EDIT_ABANDONED: only 1 tries were refused',
    ],
    [
      'an edit that keeps the revision',
      (groups) => Object.assign(modified(groups), { revision: 1 }),
      'CONSTELLATION_MODIFIED: revision 1 after revision 1, where 2 is due',
    ],
    [
      'an edit that changes nothing and gets a revision',
      (groups) => Object.assign(modified(groups), { edits: [], judged: [], tasks: 3, lines: 2 }),
      'CONSTELLATION_MODIFIED: revision 2 after revision 1, where 1 is due',
    ],
    [
      'an edit of a task that had ended',
      (groups) => Object.assign(modified(groups), { edits: [{ tool: 'remove_task', taskId: 'a' }] }),
      'CONSTELLATION_MODIFIED: it cannot be applied: I3_ONLY_PENDING edits[0].taskId',
    ],
    [
      'an edit that makes a cycle',
      (groups) => Object.assign(modified(groups), { edits: [{ tool: 'add_dependency', line: line('c', 'b') }] }),
      'CONSTELLATION_MODIFIED: it cannot be applied: I2_ACYCLIC',
    ],
    [
      'an edit of nobody',
      (groups) => delete modified(groups).proposedBy,
      'CONSTELLATION_MODIFIED: it does not say who proposed it',
    ],
    [
      'an edit with other counts',
      (groups) => Object.assign(modified(groups), { tasks: 9 }),
      'CONSTELLATION_MODIFIED: its counts are not those of the constellation',
    ],
    [
      'an edit that leaves a line open whose task had ended',
      (groups) => Object.assign(modified(groups), { judged: [] }),
      'CONSTELLATION_MODIFIED: it does not judge the lines whose tasks had ended',
    ],
    [
      'a round in a run whose planner is never asked',
      (groups) => Object.assign(dataOf(groups, 'RUN_REQUESTED'), { options: { editPolicy: 'never' } }),
      'EDIT_OPENED: the run takes no edits of a planner',
    ],
    [
      'a round in a run that is paused',
      (groups) => groups[1]?.splice(1, 0, { type: 'RUN_PAUSED', data: { by: 'system', reason: 'dlq', pausedAt: AT } }),
      'EDIT_OPENED: the run is paused',
    ],
    [
      'an edit of an operator under the name of the planner',
      (groups) => delete modified(groups).editId,
      'CONSTELLATION_MODIFIED: its origin is planner, which does not fit its round',
    ],
  ];
  it.each(reject)('are noticed when there is %s', (_, alter, finding) =>
    expect(altered(edited(), alter)).toContain(finding),
  );
});

/** The edit, not the creation. */
function modified(groups: Groups): RunEventData<'CONSTELLATION_MODIFIED'> {
  const found = groups.flat().findLast((event) => event.type === 'CONSTELLATION_MODIFIED');
  if (found === undefined) throw new Error('there is no edit');
  return found.data as RunEventData<'CONSTELLATION_MODIFIED'>;
}

describe('what people do to runs', () => {
  const cancelled = () => new Told().obeys({ verb: 'CANCEL', reason: 'enough' }).ends('a');
  const finished = () => new Told().ends('a').proposes(1, {}).ends('b', true).proposes(1, { state: 'FINISH' });
  const retried = () => cancelled().obeys({ verb: 'RETRY', taskId: 'a' });

  it('is legal as the orchestrator decides it', () => {
    for (const history of [
      cancelled(),
      retried(),
      finished(),
      new Told().obeys({ verb: 'RETRY', taskId: 'a' }).ends('a'),
    ]) {
      expect(auditRun(RUN, recordsOf(history.steps)).findings.map(findingText)).toEqual([]);
    }
  });

  const counts = { completed: 0, failed: 0, skipped: 0, cancelled: 3 };
  const cases: [string, () => History, (groups: Groups) => unknown, string][] = [
    [
      'a start while the run is paused',
      () => new Told(),
      (groups) => groups[0]?.splice(2, 0, { type: 'RUN_PAUSED', data: { by: 'system', reason: 'dlq', pausedAt: AT } }),
      'TASK_STARTED of a: the run is paused',
    ],
    [
      'a pause of nobody',
      () => new Told().obeys({ verb: 'PAUSE' }),
      (groups) => delete dataOf(groups, 'RUN_PAUSED').actor,
      'RUN_PAUSED does not say who did it',
    ],
    [
      'a run that goes on without having been paused',
      () => new Told(),
      (groups) => groups.push([{ type: 'RUN_RESUMED', data: { by: OPERATOR, resumedAt: AT } }]),
      'RUN_RESUMED: the run is not paused',
    ],
    [
      'an end that is taken back for nothing',
      retried,
      (groups) => void groups[3]?.splice(1),
      'RUN_REOPENED opens no task again',
    ],
    [
      'an end that is taken back before it came',
      () => new Told(),
      (groups) => groups.push([{ type: 'RUN_REOPENED', data: { by: OPERATOR, reopenedAt: AT, deadlineAt: LATE } }]),
      'RUN_REOPENED: the run has not ended',
    ],
    [
      'a task that runs and is cancelled unasked',
      cancelled,
      (groups) => groups[1]?.splice(0, 1),
      'TASK_CANCELLED of a: it runs and nobody asked it to stop',
    ],
    [
      'a task that is cancelled for another reason',
      cancelled,
      (groups) => {
        const [event] = groups[2] ?? [];
        if (event?.type === 'TASK_CANCELLED') event.data.reason = 'run_deadline';
      },
      'TASK_CANCELLED of a: it was told to stop for another reason (cancelled)',
    ],
    [
      'a stop of nobody',
      cancelled,
      (groups) => delete dataOf(groups, 'TASK_STOP_REQUESTED').by,
      'TASK_STOP_REQUESTED of a: it does not say who asked for it',
    ],
    [
      'a stop that is asked for twice',
      cancelled,
      (groups) => groups[1]?.push({ type: 'TASK_STOP_REQUESTED', data: dataOf(groups, 'TASK_STOP_REQUESTED') }),
      'TASK_STOP_REQUESTED of a: it was told to stop before (cancelled)',
    ],
    [
      'an output that the stopped attempt never made',
      cancelled,
      (groups) => {
        const [event] = groups[2] ?? [];
        if (event?.type === 'TASK_CANCELLED') event.data.output = { value: 'better' };
      },
      'TASK_CANCELLED of a: the result is not the one that attempt 1 recorded',
    ],
    [
      'a run that ends for another reason',
      cancelled,
      (groups) =>
        groups[2]?.splice(1, 1, {
          type: 'RUN_FAILED',
          data: { reason: { code: 'X1', message: 'no' }, counts, failedAt: AT },
        }),
      'RUN_FAILED: the run was to end as cancelled',
    ],
    [
      'another try of what completed',
      () => new Told().ends('a'),
      (groups) =>
        groups.push([
          { type: 'TASK_REOPENED', data: { taskId: 'a', attempt: 1, reason: 'operator', by: OPERATOR, notBefore: AT } },
        ]),
      'TASK_REOPENED of a: it is COMPLETED',
    ],
    [
      'another try that nobody asked for',
      retried,
      (groups) => delete dataOf(groups, 'TASK_REOPENED').by,
      'TASK_REOPENED of a: it does not say who asked for it',
    ],
    [
      'another try that no policy allows',
      retried,
      (groups) => Object.assign(dataOf(groups, 'TASK_REOPENED'), { reason: 'retry_policy' }),
      'TASK_REOPENED of a: it is CANCELLED, and a retry policy is for what FAILED',
    ],
    [
      'a line that is open again though its task has run',
      retried,
      (groups) => Object.assign(dataOf(groups, 'TASK_REOPENED'), { lines: ['b-c'] }),
      'TASK_REOPENED of a: line b-c cannot be open again',
    ],
    [
      'a task that was stopped for another try and got none',
      () => new Told().obeys({ verb: 'RETRY', taskId: 'a' }).ends('a'),
      (groups) => void groups[2]?.splice(1),
      'TASK_CANCELLED of a: it was to be tried again and is not open',
    ],
    [
      'another try before its time',
      retried,
      (groups) => Object.assign(dataOf(groups, 'TASK_REOPENED'), { notBefore: LATE }),
      `TASK_STARTED of a: it may not start before ${LATE}`,
    ],
    [
      'an end in the middle of a round',
      finished,
      (groups) => groups.at(-1)?.shift(),
      'the run ends while the edit round e2 is open',
    ],
    [
      'an outcome that is better than the tasks',
      finished,
      (groups) => Object.assign(dataOf(groups, 'RUN_COMPLETED'), { outcome: 'succeeded' }),
      'the outcome is succeeded, and 1 tasks failed',
    ],
    [
      'a fork in the middle',
      () => new Told(),
      (groups) => {
        const steps = forkHistory(new Told().steps, { at: 3, seed: 1 });
        const [event] = runCommitsOf(steps)[0]?.events ?? [];
        if (event?.type === 'RUN_FORKED') groups.push([{ type: event.type, data: event.data }]);
      },
      'RUN_FORKED is not the first event',
    ],
    [
      'something after the end',
      cancelled,
      (groups) => groups.push([{ type: 'RUN_PAUSED', data: { by: 'system', reason: 'x', pausedAt: AT } }]),
      'RUN_PAUSED comes after the end of the run',
    ],
  ];
  it.each(cases)('is noticed when there is %s', (_, history, alter, finding) =>
    expect(altered(history(), alter)).toContain(finding),
  );
});

describe('a forked run', () => {
  const parent = generateEditedHistory({ seed: 12, tasks: 6 });
  const sequences = runCommitsOf(parent).map(({ events }) => events.at(-1)?.sequence ?? 0);
  const auditedFork = (at: number, alter: (records: ExportRecord[]) => ExportRecord[] | undefined = (same) => same) => {
    const steps = forkHistory(parent, { at, seed: at });
    const runId = runCommitsOf(steps)[0]?.runId ?? '';
    return auditRun(runId, recordsOf(steps), alter(structuredClone(recordsOf(parent))));
  };

  it.each(sequences)('begins where its parent stood after event %i', (at) => {
    const { findings, unchecked } = auditedFork(at);
    expect([findings.map(findingText), unchecked]).toEqual([[], []]);
  });

  it('says that nothing was compared when its parent is not at hand', () => {
    const { ok, unchecked } = auditedFork(sequences[2] ?? 0, () => undefined);
    expect([ok, unchecked]).toEqual([
      true,
      [expect.stringMatching(/^forked from event \d+ of run \w+, which is not there/u)],
    ]);
  });

  const altering: [string, (records: ExportRecord[]) => ExportRecord[], RegExp][] = [
    ['has no such commit', (records) => records.slice(0, 1), /which has no such commit$/u],
    [
      'has another hash there',
      (records) => {
        const last = records[2];
        if (last !== undefined) Object.assign(last.commit as object, { hash: 'f'.repeat(64) });
        return records;
      },
      /commit 3 of its parent, run \w+, has another hash than it had when it was forked$/u,
    ],
    [
      'was changed further up',
      (records) => {
        const [first] = records;
        if (first !== undefined) Object.assign(first.commit as object, { at: LATE });
        return records;
      },
      /the history of its parent, run \w+, was changed: commit 1/u,
    ],
  ];
  it.each(altering)('is noticed when its parent %s', (_, alter, finding) => {
    const { ok, findings } = auditedFork(sequences[2] ?? 0, alter);
    expect([ok, findings[0]?.message]).toEqual([false, expect.stringMatching(finding)]);
  });

  it('is noticed when it took over what its parent never had', () => {
    const steps = forkHistory(parent, { at: sequences[3] ?? 0, seed: 3 });
    const groups = groupsOf(steps);
    const data = dataOf(groups, 'RUN_FORKED');
    const [task] = data.tasks;
    if (task === undefined) throw new Error('the parent has no task');
    task.result = { value: 'better' };
    data.revision = 77;
    const runId = runCommitsOf(steps)[0]?.runId ?? '';
    const { findings } = auditRun(runId, sealRun(groups.slice(0, 1), runId), recordsOf(parent));
    expect(findings.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^its revision is not that of run/u),
        expect.stringMatching(/^its task t0 is not the one of run/u),
      ]),
    );
  });

  it('has the id that follows from its parent and its request', () => {
    const steps = forkHistory(parent, { at: sequences[1] ?? 0, seed: 4 });
    const runId = runIdOf('default', 'fork-4');
    const { findings } = auditRun(runId, sealRun(groupsOf(steps), runId));
    expect(findings[0]?.message).toMatch(/^the fork "fork-4" is the run [0-9a-z]{26}$/u);
  });

  it('takes inputs from the run that made them, and from no other', () => {
    const parentRun = new Told().ends('a').run;
    const forked = forkedFrom({ run: parentRun, by: OPERATOR, requestId: 'f', now: Date.parse(AT) });
    const fork = new History(runIdOf(`fork:${RUN}`, 'f'));
    fork.decide([{ kind: 'fork', id: 'f', forked }]);
    const proposal: Proposal = { editId: 'e1', try: 1, baseRevision: null, state: 'CONTINUE', edits: [] };
    fork.decide([{ kind: 'proposal', proposal, by: PLANNER, planHash: null }]);
    const { runId: own } = fork.run;
    const withInput = (runId: string | undefined, attempt = 1): string[] => {
      const groups = groupsOf(fork.steps);
      const input = { taskId: 'a', attempt, ...(runId === undefined ? {} : { runId }) };
      dataOf(groups, 'TASK_STARTED').inputs = [input];
      return auditRun(own, sealRun(groups, own)).findings.map(({ message }) => message);
    };
    expect(withInput(RUN)).toEqual([]);
    expect(withInput(RUN, 2)[0]).toMatch(/it takes attempt 2 of a, the last one is 1$/u);
    expect(withInput(undefined)[0]).toMatch(/it takes the output of a in this run, but it ran in run \w+$/u);
  });
});
