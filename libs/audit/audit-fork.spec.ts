import { describe, expect, it } from '@jest/globals';
import { NO_USAGE, type Proposal, type RunEventData } from '#proto';
import { forkedFrom } from '#libs/constellation';
import { runIdOf } from '#libs/event-log';
import { forkHistory, generateEditedHistory, History, runCommitsOf, editedRun, sampleRun } from '#libs/testing';
import { auditRun } from './audit-run.js';
import type { ExportRecord } from './export-file.js';
import { findingText } from './findings.js';

const { AT, dataOf, groupsOf, LATE, OPERATOR, PLANNER, recordsOf, RUN, star, Told } = editedRun;
const { sealRun } = sampleRun;

/** A goal for which a runbook fitted. */
class Goal extends History {
  constructor() {
    super(runIdOf('default', 'goal'));
    const requested: RunEventData<'RUN_REQUESTED'> = {
      requestId: 'goal',
      namespace: 'default',
      contentHash: 'c'.repeat(64),
      goal: 'look after the disks',
      constellation: null,
      options: {},
      metadata: {},
      requestedBy: OPERATOR,
      requestedAt: AT,
      deadlineAt: '2026-01-02T00:00:00.000Z',
    };
    this.decide([{ kind: 'submit', requested }]);
    const edits = [{ tool: 'add_task', task: star('a') }] as const;
    const proposal: Proposal = { editId: 'e1', try: 1, baseRevision: 0, state: 'CONTINUE', edits: [...edits] };
    this.decide([this.proposing(proposal, 'runbook')]);
  }
}

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

  const claims: [string, RunEventData<'RUN_FORKED'>['planSource'], readonly string[]][] = [
    ['what its plan came from', 'runbook', []],
    ['nothing of it, as in earlier days', undefined, []],
    ['something else', 'model', ['planSource']],
  ];
  it.each(claims)('is compared with its parent when it says %s', (_, planSource, wrong) => {
    const history = new Goal();
    const { number, sequence, hash } = history.run;
    const groups = groupsOf(forkHistory(history.steps, { at: sequence, seed: 6 })).slice(0, 1);
    const data = dataOf(groups, 'RUN_FORKED');
    expect(data).toMatchObject({ planSource: 'runbook', parent: { number, hash } });
    if (planSource === undefined) delete data.planSource;
    else data.planSource = planSource;
    const own = runIdOf(`fork:${history.run.runId}`, 'fork-6');
    const { findings } = auditRun(own, sealRun(groups, own), recordsOf(history.steps));
    const messages = findings.map(({ message }) => message);
    expect(messages).toEqual(wrong.map((field) => expect.stringMatching(`^its ${field} is not that of run`)));
  });

  it('is noticed when it lets its model go further than its parent did, or forgets who is waited for', () => {
    const history = new Goal();
    const groups = groupsOf(forkHistory(history.steps, { at: history.run.sequence, seed: 7 })).slice(0, 1);
    Object.assign(dataOf(groups, 'RUN_FORKED'), { scope: null, waitsFor: 'plan_approval', blackboard: [] });
    const own = runIdOf(`fork:${history.run.runId}`, 'fork-7');
    const messages = auditRun(own, sealRun(groups, own), recordsOf(history.steps)).findings.map(
      ({ message }) => message,
    );
    for (const field of ['scope', 'waitsFor', 'blackboard']) {
      expect(messages).toContainEqual(expect.stringMatching(`^its ${field} is not that of run`));
    }
  });

  it.each([
    ['makes no sense', (data: RunEventData<'TASK_COMPLETED'>) => Object.assign(data, { taskId: 'ghost' })],
    ['is no history', (data: RunEventData<'TASK_COMPLETED'>) => Object.assign(data, { attempt: 'first' })],
  ])('is noticed when the history of its parent %s', (_, alter) => {
    const history = groupsOf(new Told().ends('a').steps);
    alter(dataOf(history, 'TASK_COMPLETED'));
    const records = sealRun(history, RUN);
    const { hash } = (records[1]?.commit ?? {}) as { hash?: string };
    const groups = groupsOf(forkHistory(new Told().ends('a').steps, { at: 5, seed: 5 })).slice(0, 1);
    Object.assign(dataOf(groups, 'RUN_FORKED').parent, { hash });
    const own = runIdOf(`fork:${RUN}`, 'fork-5');
    const messages = auditRun(own, sealRun(groups, own), records).findings.map(({ message }) => message);
    expect(messages).toContain(`the history of its parent, run ${RUN}, cannot be read up to commit 2`);
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
    fork.decide([{ kind: 'proposal', proposal, by: PLANNER, planHash: null, source: 'rule', used: NO_USAGE }]);
    const { runId: own } = fork.run;
    const withInput = (runId: string | undefined, attempt = 1, taskId = 'a'): string[] => {
      const groups = groupsOf(fork.steps);
      const input = { taskId, attempt, ...(runId === undefined ? {} : { runId }) };
      dataOf(groups, 'TASK_STARTED').inputs = [input];
      return auditRun(own, sealRun(groups, own)).findings.map(({ message }) => message);
    };
    expect(withInput(RUN)).toEqual([]);
    expect(withInput(RUN, 2)[0]).toMatch(/it takes attempt 2 of a, the last one is 1$/u);
    expect(withInput(RUN, 1, 'ghost')[0]).toMatch(/it takes the output of "ghost", which is no task of this run$/u);
    expect(withInput(undefined)[0]).toMatch(/it takes the output of a in this run, but it ran in run \w+$/u);
  });
});
