import { describe, expect, it } from '@jest/globals';
import type { RunEvent, RunEventData } from '#proto';
import { auditRun } from './audit-run.js';
import { findingText } from './findings.js';
import { owedRound } from './rounds.js';
import { editedRun } from '#libs/testing';

const { altered, AT, edited, PLANNER, recordsOf, RUN, star, Told } = editedRun;
type Told = editedRun.Told;
type Groups = editedRun.Groups;

const modified = (groups: Groups): RunEventData<'CONSTELLATION_MODIFIED'> => {
  const found = groups.flat().findLast((event) => event.type === 'CONSTELLATION_MODIFIED');
  if (found === undefined) throw new Error('there is no edit');
  return found.data;
};
const startOf = (groups: Groups, taskId: string): RunEventData<'TASK_STARTED'> => {
  const found = groups.flat().find((event) => event.type === 'TASK_STARTED' && event.data.taskId === taskId);
  if (found?.type !== 'TASK_STARTED') throw new Error(`${taskId} was not started`);
  return found.data;
};

/** a ends, and whoever acts for the operator lets d follow it. */
const delegated = () =>
  new Told().obeys({
    verb: 'PROPOSE',
    proposal: {
      editId: null,
      try: 1,
      baseRevision: null,
      state: 'CONTINUE',
      edits: [{ tool: 'add_task', task: star('d') }],
    },
    delegated: true,
  });

/** a fails, and so does the run, which says so. */
const failed = () =>
  new Told().ends('a', true).proposes(1, { state: 'FAIL', answer: { text: 'all is well', evidence: ['a'] } });

describe('who is believed', () => {
  it('is as it was written', () => {
    for (const { steps } of [edited(), delegated(), failed()]) {
      expect(auditRun(RUN, recordsOf(steps)).findings.map(findingText)).toEqual([]);
    }
  });

  it.each<[string, () => Told, (groups: Groups) => void, string]>([
    [
      'an edit of a model is not judged any more',
      edited,
      (groups) => Object.assign(modified(groups), { source: 'model' }),
      'CONSTELLATION_MODIFIED: it comes from a model, and what it adds is not judged',
    ],
    [
      'an edit of a rule is judged',
      edited,
      (groups) => Object.assign(modified(groups), { judgeCommands: true }),
      'CONSTELLATION_MODIFIED: it comes from a rule, and what it adds is judged',
    ],
    [
      'an edit comes from a runbook, and the planner says otherwise',
      edited,
      (groups) => Object.assign(modified(groups), { source: 'runbook' }),
      'CONSTELLATION_MODIFIED: it says that it comes from a runbook; it was proposed by a rule',
    ],
    [
      'a program has edited without being judged',
      delegated,
      (groups) => {
        const data = modified(groups);
        data.proposedBy = PLANNER;
        delete data.judgeCommands;
        delete startOf(groups, 'd').judge;
      },
      'CONSTELLATION_MODIFIED: planner is a program, and what it proposed is not judged',
    ],
    [
      'a task starts unjudged that a model may have written',
      delegated,
      (groups) => delete startOf(groups, 'd').judge,
      'TASK_STARTED of d: it was to be judged, and is started unjudged',
    ],
    [
      'a task is judged that no model wrote',
      delegated,
      (groups) => Object.assign(startOf(groups, 'a'), { judge: true }),
      'TASK_STARTED of a: it is judged, and who wrote it is trusted',
    ],
    [
      'a model has gone where the plan was not made for',
      delegated,
      (groups) => {
        modified(groups).edits = [{ tool: 'add_task', task: { ...star('d'), target: { device: 'pay-1' } } }];
      },
      'CONSTELLATION_MODIFIED: OUT_OF_SCOPE edits[0].task.target: "d" would run on device "pay-1"',
    ],
    [
      'a run waits for the word on a plan that nobody wanted to see',
      delegated,
      (groups) => {
        const pause: RunEvent = {
          type: 'RUN_PAUSED',
          data: { by: 'system', reason: 'so', pausedAt: AT, waitsFor: 'plan_approval' },
        };
        groups.push([pause]);
      },
      'RUN_PAUSED: nobody wanted to see the plan',
    ],
    [
      'an answer keeps back what failed',
      failed,
      (groups) => {
        const end = groups.flat().findLast((event) => event.type === 'RUN_FAILED');
        if (end?.type === 'RUN_FAILED' && end.data.answer !== undefined) end.data.answer.failures = [];
      },
      'the answer does not say that a is FAILED',
    ],
  ])('is noticed when %s', (_, told, alter, finding) => expect(altered(told(), alter)).toContain(finding));
});

describe('a planner that has to look at something', () => {
  const { run } = edited();
  const queued = [{ kind: 'task', taskId: 'a', attempt: 1 } as const];
  const withBudget = (llmCalls: number) => {
    if (run.request === null) throw new Error('the run has no request');
    const request = { ...run.request, options: { ...run.request.options, budget: { llmCalls } } };
    return { ...run, editing: null, queued, request, used: { ...run.used, llmCalls: 1 } };
  };

  it('is owed a round as long as something is left for it', () => {
    expect(owedRound(withBudget(2))).toContain('no round was opened');
  });

  it('is owed none when its budget is used up, or given out for now', () => {
    expect(owedRound(withBudget(1))).toBeUndefined();
    expect(owedRound({ ...withBudget(3), granted: { ...run.granted, llmCalls: 2 } })).toBeUndefined();
  });
});
