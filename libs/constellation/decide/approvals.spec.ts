import { describe, expect, it } from '@jest/globals';
import type { Actor, AttemptFinished } from '#proto';
import type { PersonsWord } from './approvals.js';
import { forkedFrom } from '../fold/fork.js';
import {
  ALICE,
  asked,
  commandAsk,
  constellation,
  device,
  failed,
  fleet,
  HASH,
  instant,
  questionAsk,
  requested,
  Story,
  submit,
  verb,
  WAKE,
  withAgents,
} from '../testing/given.js';
import { checkInvariants } from '../fold/invariants.js';
import { viewOf } from '../views/view.js';

const ID = 'run-1.a.1.1.0';
const NEXT = 'run-1.a.1.2.0';
const OTHER = 'run-1.b.1.1.0';
const BOB: Actor = { kind: 'person', id: 'bob' };
const FLEET = withAgents(fleet([device('web-1'), device('db-1')]));
const agentTask = { command: undefined as never };
const PLAN = constellation([{ id: 'a', ...agentTask }, { id: 'b', ...agentTask }, 'z'], ['b->z']);
const begun = () => new Story().on(FLEET).when(submit(PLAN));
const waiting = (change: Parameters<typeof commandAsk>[1] = {}) => begun().when(asked(commandAsk(ID, change)));
const say = (word: PersonsWord, by: Actor = ALICE) => verb(word, `${by.id} ${JSON.stringify(word)}`, by);
const approve = (change: Partial<Extract<PersonsWord, { verb: 'APPROVE' }>> = {}) =>
  say({ verb: 'APPROVE', approvalId: ID, ...change });
const lastAnswer = ({ answers }: Story) => answers.at(-1);
const finished = (taskId: string, change: Partial<AttemptFinished> = {}) =>
  ({
    kind: 'attempt-ended',
    taskId,
    attempt: 1,
    attemptHash: HASH,
    finished: { status: 'completed', result: { value: 'done' }, ...change } as AttemptFinished,
  }) as const;

describe('an attempt that asks', () => {
  it('is recorded once, as long as it runs, and the run says for whom it waits', () => {
    const story = waiting();
    expect(story.told).toEqual(['APPROVAL_REQUESTED approval a.1.1.0']);
    expect(viewOf(story.run).waitingFor).toMatchObject({ reason: 'approval', wokenBy: 'operator' });
    expect(viewOf(story.run).waitingFor?.detail).toContain(`approval of EXEC_CLI for a on web-1 (${ID})`);
    expect(viewOf(story.run).waitingFor?.detail).toContain('the end of another task');
    expect(story.when(asked(commandAsk(ID))).told).toEqual([]);
    expect(lastAnswer(story)).toEqual({ kind: 'ignored', reason: 'ASKED_BEFORE' });
    expect(checkInvariants(story.run)).toEqual([]);
  });

  it.each([
    ['of an attempt that is over', 'run-1.a.0.1.0', 'STALE_ATTEMPT'],
    ['of an attempt that never was', 'run-1.a.2.1.0', 'STALE_ATTEMPT'],
    ['of a task that does not run', 'run-1.z.1.1.0', 'STALE_ATTEMPT'],
    ['of no task', 'run-1.nobody.1.1.0', 'UNKNOWN_TASK'],
  ])('is ignored when it is %s', (_, id, reason) => {
    const [, taskId = '', attempt] = id.split('.');
    const input = { kind: 'asked', taskId, attempt: Number(attempt), ask: commandAsk(id), attemptHash: HASH } as const;
    const story = begun().when(input);
    expect(story.told).toEqual([]);
    expect(lastAnswer(story)).toEqual({ kind: 'ignored', reason });
  });

  it('is ignored once its task is being stopped', () => {
    const story = begun()
      .when(verb({ verb: 'CANCEL' }))
      .when(asked(commandAsk(ID)));
    expect(story.told).toEqual([]);
    expect(lastAnswer(story)).toEqual({ kind: 'ignored', reason: 'STOPPING' });
  });

  it('has asked in vain when it ends: that is seen and no event', () => {
    const story = waiting().when(finished('a'));
    expect(story.told).toEqual(['TASK_COMPLETED a 1']);
    expect(viewOf(story.run).approvals).toMatchObject([{ approvalId: ID, state: 'withdrawn', by: null }]);
    expect(story.when(approve()).told).toEqual([]);
    expect(lastAnswer(story)).toMatchObject({ kind: 'rejected', reason: { code: 'INVALID_STATE' } });
  });

  it('still waits in a run that is paused, and may be answered', () => {
    const story = waiting()
      .when(verb({ verb: 'PAUSE' }))
      .when(approve());
    expect(story.told).toEqual(['APPROVAL_DECIDED a.1.1.0 approved by alice']);
  });
});

describe('the word of a person', () => {
  it('lets the command run', () => {
    const story = waiting().when(approve({ note: 'looks right' }));
    expect(story.told).toEqual(['APPROVAL_DECIDED a.1.1.0 approved by alice']);
    expect(viewOf(story.run).approvals).toMatchObject([{ state: 'approved', by: ALICE, note: 'looks right' }]);
    expect(viewOf(story.run).waitingFor?.reason).toBe('running_tasks');
  });

  it('lets another command run instead', () => {
    const command = { tool: 'EXEC_CLI', arguments: { command: 'rm /srv/old/app.log' } };
    const story = waiting().when(approve({ command }));
    expect(story.told).toEqual(['APPROVAL_DECIDED a.1.1.0 edited by alice']);
    expect(story.events.at(-1)?.data).toMatchObject({ command });
  });

  it('is a plain approval when the command is the same', () => {
    const story = waiting().when(approve({ command: commandAsk(ID).command }));
    expect(story.told).toEqual(['APPROVAL_DECIDED a.1.1.0 approved by alice']);
  });

  it('refuses, and answers questions', () => {
    const rejected = waiting().when(say({ verb: 'REJECT', approvalId: ID, note: 'not here' }));
    expect(rejected.told).toEqual(['APPROVAL_DECIDED a.1.1.0 rejected by alice']);
    const question = begun().when(asked(questionAsk(ID)));
    expect(viewOf(question.run).waitingFor?.detail).toContain(`an answer for a (${ID})`);
    question.when(say({ verb: 'ANSWER', approvalId: ID, text: 'the second one' }));
    expect(question.told).toEqual(['APPROVAL_DECIDED a.1.1.0 answered by alice']);
    expect(question.events.at(-1)?.data).toMatchObject({ answer: 'the second one' });
  });

  it('counts once: whoever comes later is told who decided', () => {
    const story = waiting()
      .when(approve())
      .when(say({ verb: 'REJECT', approvalId: ID }, BOB));
    expect(story.told).toEqual([]);
    expect(lastAnswer(story)).toMatchObject({ kind: 'ignored', reason: 'ALREADY_DECIDED' });
    expect(lastAnswer(story)).toMatchObject({ detail: `it was approved by alice at ${instant(0)}` });
  });

  it('counts once also when two speak at the same time', () => {
    const story = waiting().when(approve(), say({ verb: 'REJECT', approvalId: ID }, BOB));
    expect(story.told).toEqual(['APPROVAL_DECIDED a.1.1.0 approved by alice']);
    expect(lastAnswer(story)).toMatchObject({ reason: 'ALREADY_DECIDED' });
  });

  it('is decided once per verb: sent again it is accepted again', () => {
    const story = waiting().when(approve()).when(approve());
    expect(story.told).toEqual([]);
    expect(lastAnswer(story)).toMatchObject({ kind: 'accepted', sequence: story.events.length });
  });

  it.each<[string, PersonsWord, Actor, string, string]>([
    ['of a program', { verb: 'APPROVE', approvalId: ID }, { kind: 'external', id: 'ci' }, 'UNAUTHORIZED', 'a person'],
    ['of the system', { verb: 'REJECT', approvalId: ID }, { kind: 'system', id: 'x' }, 'UNAUTHORIZED', 'a person'],
    ['about nothing', { verb: 'APPROVE', approvalId: OTHER }, ALICE, 'NOT_FOUND', `open are ${ID}`],
    [
      'that answers a command',
      { verb: 'ANSWER', approvalId: ID, text: 'yes' },
      ALICE,
      'INVALID_STATE',
      'APPROVE or REJECT',
    ],
  ])('%s is refused', (_, word, by, code, message) => {
    const story = waiting().when(say(word, by));
    expect(story.told).toEqual([]);
    expect(lastAnswer(story)).toMatchObject({ kind: 'rejected', reason: { code } });
    expect(JSON.stringify(lastAnswer(story))).toContain(message);
  });

  it('that approves a question is refused', () => {
    const story = begun()
      .when(asked(questionAsk(ID)))
      .when(approve());
    expect(lastAnswer(story)).toMatchObject({ kind: 'rejected', reason: { code: 'INVALID_STATE' } });
    expect(JSON.stringify(lastAnswer(story))).toContain('ANSWER it');
  });

  it('does not count for what one has requested oneself; a no does', () => {
    const own = () =>
      new Story()
        .on(FLEET)
        .when({ kind: 'submit', requested: requested(PLAN, { requestedBy: ALICE }) })
        .when(asked(commandAsk(ID)));
    expect(lastAnswer(own().when(approve()))).toMatchObject({ kind: 'rejected', reason: { code: 'UNAUTHORIZED' } });
    expect(own().when(say({ verb: 'APPROVE', approvalId: ID }, BOB)).told).toHaveLength(1);
    expect(own().when(say({ verb: 'REJECT', approvalId: ID })).told).toHaveLength(1);
    const namesake: Actor = { kind: 'external', id: 'alice' };
    const other = new Story().on(FLEET).when({ kind: 'submit', requested: requested(PLAN, { requestedBy: namesake }) });
    expect(other.when(asked(commandAsk(ID))).when(approve()).told).toHaveLength(1);
  });

  it('cannot let anything run for a task that is being stopped', () => {
    const story = waiting()
      .when(verb({ verb: 'CANCEL' }))
      .when(approve());
    expect(story.told).toEqual([]);
    expect(lastAnswer(story)).toMatchObject({ kind: 'rejected', reason: { code: 'INVALID_STATE' } });
    expect(story.when(finished('a'), failed('b', 1, 'cancelled')).told.at(-1)).toBe('RUN_CANCELLED by alice');
    expect(checkInvariants(story.run)).toEqual([]);
  });
});

describe('time', () => {
  it('is a no when it is over, at the instant and not before', () => {
    const story = waiting({ expiresAt: instant(60_000) });
    expect(story.last?.wakeAt).toBe(Date.parse(instant(60_000)));
    expect(story.at(59_999).when(WAKE).told).toEqual([]);
    expect(story.at(60_000).when(WAKE).told).toEqual(['APPROVAL_DECIDED a.1.1.0 expired by orchestrator']);
    expect(story.when(approve()).told).toEqual([]);
    expect(lastAnswer(story)).toMatchObject({ reason: 'ALREADY_DECIDED' });
  });

  it('comes before whoever speaks too late in the same commit', () => {
    const story = waiting({ expiresAt: instant(60_000) })
      .at(60_000)
      .when(approve());
    expect(story.told).toEqual(['APPROVAL_DECIDED a.1.1.0 expired by orchestrator']);
    expect(lastAnswer(story)).toMatchObject({ kind: 'ignored', reason: 'ALREADY_DECIDED' });
  });

  it('is a no at once for what arrives too late', () => {
    const story = begun()
      .at(60_000)
      .when(asked(commandAsk(ID, { expiresAt: instant(60_000) })));
    expect(story.told).toEqual([
      'APPROVAL_REQUESTED approval a.1.1.0',
      'APPROVAL_DECIDED a.1.1.0 expired by orchestrator',
    ]);
  });
});

describe('a grant', () => {
  const granted = () => waiting().when(approve({ grantMs: 300_000 }));

  it('lets the same command on the same device run without another word, in the same commit', () => {
    const story = granted().when(asked(commandAsk(NEXT)));
    expect(story.told).toEqual([
      'APPROVAL_REQUESTED approval a.1.2.0',
      'APPROVAL_DECIDED a.1.2.0 approved by alice grant of a.1.1.0',
    ]);
    expect(story.when(asked(commandAsk(OTHER))).told).toHaveLength(2);
    expect(viewOf(story.run).approvals.map(({ approvalId, grantUntil }) => [approvalId, grantUntil])).toEqual([
      [ID, instant(300_000)],
      [NEXT, null],
      [OTHER, null],
    ]);
  });

  it('does not cover what is heard of after its time: that is a no by then', () => {
    const story = granted()
      .at(200_000)
      .when(asked(commandAsk(NEXT, { expiresAt: instant(200_000) })));
    expect(story.told).toEqual([
      'APPROVAL_REQUESTED approval a.1.2.0',
      'APPROVAL_DECIDED a.1.2.0 expired by orchestrator',
    ]);
  });

  it('does not depend on the order of the arguments', () => {
    const given = { tool: 'T', arguments: { b: [{ y: 1, x: 2 }], a: 1 } };
    const same = { tool: 'T', arguments: { a: 1, b: [{ x: 2, y: 1 }] } };
    const story = waiting({ command: given }).when(approve({ grantMs: 300_000 }));
    expect(story.when(asked(commandAsk(NEXT, { command: same }))).told).toHaveLength(2);
  });

  it.each([
    ['another command', { command: { tool: 'EXEC_CLI', arguments: { command: 'rm -r /srv/old2' } } }],
    ['one that may not be granted', { grantable: false }],
  ])('does not cover %s', (_, change) => {
    expect(granted().when(asked(commandAsk(NEXT, change))).told).toEqual(['APPROVAL_REQUESTED approval a.1.2.0']);
  });

  it('does not cover another device', () => {
    const elsewhere = constellation([
      { id: 'a', ...agentTask },
      { id: 'b', ...agentTask, target: { device: 'db-1' } },
    ]);
    const story = new Story()
      .on(FLEET)
      .when(submit(elsewhere))
      .when(asked(commandAsk(ID)));
    story.when(approve({ grantMs: 300_000 })).when(asked(commandAsk(OTHER)));
    expect(story.told).toEqual(['APPROVAL_REQUESTED approval b.1.1.0']);
  });

  it('ends at its instant', () => {
    const story = granted().at(300_000);
    expect(story.when(asked(commandAsk(NEXT))).told).toEqual(['APPROVAL_REQUESTED approval a.1.2.0']);
  });

  it('is taken back by a no', () => {
    const story = granted().when(say({ verb: 'REJECT', approvalId: ID, note: 'enough' }, BOB));
    expect(story.told).toEqual(['APPROVAL_DECIDED a.1.1.0 revoked by bob']);
    expect(viewOf(story.run).approvals).toMatchObject([
      { state: 'revoked', by: BOB, note: 'enough', grantUntil: null },
    ]);
    expect(story.when(asked(commandAsk(NEXT))).told).toEqual(['APPROVAL_REQUESTED approval a.1.2.0']);
    expect(story.when(say({ verb: 'REJECT', approvalId: ID })).told).toEqual([]);
    expect(lastAnswer(story)).toMatchObject({ kind: 'ignored', reason: 'ALREADY_DECIDED' });
  });

  it('is not given for a command that may not be granted, nor for a changed one', () => {
    const one = waiting({ grantable: false }).when(approve({ grantMs: 300_000 }));
    expect(lastAnswer(one)).toMatchObject({ kind: 'rejected', reason: { code: 'INVALID_STATE' } });
    expect(JSON.stringify(lastAnswer(one))).toContain('leave grantMs out');
    const command = { tool: 'EXEC_CLI', arguments: { command: 'true' } };
    const other = waiting().when(approve({ grantMs: 300_000, command }));
    expect(lastAnswer(other)).toMatchObject({ kind: 'rejected', reason: { code: 'INVALID_REQUEST' } });
  });

  it('does not outlive the run, nor go over to a fork of it', () => {
    const story = granted();
    const forked = forkedFrom({ run: story.run, by: BOB, requestId: 'fork-1', now: Date.parse(instant(0)) });
    expect(JSON.stringify(forked)).not.toContain('approvals');
    story.when(finished('a'), finished('b')).when(finished('z'));
    expect(story.told.at(-1)).toBe('RUN_COMPLETED succeeded');
    expect(story.run.approvals.grants.size).toBe(0);
    expect(story.when(say({ verb: 'REJECT', approvalId: ID })).told).toEqual([]);
  });
});

it('a run remembers the last hundred decisions, and that the others were asked', () => {
  const story = begun();
  for (let step = 1; step <= 120; step++) {
    const approvalId = `run-1.a.1.${step}.0`;
    story.when(asked(commandAsk(approvalId, { step }))).when(say({ verb: 'REJECT', approvalId }));
  }
  const { approvals } = viewOf(story.run);
  expect(approvals).toHaveLength(100);
  expect(approvals[0]?.approvalId).toBe('run-1.a.1.21.0');
  expect(story.when(asked(commandAsk(ID))).told).toEqual([]);
  expect(story.when(say({ verb: 'APPROVE', approvalId: ID })).told).toEqual([]);
  expect(lastAnswer(story)).toMatchObject({ kind: 'ignored', reason: 'ALREADY_DECIDED' });
});

it('an approval whose attempt does not run is a broken invariant', () => {
  const { run } = waiting();
  const request = { attempt: 1, ask: commandAsk(ID), requestedAt: instant(0), order: 0, given: [], approvers: null };
  const open = new Map([[ID, { ...request, taskId: 'z' }]]);
  const broken = { ...run, approvals: { ...run.approvals, open } };
  expect(checkInvariants(broken).map(({ invariant }) => invariant)).toEqual(['I6_APPROVAL']);
});
