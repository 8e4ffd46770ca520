import { describe, expect, it } from '@jest/globals';
import type { RunEventData } from '#proto';
import { generateEditedHistory, runCommitsOf, editedRun } from '#libs/testing';
import { auditRun } from './audit-run.js';
import { findingText } from './findings.js';

const { altered, AT, dataOf, edited, LATE, line, recordsOf, RUN } = editedRun;
type Groups = editedRun.Groups;

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
      // A truth that rests on more than the event holds.
      const line = dataOf(groups, 'RUN_REQUESTED').constellation?.lines[0];
      Object.assign(line ?? {}, { type: 'conditional', condition: 'result.lines().size() > 5' });
      const lines = dataOf(groups, 'TASK_COMPLETED').lines;
      if (lines[0] !== undefined) lines[0] = { id: 'a-b', satisfied: false, reason: 'so' };
      groups[1]?.push({
        type: 'TASK_SKIPPED',
        data: { taskId: 'b', by: 'failure', lineId: 'a-b', reason: 'so', lines: [], skippedAt: AT },
      });
    });
    expect(finding).toContain('TASK_SKIPPED of b: it is held by the open round e1');
  });

  it.each([
    [
      'undecided',
      { id: 'a-b', satisfied: false, undecided: true, reason: 'so' } as const,
      'it is held by the open round e1',
    ],
    ['known', { id: 'a-b', satisfied: true } as const, 'no line into it is undecided'],
  ])('are noticed when they fail for a line that is %s', (_, line, said) => {
    const finding = altered(edited(), (groups) => {
      dataOf(groups, 'TASK_COMPLETED').lines[0] = line;
      const error = { code: 'CONDITION_UNDECIDABLE', message: 'so', outcome: 'failed' } as const;
      const data = { taskId: 'b', attempt: 0, error, lines: [], failedAt: AT, attemptHash: null };
      groups[1]?.push({ type: 'TASK_FAILED', data });
    });
    expect(finding).toContain(`TASK_FAILED of b: ${said}`);
  });

  it('are noticed when a line was judged otherwise than the result says', () => {
    const finding = altered(edited(), (groups) => {
      dataOf(groups, 'TASK_COMPLETED').lines[0] = { id: 'a-b', satisfied: false, reason: 'so' };
    });
    expect(finding).toContain(
      'TASK_COMPLETED of a: line a-b is not satisfied, it says, and its own result says otherwise',
    );
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
      'a second creation',
      (groups) => groups.push([{ type: 'CONSTELLATION_MODIFIED', data: dataOf(groups, 'CONSTELLATION_MODIFIED') }]),
      'CONSTELLATION_MODIFIED: the run has a constellation, and no edits are named',
    ],
    [
      'a creation out of nothing',
      (groups) => Object.assign(dataOf(groups, 'RUN_REQUESTED'), { goal: 'x', constellation: null }),
      'CONSTELLATION_MODIFIED: the request had no constellation, and no edits are named',
    ],
    [
      'an edit of an operator before there is anything to edit',
      (groups) => {
        Object.assign(dataOf(groups, 'RUN_REQUESTED'), { goal: 'x', constellation: null });
        const { editId: _, ...data } = modified(groups);
        groups[0]?.splice(1, 2, { type: 'CONSTELLATION_MODIFIED', data: { ...data, origin: 'operator' } });
      },
      'CONSTELLATION_MODIFIED: there is no constellation yet',
    ],
    [
      'a refusal of what was refused before',
      (groups) => groups[2]?.push({ type: 'EDIT_REJECTED', data: dataOf(groups, 'EDIT_REJECTED') }),
      'EDIT_REJECTED: try 1 was judged before; the last one is 1',
    ],
    [
      'an end of a round that is not open',
      (groups) =>
        groups[2]?.push({
          type: 'EDIT_ABANDONED',
          data: { editId: 'e9', reason: { code: 'RUN_ENDING', message: 'no' }, abandonedAt: AT },
        }),
      'EDIT_ABANDONED: the round e9 is not open; e1 is',
    ],
    [
      'an edit in a round that is not open',
      (groups) => Object.assign(modified(groups), { editId: 'e9' }),
      'CONSTELLATION_MODIFIED: the round e9 is not open; e1 is',
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
  return found.data;
}
