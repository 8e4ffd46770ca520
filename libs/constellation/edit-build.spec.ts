import { describe, expect, it } from '@jest/globals';
import { Edit, type EditViolation, type RunEventData } from '#proto';
import { applyEdits } from './edits/edit.js';
import { evolve } from './fold/evolve.js';
import {
  add,
  ask,
  build,
  change,
  completed,
  constellation,
  device,
  failed,
  fleet,
  propose,
  remove,
  Story,
  submit,
  T0,
  WAKE,
} from './testing/given.js';
import { checkInvariants } from './fold/invariants.js';
import type { Run } from './state/run.js';

/** Nothing can start: what an edit makes of a constellation is seen without what follows from it. */
const NO_DEVICES = fleet([], {}, false);

const FRESH = new Story().on(NO_DEVICES).when(submit(constellation(['a', 'b', 'c'], ['a->b', 'b->c'])));

function violationsOf(run: Run, ...edits: readonly unknown[]): readonly EditViolation[] {
  const applied = applyEdits(
    run,
    edits.map((edit) => Edit.parse(edit)),
    T0,
  );
  return applied.ok ? [] : applied.violations;
}

const ids = ({ graph }: Run) => ({
  tasks: [...graph.taskIds],
  lines: [...graph.lines].map(({ id }) => id),
});

function edited(story: Story, ...edits: readonly unknown[]): Run {
  const next = new Story().on(NO_DEVICES).from(story.run).when(propose(null, edits));
  expect(next.answers).toEqual([{ kind: 'accepted' }]);
  expect(checkInvariants(next.run)).toEqual([]);
  return next.run;
}

function judgedIn(story: Story): RunEventData<'CONSTELLATION_MODIFIED'>['judged'] {
  const event = story.last?.events.find(({ type }) => type === 'CONSTELLATION_MODIFIED');
  return event?.type === 'CONSTELLATION_MODIFIED' ? event.data.judged : undefined;
}

describe('build_constellation of a plan that has not begun', () => {
  it('removes what it does not name, changes what it names, adds what is new', () => {
    const plan = { ...constellation(['b', 'd', { id: 'a', name: 'other' }], ['a->b', 'b=>d']), name: 'second' };
    const run = edited(FRESH, build(plan));
    expect(ids(run)).toEqual({ tasks: ['a', 'b', 'd'], lines: ['a-b', 'b-d'] });
    expect(run.tasks.at(0).star.name).toBe('other');
    expect(run.graph.name).toBe('second');
    expect([...run.usedIds].toSorted()).toEqual(['c', 'line:b-c']);
  });

  it('without clear only adds and changes, and keeps the name', () => {
    const plan = { ...constellation([{ id: 'c', name: 'other' }, 'd'], ['c->d']), name: 'second' };
    const run = edited(FRESH, build(plan, false));
    expect(ids(run)).toEqual({ tasks: ['a', 'b', 'c', 'd'], lines: ['a-b', 'b-c', 'c-d'] });
    expect(run.tasks.at(2).star.name).toBe('other');
    expect(run.graph.name).toBe('test');
  });

  it.each([true, false])('applied twice changes nothing more (clear: %s)', (clear) => {
    const plan = constellation(['b', 'd'], ['b=>d']);
    const run = edited(FRESH, build(plan, clear));
    const again = applyEdits(run, [Edit.parse(build(plan, clear))], T0);
    expect(again).toMatchObject({ ok: true, owed: [], staging: { changed: false } });
  });

  it('that says the same constellation again changes nothing', () => {
    const same = constellation(['a', 'b', 'c'], ['a->b', 'b->c']);
    expect(applyEdits(FRESH.run, [Edit.parse(build(same))], T0)).toMatchObject({ staging: { changed: false } });
  });

  it('that only has another name is a change', () => {
    const same = { ...constellation(['a', 'b', 'c'], ['a->b', 'b->c']), name: 'renamed' };
    expect(edited(FRESH, build(same)).graph.name).toBe('renamed');
  });

  it('leads a line elsewhere that it names with other ends, and turns a line round', () => {
    const line = (from: string, to: string) => ({ id: 'a-b', from, to, type: 'unconditional' as const });
    const elsewhere = edited(FRESH, build({ ...constellation(['a', 'b', 'c']), lines: [line('a', 'c')] }));
    expect([...elsewhere.graph.lines]).toEqual([line('a', 'c')]);
    const round = edited(FRESH, build({ ...constellation(['a', 'b', 'c']), lines: [line('b', 'a')] }));
    expect([...round.graph.lines]).toEqual([line('b', 'a')]);
  });

  it('is refused with the paths of what is wrong in it', () => {
    const plan = constellation(['a', 'b', 'c'], ['a->b', 'c->x', 'a?result ==>c']);
    expect(violationsOf(FRESH.run, build(plan))).toMatchObject([
      { code: 'UNKNOWN_TASK', path: 'edits[0].constellation.lines[1].to' },
      { code: 'INVALID_CONDITION', path: 'edits[0].constellation.lines[2].condition' },
    ]);
    expect(violationsOf(FRESH.run, build(constellation(['a', 'b'], ['a->b', 'b->a'])))).toMatchObject([
      { code: 'I2_ACYCLIC', message: 'the lines would form a cycle: a -> b -> a; a constellation must be acyclic' },
    ]);
  });

  it('is refused when two of its tasks or lines have one id: none of them silently wins', () => {
    const twice = constellation(['a', 'b', 'c', { id: 'b', name: 'other' }], ['a->b', 'b->c', 'a->b']);
    expect(violationsOf(FRESH.run, build(twice))).toEqual([
      {
        code: 'DUPLICATE_ID',
        path: 'edits[0].constellation.tasks[3].id',
        message: '"b" is the id of edits[0].constellation.tasks[1] too; ids are unique',
      },
      {
        code: 'DUPLICATE_ID',
        path: 'edits[0].constellation.lines[2].id',
        message: '"a-b" is the id of edits[0].constellation.lines[0] too; ids are unique',
      },
    ]);
  });

  it('is refused when it names a task that an earlier edit removed', () => {
    const run = edited(FRESH, remove.task('c'));
    expect(violationsOf(run, build(constellation(['a', 'b', 'c'])))).toMatchObject([
      { code: 'ID_USED', path: 'edits[0].constellation.tasks[2].id' },
    ]);
  });
});

describe('build_constellation of a plan that runs', () => {
  /** a COMPLETED, b RUNNING, f FAILED, s SKIPPED, c and d PENDING. */
  const running = () =>
    new Story()
      .when(submit(constellation(['a', 'b', 'f', 's', 'c', 'd'], ['a->b', 'f=>s', 'b->c', 'c->d', 'a->d'])))
      .when(completed('a'), failed('f'));

  it('keeps what has started, with the lines that led to it, and replaces the rest', () => {
    const run = edited(running(), build(constellation(['n'])));
    expect(ids(run)).toEqual({ tasks: ['a', 'b', 'f', 's', 'n'], lines: ['a-b', 'f-s'] });
    expect([...run.tasks].map(({ status }) => status)).toEqual([
      'COMPLETED',
      'RUNNING',
      'FAILED',
      'SKIPPED',
      'PENDING',
    ]);
  });

  it('keeps what waits for its next try: it had started, and the planner may have seen it run', () => {
    const plan = constellation(['a', { id: 'r', retry: { attempts: 2, backoffMs: 60_000 } }, 'p'], ['a->r', 'r->p']);
    const story = new Story().when(submit(plan)).when(completed('a')).when(failed('r'));
    expect(story.status('r')).toBe('PENDING');
    const run = edited(story, build(constellation(['n'])));
    expect(ids(run)).toEqual({ tasks: ['a', 'r', 'n'], lines: ['a-r'] });
    expect(ids(edited(story, build(constellation(['n'])), remove.task('r'))).tasks).toEqual(['a', 'n']);
  });

  it('may say what has run as it is, and hang something new from it', () => {
    const plan = constellation(['a', 'b', 'f', 's', 'n'], ['a->b', 'f=>s', 'f->n', 'b=>n']);
    const run = edited(running(), build(plan));
    expect(ids(run)).toEqual({
      tasks: ['a', 'b', 'f', 's', 'n'],
      lines: ['a-b', 'f-s', 'f-n', 'b-n'],
    });
    expect(run.lines.at(2)).toEqual({ satisfied: true, reason: null });
    expect(run.lines.at(3)).toEqual({ satisfied: null, reason: null });
  });

  it('is refused when it gives what has run another definition, or leads a line to it', () => {
    const plan = constellation([{ id: 'a', name: 'other' }, 'b', 'n'], ['n->b']);
    expect(violationsOf(running().run, build(plan))).toMatchObject([
      { code: 'I3_ONLY_PENDING', path: 'edits[0].constellation.tasks[0].id' },
      { code: 'I3_ONLY_PENDING', path: 'edits[0].constellation.lines[0].to' },
    ]);
  });

  it('is refused when it leads a line elsewhere that led to what has run', () => {
    const lines = [{ id: 'a-b', from: 'a', to: 'c', type: 'unconditional' as const }];
    expect(violationsOf(running().run, build({ ...constellation(['c']), lines }))).toMatchObject([
      { code: 'I3_ONLY_PENDING', path: 'edits[0].constellation.lines[0]' },
    ]);
  });
});

describe('build_constellation of a plan that is not there yet', () => {
  it('is what a goal becomes, with its name, in the commit that starts it', () => {
    const story = new Story().when(ask());
    story.when(propose('e1', [build({ ...constellation(['a', 'b'], ['a->b']), name: 'disks' })]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 1', 'TASK_STARTED a 1 on web-1']);
    expect(story.last?.events[0]).toMatchObject({ data: { origin: 'planner', tasks: 2, lines: 1 } });
    expect(story.run.graph.name).toBe('disks');
  });
});

describe('the stdin of a task', () => {
  const reads = (...from: string[]) => ({
    command: { tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: { from } } },
  });

  it('may come from its predecessors, in the order the batch says it, whatever comes first', () => {
    expect(violationsOf(FRESH.run, add.task('d', reads('a', 'c')), add.line('a->d'), add.line('c->d'))).toEqual([]);
    expect(violationsOf(FRESH.run, change.task('c', reads('b')))).toEqual([]);
  });

  it('is refused from anybody else, and says who its predecessors are', () => {
    expect(violationsOf(FRESH.run, add.task('d', reads('a')), add.line('b->d'))).toEqual([
      {
        code: 'INVALID_INPUT',
        path: 'edits[0].task.command.arguments.stdin',
        message: '"d" takes the output of "a", which is not its predecessor; those are b',
      },
    ]);
    expect(violationsOf(FRESH.run, change.task('c', reads('a')))).toMatchObject([
      { code: 'INVALID_INPUT', path: 'edits[0].change.command.arguments.stdin' },
    ]);
    expect(violationsOf(FRESH.run, build(constellation([{ id: 'a', ...reads('z') }])))).toMatchObject([
      { path: 'edits[0].constellation.tasks[0].command.arguments.stdin', message: expect.stringContaining('none') },
    ]);
  });

  it('is refused when the batch takes its line or its predecessor away', () => {
    const run = edited(FRESH, change.task('c', reads('b')));
    for (const edit of [remove.line('b-c'), remove.task('b')]) {
      expect(violationsOf(run, edit)).toMatchObject([
        { code: 'INVALID_INPUT', path: 'edits', message: expect.stringContaining('"c" takes') },
      ]);
    }
    expect(violationsOf(run, remove.task('b'), change.task('c', { command: null }))).toEqual([]);
    expect(violationsOf(run, remove.task('b'), remove.task('c'))).toEqual([]);
  });

  it('names the field that a result of EXEC_CLI does not have, and the input that is none', () => {
    const stdin = (...from: object[]) => ({ tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: { from } } });
    const said = (...from: object[]) => violationsOf(FRESH.run, change.task('b', { command: stdin(...from) } as never));
    expect(said({ task: 'a', field: 'stdin' })).toMatchObject([
      {
        code: 'INVALID_INPUT',
        message: expect.stringMatching(/^the result of EXEC_CLI has no field "stdin"; it has stdout,/),
      },
    ]);
    expect(said({ task: 'a' }, { task: 'a', field: 'a..b' })).toMatchObject([
      {
        path: 'edits[0].change.command.arguments.stdin.from[1].field',
        message: 'a field is names separated by dots, such as stdout or data.items.0.name',
      },
    ]);
    expect(said({ task: 'a', field: 'stderr' }, { task: 'a' })).toEqual([]);
  });

  it('is refused in another shape', () => {
    const command = { tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: { of: ['a'] } } };
    expect(violationsOf(FRESH.run, change.task('b', { command }))).toEqual([
      {
        code: 'INVALID_INPUT',
        path: 'edits[0].change.command.arguments.stdin',
        message: 'the stdin of "b" is a text, {"from": [predecessors]}, {"board": name} or {"secret": name}',
      },
    ]);
    expect(
      violationsOf(
        FRESH.run,
        change.task('b', { command: { tool: 'EXEC_CLI', arguments: { stdin: 'plain text' } } }),
        change.task('c', { command: { tool: 'EXEC_CLI', arguments: { stdin: null } } }),
      ),
    ).toEqual([]);
  });
});

describe('a line from a predecessor that has ended', () => {
  /** c COMPLETED with exit code 0, f FAILED, s SKIPPED, r RUNNING, p PENDING behind r. */
  const story = () =>
    new Story()
      .when(submit(constellation(['c', 'f', 's', 'r', 'p'], ['f=>s', 'r->p'])))
      .when(completed('c'), failed('f'));

  it('is judged in the event of the edit, and never again', () => {
    const told = story().when(propose(null, [add.line('f=>p'), add.line('c->p'), add.line('s->p')]));
    expect(judgedIn(told)).toEqual([
      { id: 'f-p', satisfied: false, reason: 'f is FAILED' },
      { id: 'c-p', satisfied: true },
      { id: 's-p', satisfied: true },
    ]);
    expect(told.told).toEqual(['CONSTELLATION_MODIFIED unasked revision 2', 'TASK_SKIPPED p by failure']);
  });

  it('is judged by its condition over the status and the result that are recorded', () => {
    const told = story().when(
      propose(null, [add.task('n'), add.line('c?result.exit_code == 0>n'), add.line('f?status == "FAILED">n')]),
    );
    expect(judgedIn(told)).toEqual([
      { id: 'c-n', satisfied: true },
      { id: 'f-n', satisfied: true },
    ]);
    expect(told.told.at(-1)).toBe('TASK_STARTED n 1 on web-1');
  });

  it('is judged anew when its type or condition changes, and not when its description does', () => {
    const begun = story().when(propose(null, [add.line('f->p')]));
    begun.when(propose(null, [change.line('f-p', { description: 'why' })]));
    expect(judgedIn(begun)).toEqual([]);
    begun.when(propose(null, [change.line('f-p', { type: 'conditional', condition: 'status == "SKIPPED"' })]));
    expect(judgedIn(begun)).toEqual([
      { id: 'f-p', satisfied: false, reason: 'the condition status == "SKIPPED" is false' },
    ]);
  });

  it('is judged anew when its condition alone changes', () => {
    const begun = story().when(propose(null, [add.line('c?result.exit_code == 0>p')]));
    begun.when(propose(null, [change.line('c-p', { condition: 'result.exit_code == 1' })]));
    expect(judgedIn(begun)).toMatchObject([{ id: 'c-p', satisfied: false }]);
    expect(begun.told.at(-1)).toBe('TASK_SKIPPED p by condition');
  });

  it('is judged as it would have been by that end, also when an earlier try had answered something', () => {
    const output = { value: { exit_code: 3 } };
    const error = { code: 'EXIT_CODE', message: 'exit code 1', outcome: 'failed' as const, output };
    const begun = () =>
      new Story()
        .when(submit(constellation([{ id: 'a', retry: { attempts: 2, backoffMs: 60_000 } }, 'f', 'r'])))
        .when(failed('f'))
        .when({
          kind: 'attempt-ended',
          taskId: 'a',
          attempt: 1,
          attemptHash: 'a'.repeat(64),
          finished: { status: 'failed', error },
        });
    const doom = add.line('f=>a');
    const asks = [add.task('n'), add.line('a?result.exit_code == 3>n')];
    const before = begun().when(propose(null, [...asks, doom]));
    const behind = begun()
      .when(propose(null, [doom]))
      .when(propose(null, asks));
    expect(before.status('a')).toBe('SKIPPED');
    for (const { run } of [before, behind]) {
      expect(run.lines.at(run.graph.lineIndex.get('a-n') ?? -1)).toEqual({ satisfied: true, reason: null });
    }
  });

  it('stays open from one that has not ended, and is judged by its end', () => {
    const told = story().when(propose(null, [add.task('n'), add.line('r=>n')]));
    expect(judgedIn(told)).toEqual([]);
    expect(told.status('n')).toBe('PENDING');
    expect(told.when(completed('r')).told).toContain('TASK_STARTED n 1 on web-1');
  });

  it('is folded as it was recorded: the fold judges nothing', () => {
    const told = story().when(propose(null, [add.task('n'), add.line('c->n')]));
    const [event] = told.last?.events ?? [];
    if (event?.type !== 'CONSTELLATION_MODIFIED') throw new Error('nothing was modified');
    const otherwise = { ...event, data: { ...event.data, judged: [{ id: 'c-n', satisfied: false, reason: 'so' }] } };
    const { run } = story();
    expect(evolve(run, otherwise).lines.at(2)).toEqual({ satisfied: false, reason: 'so' });
  });
});

describe('tasks that become ready', () => {
  it('start in the order in which they became ready, also after an edit has moved them', () => {
    const full = fleet([device('web-1', { tasksMax: 1 })]);
    const plan = constellation(['x', 'a', 'b', 'c', 'y', 'z'], ['a->z', 'a->y', 'y->x']);
    const story = new Story().on(full).when(submit(plan));
    expect(story.told.at(-1)).toBe('TASK_STARTED a 1 on web-1');
    story.when(completed('a'));
    expect(story.told.at(-1)).toBe('TASK_STARTED b 1 on web-1');
    const ready = (run: Run) => [...run.ready].map((index) => run.tasks.at(index).star.id);
    expect(ready(story.run)).toEqual(['c', 'z', 'y']);
    story.when(propose(null, [remove.task('x'), add.task('n')]));
    expect(ready(story.run)).toEqual(['c', 'z', 'y', 'n']);
    expect(checkInvariants(story.run)).toEqual([]);
    story.when(propose(null, [remove.task('c'), change.task('z', { name: 'other' })]));
    expect(ready(story.run)).toEqual(['z', 'y', 'n']);
  });

  it('start by their new priority', () => {
    const full = fleet([device('web-1', { tasksMax: 1 })]);
    const story = new Story().on(full).when(submit(constellation(['a', 'b', 'c'])));
    story.when(propose(null, [change.task('c', { priority: 1 })])).when(completed('a'));
    expect(story.told.at(-1)).toBe('TASK_STARTED c 1 on web-1');
  });

  it('start in the commit of the edit that frees them', () => {
    const story = new Story().when(submit(constellation(['a', 'b'], ['a->b'])));
    expect(story.when(propose(null, [remove.line('a-b')])).told).toEqual([
      'CONSTELLATION_MODIFIED unasked revision 2',
      'TASK_STARTED b 1 on web-1',
    ]);
    expect(story.when(WAKE).told).toEqual([]);
  });
});
