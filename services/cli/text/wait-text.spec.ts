import { describe, expect, it } from '@jest/globals';
import type { RunView, WaitingFor } from '#proto';
import { APPROVAL_ID, approvalOf, COMMAND_ASK, QUESTION_ASK } from '../testing/sample-asks.js';
import { waitLines } from './wait-text.js';

const RUN = 'run-1';
const AT = '2026-11-20T12:05:00.000Z';

function shown(reason: WaitingFor['reason'], approvals: RunView['approvals'] = [], detail = 'something'): string[] {
  const waitingFor: WaitingFor = { reason, detail, wokenBy: 'operator', wakesAt: AT };
  return waitLines({ runId: RUN, waitingFor, approvals });
}
const WHY = `waiting for something; woken by an operator, at the latest 2026-11-20 12:05:00Z`;

describe('what a person is told who follows a run that waits', () => {
  it.each([
    ['an approval', approvalOf(COMMAND_ASK), `  orrery approve ${APPROVAL_ID}   or: orrery reject ${APPROVAL_ID}`],
    ['a question', approvalOf(QUESTION_ASK), `  orrery answer ${APPROVAL_ID} "..."   or: orrery reject ${APPROVAL_ID}`],
  ])('%s with its id and how it is decided', (_, open, words) => {
    expect(shown('approval', [approvalOf(COMMAND_ASK, { state: 'approved' }), open])).toEqual([WHY, words]);
  });

  it('a plan that nobody has accepted, and a run that somebody has paused', () => {
    const go = `  orrery resume ${RUN}   or: orrery cancel ${RUN}`;
    expect(shown('approval')).toEqual([WHY, go, `  orrery plan ${RUN}`]);
    expect(shown('paused')).toEqual([WHY.replace('waiting for', 'paused:'), go]);
  });

  it('a device, the next try, the budget: who makes it go on, and when at the latest', () => {
    expect(shown('device')).toEqual([WHY, '  orrery devices']);
    expect(shown('backoff')).toEqual([WHY]);
    expect(shown('budget')).toEqual([WHY]);
  });

  it('not more than fits: the rest are counted', () => {
    const open = Array.from({ length: 5 }, () => approvalOf(COMMAND_ASK));
    expect(shown('approval', open)).toHaveLength(5);
    expect(shown('approval', open).at(-1)).toBe('  orrery approvals   (2 more)');
  });

  it('nothing while it is at work, planned, or over, and never an escape sequence', () => {
    expect(shown('running_tasks')).toEqual([]);
    expect(shown('planner')).toEqual([]);
    expect(waitLines({ runId: RUN, waitingFor: null, approvals: [] })).toEqual([]);
    expect(shown('device', [], 'a\u001B[2Jb\nc').join('')).not.toContain('\u001B');
    expect(shown('device', [], 'a\nb')).toHaveLength(2);
  });
});
