import { describe, expect, it } from '@jest/globals';
import { DEFAULTS, type RunOptions } from '#proto';
import { checkSubmission, requestedOf } from './submission.js';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const star = { id: 'a', name: 'a', description: '', tips: [], target: { device: 'web-1' } };
const GOAL = { requestId: 'r', goal: 'look after the disks' };
const GIVEN = { requestId: 'r', constellation: { name: 'x', tasks: [star], lines: [] } };

function requested(request: object, options: RunOptions, planApproval?: 'required') {
  const submission = checkSubmission({ ...request, options }, 'default', 100);
  if (!submission.ok) throw new Error(submission.refusal.message);
  return requestedOf(
    { ...submission, planApproval },
    { actor: { kind: 'external', id: 'default' }, trusted: true },
    NOW,
  );
}

describe('the first fact of a run', () => {
  it.each<[string, object, RunOptions, RunOptions]>([
    ['of a goal what it allows by default', GOAL, {}, { rounds: DEFAULTS.rounds }],
    ['of a goal what was asked for', GOAL, { rounds: 0 }, { rounds: 0 }],
    ['nothing of a constellation that nobody plans', GIVEN, {}, {}],
    ['of a constellation that may be edited, too', GIVEN, { editPolicy: 'when-needed' }, { rounds: DEFAULTS.rounds }],
  ])('says in how many rounds a model may be asked: %s', (_, request, options, told) => {
    const { deviceAskMs, deviceWaitMs, approvals, ...others } = requested(request, options).options;
    expect(others).toEqual({ ...options, ...told });
    expect(deviceAskMs).toBe('rounds' in told ? DEFAULTS.deviceAskMs : undefined);
    expect(deviceWaitMs).toBe(DEFAULTS.deviceWaitMs);
    expect(approvals).toBe(1);
  });

  it('says that who asked was no operator, which makes no other request of it', () => {
    const submission = checkSubmission(GIVEN, 'default', 100);
    if (!submission.ok) throw new Error(submission.refusal.message);
    const actor = { kind: 'external', id: 'default' } as const;
    const [believed, judged] = [true, false].map((trusted) => requestedOf(submission, { actor, trusted }, NOW));
    expect(believed).not.toHaveProperty('judgeCommands');
    expect(judged).toEqual({ ...believed, judgeCommands: true });
    expect(requestedOf(submission, { actor }, NOW)).toEqual(judged);
  });

  it('has the labels that were asked for, which are of its content; none are as if nothing was said', () => {
    const of = (more: object) => {
      const submission = checkSubmission({ ...GOAL, ...more }, 'default', 100);
      if (!submission.ok) throw new Error(submission.refusal.message);
      return requestedOf(submission, { actor: { kind: 'external', id: 'default' } }, NOW);
    };
    const labelled = of({ labels: { team: 'db', env: 'prod' } });
    expect(labelled.labels).toEqual({ team: 'db', env: 'prod' });
    expect(of({ labels: { env: 'prod', team: 'db' } }).contentHash).toBe(labelled.contentHash);
    expect(of({ labels: { team: 'db' } }).contentHash).not.toBe(labelled.contentHash);
    expect(of({})).not.toHaveProperty('labels');
    expect(of({ labels: {} })).toEqual(of({}));
  });

  it('says how long a task may wait for a device, as asked for', () => {
    const options = { editPolicy: 'when-needed', deviceAskMs: 100, deviceWaitMs: 604_800_000 } as const;
    expect(requested(GIVEN, options).options).toMatchObject(options);
  });

  it.each([
    ['what was asked for', undefined, 3, 3],
    ['what the system wants at least', 2, undefined, 2],
    ['not less than the system wants', 2, 1, 2],
    ['more than that, where more was asked for', 2, 3, 3],
  ])('says how many persons have to approve: %s', (_, floor, asked, expected) => {
    const options = asked === undefined ? {} : { approvals: asked };
    const submission = checkSubmission({ ...GIVEN, options }, 'default', 100);
    if (!submission.ok) throw new Error(submission.refusal.message);
    const told = requestedOf(
      { ...submission, approvals: floor },
      { actor: { kind: 'external', id: 'default' }, trusted: true },
      NOW,
    );
    expect(told.options.approvals).toBe(expected);
    expect(told.contentHash).toBe(requested(GIVEN, options).contentHash);
  });

  it.each([0, 10, 1.5])('takes no %d approvals', (approvals) => {
    const submission = checkSubmission({ ...GIVEN, options: { approvals } }, 'default', 100);
    expect(submission).toMatchObject({ ok: false, refusal: { issues: [{ path: 'options.approvals' }] } });
  });

  it('has the same hash whatever was set here', () => {
    expect(requested(GOAL, {}, 'required').contentHash).toBe(requested(GOAL, {}).contentHash);
    expect(requested(GOAL, {}, 'required').options.plan).toBe('approve');
    expect(requested(GIVEN, {}, 'required').options.plan).toBeUndefined();
  });

  it('has the hash that it had when a line without a type was unconditional, beside its own', () => {
    const tasks = ['a', 'b', 'c'].map((id) => ({ ...star, id }));
    const typed = (type: object, other: object = {}) =>
      checkSubmission(
        {
          requestId: 'r',
          constellation: {
            name: 'x',
            tasks,
            lines: [
              { id: 'l', from: 'a', to: 'b', ...type },
              { id: 'm', from: 'b', to: 'c', type: 'success-only', ...other },
            ],
          },
        },
        'default',
        100,
      );
    const submitted = (submission: ReturnType<typeof typed>) => {
      if (!submission.ok) throw new Error(submission.refusal.message);
      const requested = requestedOf(submission, { actor: { kind: 'external', id: 'default' }, trusted: true }, NOW);
      return { ...requested, formerHash: submission.formerHash };
    };
    const untyped = submitted(typed({}));
    expect(untyped.constellation?.lines[0]?.type).toBe('success-only');
    expect(untyped.untypedLines).toBe('success-only');
    expect(untyped.contentHash).toBe(submitted(typed({ type: 'success-only' })).contentHash);
    expect(untyped.formerHash).toBe(submitted(typed({ type: 'unconditional' })).contentHash);
    expect(submitted(typed({ type: 'unconditional' })).formerHash).toBeUndefined();
  });

  it('takes no more rounds than there may be', () => {
    const submission = checkSubmission({ ...GOAL, options: { rounds: 10_001 } }, 'default', 100);
    expect(submission).toMatchObject({ ok: false, refusal: { issues: [{ path: 'options.rounds' }] } });
  });
});
