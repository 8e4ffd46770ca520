import { describe, expect, it } from '@jest/globals';
import type { EditViolation, Proposal } from '#proto';
import {
  build,
  completed,
  creation,
  device,
  editing,
  fleet,
  jsonOf,
  NOW,
  plan,
  star,
  Story,
  tools,
  toolTask,
} from './given.testing.js';
import { rebase, violationsOfReply } from './rebase.js';

/** a has ended, b runs, c waits. */
const story = () => Story.of(plan(['a', 'b', 'c'], ['a->b', 'b->c'])).when(completed('a'));
const adding = jsonOf(editing({ actions: [{ tool: 'add_task', arguments: toolTask('d') }] }));

describe('a reply that was recorded', () => {
  it('is put to the constellation as it is now', () => {
    const moved = story().edits({ tool: 'add_task', task: star('e') });
    const rebased = rebase({ mode: 'editing', reply: adding }, moved.run, NOW);
    expect(rebased).toMatchObject({ ok: true, proposal: { baseRevision: 2, edits: [{ tool: 'add_task' }] } });
  });

  it('no longer fits what has changed meanwhile, and says why', () => {
    const moved = story().edits({ tool: 'add_task', task: star('d') });
    expect(rebase({ mode: 'editing', reply: adding }, moved.run, NOW)).toEqual({
      ok: false,
      problems: ['actions[0].arguments.task_id: there is a task "d" already; use update_task or another id'],
    });
  });

  it.each(['FINISH', 'FAIL'] as const)('does not %s what somebody has added since', (state) => {
    const said = { mode: 'editing', revision: 1, reply: jsonOf(editing({ state, result: 'done' })) } as const;
    const waiting = star('e', { target: { device: 'db-1' } });
    const moved = story()
      .on(fleet([device('web-1'), device('db-1', { status: 'lost' })]))
      .edits({ tool: 'add_task', task: waiting })
      .when(completed('b'))
      .when(completed('c'));
    expect(moved.run.counts).toMatchObject({ PENDING: 1, RUNNING: 0 });
    expect(rebase(said, moved.run, NOW)).toEqual({
      ok: false,
      problems: [
        `state: the constellation was changed since you were shown it, and ${state} would put an end to "e"; look at it again`,
      ],
    });
    expect(rebase({ ...said, revision: 2 }, moved.run, NOW)).toMatchObject({ ok: true });
  });

  it('may say FINISH once more when what was added has ended, too', () => {
    const said = { mode: 'editing', revision: 1, reply: jsonOf(editing({ state: 'FINISH', result: 'done' })) } as const;
    const more = Story.of(plan(['a', 'b']))
      .when(completed('a'))
      .edits({ tool: 'add_task', task: star('c') });
    expect(rebase(said, more.when(completed('b'), completed('c')).run, NOW)).toMatchObject({
      ok: true,
      proposal: { state: 'FINISH', baseRevision: 2 },
    });
  });

  it('is a plan in creation mode', () => {
    const planned = rebase({ mode: 'creation', reply: jsonOf(creation()) }, Story.goal().run, NOW);
    expect(planned).toMatchObject({ ok: true, proposal: { edits: [{ tool: 'build_constellation' }] } });
  });

  it.each(['creation', 'editing'] as const)('that is none of %s mode any more is a problem, not a mistake', (mode) => {
    expect(rebase({ mode, reply: { state: 'CONTINUE', thought: 1 } }, story().run, NOW)).toMatchObject({ ok: false });
    expect(rebase({ mode, reply: null }, story().run, NOW)).toMatchObject({ ok: false });
  });
});

describe('what the orchestrator found wrong', () => {
  const violation = (path: string, change: Partial<EditViolation> = {}): EditViolation => ({
    code: 'NO_DEVICE',
    path,
    message: 'no',
    ...change,
  });
  const edits: Proposal['edits'] = [
    { tool: 'remove_task', taskId: 'c' },
    { tool: 'add_task', task: star('d') },
  ];
  const proposal: Proposal = { editId: 'e1', try: 1, baseRevision: 1, state: 'CONTINUE', edits };

  it.each([
    ['edits[0].taskId', 'actions[0].arguments.task_id'],
    ['edits[1].task.target', 'actions[1].arguments.target_device_id'],
    ['edits[1]', 'actions[1].arguments'],
    ['edits[7].task', 'actions'],
    ['edits', 'actions'],
  ])('with %s is said of %s', (path, said) => {
    expect(violationsOfReply([violation(path)], 'editing', proposal)).toEqual([violation(said)]);
  });

  it.each([
    ['edits[0].constellation.tasks[1].target', 'constellation.tasks[1].target_device_id'],
    ['edits[0].constellation.lines[0].from', 'constellation.dependencies[0].from_task_id'],
    ['edits[0].constellation.tasks', 'constellation.tasks'],
    ['edits', 'constellation'],
  ])('of a plan with %s is said of %s', (path, said) => {
    const built = { ...proposal, edits: [build(plan(['a', 'b'], ['a->b']))] };
    expect(violationsOfReply([violation(path)], 'creation', built)).toEqual([violation(said)]);
  });

  it('is said in the words of the reply where it names another part of it', () => {
    const built = { ...proposal, edits: [build(plan(['a', 'b']))] };
    const twice = violation('edits[0].constellation.tasks[1].id', {
      message: '"a" is the id of edits[0].constellation.tasks[0] too',
    });
    expect(violationsOfReply([twice], 'creation', built)[0]?.message).toBe(
      '"a" is the id of constellation.tasks[0] too',
    );
  });

  it('is not said when it is the revision alone, or nobody knows about what', () => {
    expect(violationsOfReply([violation('baseRevision', { code: 'STALE_REVISION' })], 'editing', proposal)).toEqual([]);
    expect(violationsOfReply([violation('edits[0].taskId')], 'editing', null)).toEqual([]);
  });

  it('is what a model sees that made the same reply again', () => {
    const reply = creation({ constellation: tools([toolTask('a', { target_device_id: 'nowhere' })]) });
    const [problem = ''] = (
      rebase({ mode: 'creation', reply: jsonOf(reply) }, Story.goal().run, NOW) as { problems: string[] }
    ).problems;
    const built = { ...proposal, edits: [build(plan([star('a', { target: { device: 'nowhere' } })]))] };
    const refused = violation('edits[0].constellation.tasks[0].target');
    expect(problem.startsWith(`${violationsOfReply([refused], 'creation', built)[0]?.path}: `)).toBe(true);
  });
});
