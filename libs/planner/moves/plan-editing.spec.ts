import { describe, expect, it } from '@jest/globals';
import { ConstellationToolCall, type EditingReply, Proposal } from '#proto';
import {
  completed,
  creation,
  device,
  editing,
  failed,
  fleet,
  NOW,
  plan,
  star,
  Story,
  tools,
  toolTask,
} from './given.testing.js';
import { planCreation } from './plan-creation.js';
import { planEditing } from './plan-editing.js';

function call(tool: string, input: unknown): ConstellationToolCall {
  return ConstellationToolCall.parse({ tool, arguments: input });
}

/** a has a result, b runs, c waits for b. */
const middle = Story.of(plan(['a', 'b', 'c'], ['a->b', 'b->c'])).when(completed('a')).run;
/** a has ended well and b has not. */
const over = Story.of(plan(['a', 'b'])).when(completed('a'), failed('b')).run;

function problemsOf(change: Partial<EditingReply>, run = middle): readonly string[] {
  const planned = planEditing(editing(change), run, NOW);
  return planned.ok ? [] : planned.problems;
}

function proposed(change: Partial<EditingReply>, run = middle) {
  const planned = planEditing(editing(change), run, NOW);
  if (!planned.ok) throw new Error(planned.problems.join('\n'));
  return planned.proposal;
}

describe('CONTINUE', () => {
  it('puts each action as one edit, in order, for the revision that it was made for', () => {
    const join = { dependency_id: 'c-d', from_task_id: 'c', to_task_id: 'd' };
    const actions = [call('add_task', toolTask('d')), call('add_dependency', join)];
    const proposal = proposed({ actions, thought: 'd is missing' });
    expect(proposal).toEqual({
      baseRevision: 1,
      state: 'CONTINUE',
      trace: { thought: 'd is missing' },
      edits: [
        { tool: 'add_task', task: { id: 'd', name: 'd', description: 'do d', tips: [], target: { device: 'web-1' } } },
        { tool: 'add_dependency', line: { id: 'c-d', from: 'c', to: 'd', type: 'success-only' } },
      ],
    });
    expect(Proposal.parse({ ...proposal, editId: 'e1', try: 1 })).toMatchObject(proposal);
  });

  it('without actions leaves everything as it is', () => {
    expect(proposed({})).toMatchObject({ state: 'CONTINUE', edits: [] });
    expect(proposed({})).not.toHaveProperty('answer');
  });

  it('needs no evidence', () => expect(proposed({ evidence: ['nothing'] })).not.toHaveProperty('answer'));

  it('says of which action a problem is, and takes none of them', () => {
    const actions = [
      call('add_task', toolTask('d')),
      call('update_task', { task_id: 'b', name: 'x' }),
      call('remove_task', { task_id: 'x' }),
    ];
    expect(problemsOf({ actions })).toEqual([
      'actions[1].arguments.task_id: "b" is RUNNING, and only PENDING tasks may change; add another task instead',
      'actions[2].arguments.task_id: there is no task "x"; known are a, b, c, d',
    ]);
    expect(problemsOf({ actions: [call('update_task', { task_id: 'c' })] })).toEqual([
      'actions[0].arguments: nothing would change; give at least one field besides task_id',
    ]);
  });

  it('says of the only action what is wrong with all of them', () => {
    const self = { dependency_id: 'x', from_task_id: 'c', to_task_id: 'c' };
    expect(problemsOf({ actions: [call('add_dependency', self)] })).toEqual([
      'actions[0].arguments: the lines would form a cycle: c -> c; a constellation must be acyclic',
    ]);
  });

  it('says what is wrong with all actions together', () => {
    const loop = ['d>e', 'e>d'].map((text) => {
      const [from = '', to = ''] = text.split('>');
      return call('add_dependency', { dependency_id: text.replace('>', '-'), from_task_id: from, to_task_id: to });
    });
    const actions = [call('add_task', toolTask('d')), call('add_task', toolTask('e')), ...loop];
    expect(problemsOf({ actions })).toEqual([
      'actions: the lines would form a cycle: e -> d -> e; a constellation must be acyclic',
    ]);
  });

  it('is refused where the plan was not made for', () => {
    expect(problemsOf({ actions: [call('add_task', toolTask('d', { target_device_id: 'db-1' }))] })).toEqual([
      'actions[0].arguments.target_device_id: "d" would run on device "db-1", for which the plan was not made; valid are device "web-1"',
    ]);
  });

  it('is refused when no task would be left', () => {
    const plan = { constellation: tools(['a']) };
    const planned = planCreation(creation(plan), Story.goal().run, NOW);
    const waiting = Story.goal({ plan: 'approve' }).proposes(planned.ok ? planned.proposal : {}).run;
    expect(problemsOf({ actions: [call('remove_task', { task_id: 'a' })] }, waiting)).toEqual([
      'actions: a plan needs at least one task; add some, or FINISH or FAIL',
    ]);
  });
});

describe.each(['FINISH', 'FAIL'] as const)('%s', (state) => {
  it('carries the answer and what it rests on, each task once', () => {
    expect(proposed({ state, result: 'it is so', evidence: ['a', 'b', 'a'] }, over)).toEqual({
      baseRevision: 1,
      state,
      edits: [],
      trace: { thought: 'it is as it was planned', result: 'it is so' },
      answer: { text: 'it is so', evidence: ['a', 'b'] },
    });
  });

  it('goes without actions', () => {
    const actions = [call('remove_task', { task_id: 'b' })];
    expect(problemsOf({ state, result: 'x', actions }, over)).toEqual([
      `actions: ${state} goes without actions; CONTINUE with them, and you are asked again when they have been done`,
    ]);
  });

  it('needs a result', () => {
    expect(problemsOf({ state, result: ' ' }, over)).toEqual([`result: ${state} needs a result`]);
  });

  it('rests on no task that is not there, or has said nothing', () => {
    const evidence = ['a', 'x', 'c', 'b'];
    expect(problemsOf({ state: 'FAIL', result: 'x', evidence })).toEqual([
      'evidence[1]: there is no task "x"; known are a, b, c',
      'evidence[2]: task "c" is PENDING and has no result; those with one are a',
      'evidence[3]: task "b" is RUNNING and has no result; those with one are a',
    ]);
    expect(problemsOf({ state, result: 'x', evidence: ['x'] }, over)).toEqual([
      'evidence[0]: there is no task "x"; known are a, b',
    ]);
  });
});

describe('evidence', () => {
  it('is nothing of a task that waits for its next try', () => {
    const retry = { attempts: 2, backoffMs: 60_000 };
    const again = Story.of(plan([star('a', { retry, idempotent: true }), 'b'])).when(failed('a'));
    expect([...again.run.tasks][0]).toMatchObject({ status: 'PENDING', attempt: 1, error: { code: 'EXIT_CODE' } });
    expect(problemsOf({ state: 'FAIL', result: 'x', evidence: ['a'] }, again.run)).toEqual([
      'evidence[0]: task "a" is PENDING and has no result; those with one are none',
    ]);
  });

  it('is nothing of a task that never started', () => {
    const later = plan([star('b'), star('a', { target: { device: 'db-1' } })], ['b->a']);
    const never = Story.of(later)
      .on(fleet([device('web-1')]))
      .when(completed('b'));
    expect([...never.run.tasks][1]).toMatchObject({ status: 'FAILED', attempt: 0, error: { code: 'NO_DEVICE' } });
    expect(problemsOf({ state: 'FAIL', result: 'x', evidence: ['a'] }, never.run)).toEqual([
      'evidence[0]: task "a" is FAILED and has no result; those with one are b',
    ]);
  });
});

describe('what still runs', () => {
  it('keeps FINISH from being said, and FAIL not', () => {
    expect(problemsOf({ state: 'FINISH', result: 'x' })).toEqual([
      'state: task "b" is still running; CONTINUE, or FAIL to stop it',
    ]);
    expect(proposed({ state: 'FAIL', result: 'x' }).state).toBe('FAIL');
  });

  it('is named, all of it', () => {
    const both = Story.of(plan(['a', 'b'])).run;
    expect(problemsOf({ state: 'FINISH', result: 'x' }, both)).toEqual([
      'state: tasks "a", "b" are still running; CONTINUE, or FAIL to stop them',
    ]);
  });

  it('does not count when it only waits: what is left is no longer needed', () => {
    const waiting = Story.of(plan(['a', 'b'], ['a->b'])).when(failed('a'));
    const proposal = proposed({ state: 'FINISH', result: 'enough', evidence: ['a'] }, waiting.run);
    expect(waiting.proposes(proposal).run).toMatchObject({ answer: { text: 'enough', by: 'model' } });
    expect(waiting.run.editing).toBeNull();
  });
});
