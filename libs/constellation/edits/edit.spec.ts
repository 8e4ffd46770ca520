import { describe, expect, it } from '@jest/globals';
import { Edit, type EditViolation, LIMITS, NO_USAGE, type TaskStatus } from '#proto';
import { applyEdits } from './edit.js';
import { foldEvents } from '../fold/evolve.js';
import {
  add,
  change,
  completed,
  constellation,
  device,
  failed,
  fleet,
  instant,
  remove,
  Story,
  submit,
  T0,
} from '../testing/given.js';
import { checkInvariants } from '../fold/invariants.js';
import { emptyRun, type Run } from '../state/run.js';

const parsed = (edits: readonly unknown[]) => edits.map((edit) => Edit.parse(edit));

function violationsOf(run: Run, ...edits: readonly unknown[]): readonly EditViolation[] {
  const applied = applyEdits(run, parsed(edits), T0);
  return applied.ok ? [] : applied.violations;
}

/** What a batch makes of a run, as a person would say it. */
function after(run: Run, ...edits: readonly unknown[]) {
  const applied = applyEdits(run, parsed(edits), T0);
  if (!applied.ok) throw new Error(applied.violations[0]?.message);
  const { graph } = applied.staging.finish().shape;
  return { tasks: [...graph.taskIds], lines: [...graph.lines].map(({ id }) => id), changed: applied.staging.changed };
}

/** `o` began it; each other task has the status its name stands for, and a line that leads to it. */
function everyStatus(): Run {
  const plan = constellation(['o', 'c', 'f', 'r', 'x', 's', 'p'], ['o->c', 'o->f', 'o->r', 'o->x', 'f=>s', 'r->p']);
  const { run } = new Story().when(submit(plan)).when(completed('o')).when(completed('c'), failed('f'));
  return foldEvents(run, [
    {
      type: 'TASK_CANCELLED',
      data: { taskId: 'x', attempt: 1, reason: 'retry', lines: [], cancelledAt: instant(0) },
    },
  ]);
}

const ENDED: readonly (readonly [TaskStatus, string, string])[] = [
  ['RUNNING', 'r', 'o-r'],
  ['COMPLETED', 'c', 'o-c'],
  ['FAILED', 'f', 'o-f'],
  ['SKIPPED', 's', 'f-s'],
  ['CANCELLED', 'x', 'o-x'],
];

const RUN = new Story().when(submit(constellation(['a', 'b', 'c'], ['a->b', 'b->c']))).run;

it('the states that these tests begin with are what their names say', () => {
  const run = everyStatus();
  expect([...run.tasks].map(({ star, status }) => `${star.id} ${status}`)).toEqual([
    'o COMPLETED',
    'c COMPLETED',
    'f FAILED',
    'r RUNNING',
    'x CANCELLED',
    's SKIPPED',
    'p PENDING',
  ]);
  expect(checkInvariants(run)).toEqual([]);
});

describe('add_task', () => {
  it('adds a task without lines at the end, pending', () => {
    expect(after(RUN, add.task('d'))).toEqual({ tasks: ['a', 'b', 'c', 'd'], lines: ['a-b', 'b-c'], changed: true });
  });

  it('applied twice is applied once', () => {
    expect(after(RUN, add.task('d'), add.task('d')).tasks).toEqual(['a', 'b', 'c', 'd']);
  });

  it('changes nothing when the task is there already, also when it has started', () => {
    expect(after(RUN, add.task('a'), add.task('b')).changed).toBe(false);
  });

  it('is refused when another task has the id', () => {
    expect(violationsOf(RUN, add.task('b', { name: 'other' }))).toEqual([
      {
        code: 'DUPLICATE_ID',
        path: 'edits[0].task.id',
        message: 'there is a task "b" already; use update_task or another id',
      },
    ]);
  });

  it('is refused under the id of a task that was removed, in the batch or before it', () => {
    const used = {
      code: 'ID_USED',
      message: '"c" was removed before; a task id is never used twice in a run',
    };
    expect(violationsOf(RUN, remove.task('c'), add.task('c'))).toEqual([{ ...used, path: 'edits[1].task.id' }]);
    const story = new Story().from(RUN).when({
      kind: 'proposal',
      by: { kind: 'person', id: 'alice' },
      planHash: null,
      source: 'rule',
      used: NO_USAGE,
      proposal: { editId: null, try: 1, baseRevision: null, state: 'CONTINUE', edits: parsed([remove.task('c')]) },
    });
    expect(violationsOf(story.run, add.task('c'))).toEqual([{ ...used, path: 'edits[0].task.id' }]);
  });
});

describe('remove_task', () => {
  it('removes a task with its lines', () => {
    expect(after(RUN, remove.task('b'))).toEqual({ tasks: ['a', 'c'], lines: [], changed: true });
  });

  it('applied twice, or in a later batch again, changes nothing more', () => {
    expect(after(RUN, remove.task('b'), remove.task('b')).tasks).toEqual(['a', 'c']);
    const story = new Story().from(RUN).when(asked([remove.task('b')]));
    expect(after(story.run, remove.task('b')).changed).toBe(false);
  });

  it('is refused for a task nobody knows, and says which there are', () => {
    expect(violationsOf(RUN, remove.task('z'))).toEqual([
      { code: 'UNKNOWN_TASK', path: 'edits[0].taskId', message: 'there is no task "z"; known are a, b, c' },
    ]);
  });

  it.each(ENDED)('is refused for a %s task', (status, id) => {
    expect(violationsOf(everyStatus(), remove.task(id))).toEqual([
      {
        code: 'I3_ONLY_PENDING',
        path: 'edits[0].taskId',
        message: `"${id}" is ${status}, and only PENDING tasks may change; add another task instead`,
      },
    ]);
  });

  it('is refused when a line of it leads to what has run: the history of that one would change', () => {
    const plan = constellation(['a', 'b', 'c'], ['a->b', 'a->c']);
    const story = new Story()
      .when(submit(plan))
      .when(failed('a'))
      .when(completed('b'))
      .when({ kind: 'verb', id: 'v', by: { kind: 'person', id: 'alice' }, action: { verb: 'PAUSE' } })
      .when({ kind: 'verb', id: 'w', by: { kind: 'person', id: 'alice' }, action: { verb: 'RETRY', taskId: 'a' } });
    expect(story.status('a')).toBe('PENDING');
    expect(violationsOf(story.run, remove.task('a')).map(({ message }) => message)).toEqual([
      'line "a-b" leads to "b", which is COMPLETED; a line may change only while its target is PENDING',
      'line "a-c" leads to "c", which is RUNNING; a line may change only while its target is PENDING',
    ]);
  });
});

describe('update_task', () => {
  it('changes what is named and leaves the rest', () => {
    const { run } = new Story().from(RUN).when(asked([change.task('b', { name: 'new', timeoutMs: 5_000 })]));
    const star = run.tasks.at(1).star;
    expect(star).toMatchObject({ id: 'b', name: 'new', timeoutMs: 5_000, target: { device: 'web-1' } });
  });

  it('removes with null what may be absent', () => {
    const story = new Story().from(RUN).when(asked([change.task('b', { timeoutMs: 5_000, command: null })]));
    story.when(asked([change.task('b', { timeoutMs: null, command: RUN.tasks.at(1).star.command ?? null })]));
    expect(story.run.tasks.at(1).star).toEqual(RUN.tasks.at(1).star);
    expect(Object.keys(story.run.tasks.at(1).star)).not.toContain('timeoutMs');
  });

  it('changes nothing when it is so already, whatever has become of the task', () => {
    expect(after(RUN, change.task('a', { name: 'a' }), change.task('b', { deadlineMs: null })).changed).toBe(false);
  });

  it('is refused for a task nobody knows', () => {
    expect(violationsOf(RUN, change.task('z', { name: 'new' }))).toEqual([
      { code: 'UNKNOWN_TASK', path: 'edits[0].taskId', message: 'there is no task "z"; known are a, b, c' },
    ]);
  });

  it.each(ENDED)('is refused for a %s task', (_, id) => {
    expect(violationsOf(everyStatus(), change.task(id, { name: 'new' }))).toMatchObject([
      { code: 'I3_ONLY_PENDING', path: 'edits[0].taskId' },
    ]);
  });

  it('counts a new deadline from the edit, and keeps an old one that it does not name', () => {
    const at = T0 + 60_000;
    const edits = parsed([change.task('b', { deadlineMs: 1_000 }), change.task('c', { name: 'new' })]);
    const applied = applyEdits(RUN, edits, at);
    if (!applied.ok) throw new Error('refused');
    expect(applied.staging.task(1).deadlineAt).toBe(instant(61_000));
    const kept = applyEdits(
      new Story().from(RUN).when(asked(edits)).run,
      parsed([change.task('b', { name: 'x' })]),
      at,
    );
    expect(kept.ok && kept.staging.task(1).deadlineAt).toBe(instant(1_000));
  });
});

describe('add_dependency', () => {
  it('adds a line', () => {
    expect(after(RUN, add.line('a=>c')).lines).toEqual(['a-b', 'b-c', 'a-c']);
  });

  it('applied twice is applied once, and changes nothing when the line is there', () => {
    expect(after(RUN, add.line('a=>c'), add.line('a=>c')).lines).toHaveLength(3);
    expect(after(RUN, add.line('a->b')).changed).toBe(false);
  });

  it('is refused when another line has the id', () => {
    expect(violationsOf(RUN, add.line('b=>c'))).toEqual([
      {
        code: 'DUPLICATE_ID',
        path: 'edits[0].line.id',
        message: 'there is a line "b-c" already; use update_dependency or another id',
      },
    ]);
  });

  it('is refused between tasks nobody knows, with both ends named', () => {
    expect(violationsOf(RUN, add.line('y->z'))).toEqual([
      { code: 'UNKNOWN_TASK', path: 'edits[0].line.from', message: 'there is no task "y"; known are a, b, c' },
      { code: 'UNKNOWN_TASK', path: 'edits[0].line.to', message: 'there is no task "z"; known are a, b, c' },
    ]);
  });

  it.each(ENDED)('is refused when it would lead to a %s task', (status, id) => {
    expect(violationsOf(everyStatus(), add.line(`o=>${id}`), add.task('n'), add.line(`n->${id}`))).toContainEqual({
      code: 'I3_ONLY_PENDING',
      path: 'edits[2].line.to',
      message: `line "n-${id}" leads to "${id}", which is ${status}; a line may change only while its target is PENDING`,
    });
  });

  it.each(ENDED)('may come from a %s task: its history stays as it is', (_, id) => {
    expect(violationsOf(everyStatus(), add.line(`${id}->p`)).filter(({ code }) => code !== 'DUPLICATE_ID')).toEqual([]);
  });

  it('is refused when it closes a cycle, which is named', () => {
    const plan = new Story().when(submit(constellation(['z', 'a', 'b', 'c'], ['z->a', 'a->b', 'b->c']))).run;
    expect(violationsOf(plan, add.line('c->a'))).toEqual([
      {
        code: 'I2_ACYCLIC',
        path: 'edits',
        message: 'the lines would form a cycle: a -> b -> c -> a; a constellation must be acyclic',
      },
    ]);
    expect(violationsOf(plan, add.line('a->a'))).toMatchObject([{ code: 'I2_ACYCLIC' }]);
    expect(violationsOf(plan, add.line('c->a'), remove.line('b-c'))).toEqual([]);
  });

  it('is refused with a condition that is none', () => {
    const line = { id: 'l', from: 'a', to: 'c', type: 'conditional', condition: 'result ==' };
    expect(violationsOf(RUN, { tool: 'add_dependency', line })).toEqual([
      {
        code: 'INVALID_CONDITION',
        path: 'edits[0].line.condition',
        message: expect.stringContaining('the condition is not valid CEL'),
      },
    ]);
  });
});

describe('remove_dependency', () => {
  it('removes a line', () => {
    expect(after(RUN, remove.line('a-b'))).toEqual({ tasks: ['a', 'b', 'c'], lines: ['b-c'], changed: true });
  });

  it('applied twice, or in a later batch again, changes nothing more', () => {
    expect(after(RUN, remove.line('a-b'), remove.line('a-b')).lines).toEqual(['b-c']);
    const story = new Story().from(RUN).when(asked([remove.line('b-c')]));
    expect(after(story.run, remove.line('b-c')).changed).toBe(false);
  });

  it('is refused for a line nobody knows, and says which there are', () => {
    expect(violationsOf(RUN, remove.line('l9'))).toEqual([
      { code: 'UNKNOWN_LINE', path: 'edits[0].lineId', message: 'there is no line "l9"; known are a-b, b-c' },
    ]);
  });

  it.each(ENDED)('is refused for a line that leads to a %s task', (_, __, line) => {
    expect(violationsOf(everyStatus(), remove.line(line))).toMatchObject([
      { code: 'I3_ONLY_PENDING', path: 'edits[0].lineId' },
    ]);
  });

  it('frees the id of the line: a line may be led elsewhere', () => {
    const line = { id: 'b-c', from: 'a', to: 'c', type: 'unconditional' };
    const edits = [remove.line('b-c'), { tool: 'add_dependency', line }];
    expect(after(RUN, ...edits)).toEqual({ tasks: ['a', 'b', 'c'], lines: ['a-b', 'b-c'], changed: true });
    const story = new Story().on(fleet([device('web-1', { tasksMax: 1 })])).from(RUN);
    story.when(asked([remove.line('b-c')])).when(asked([{ tool: 'add_dependency', line }]));
    expect(story.run.graph.lines.at(1)).toEqual(line);
    expect(after(story.run, remove.line('b-c')).lines).toEqual(['a-b']);
  });
});

describe('update_dependency', () => {
  it('changes type, condition and description', () => {
    const story = new Story()
      .from(RUN)
      .when(asked([change.line('b-c', { type: 'conditional', condition: 'true', description: 'why' })]));
    expect(story.run.graph.lines.at(1)).toEqual({
      id: 'b-c',
      from: 'b',
      to: 'c',
      type: 'conditional',
      condition: 'true',
      description: 'why',
    });
  });

  it('takes the condition away with the type, and the description with null', () => {
    const story = new Story()
      .from(RUN)
      .when(asked([change.line('b-c', { type: 'conditional', condition: 'true', description: 'why' })]))
      .when(asked([change.line('b-c', { type: 'success-only', description: null })]));
    expect(story.run.graph.lines.at(1)).toEqual({ id: 'b-c', from: 'b', to: 'c', type: 'success-only' });
  });

  it('changes another condition alone', () => {
    const story = new Story()
      .from(RUN)
      .when(asked([change.line('b-c', { type: 'conditional', condition: 'true' })]))
      .when(asked([change.line('b-c', { condition: 'false' })]));
    expect(story.run.graph.lines.at(1)).toMatchObject({ type: 'conditional', condition: 'false' });
  });

  it('changes nothing when it is so already, also of a line to what has started', () => {
    const run = new Story().when(submit(constellation(['a', 'b'], ['a->b']))).when(completed('a')).run;
    expect(after(run, change.line('a-b', { type: 'unconditional', description: null })).changed).toBe(false);
  });

  it.each([
    ['conditional without a condition', { type: 'conditional' as const }],
    ['a condition without conditional', { condition: 'true' }],
    ['a condition with another type', { type: 'success-only' as const, condition: 'true' }],
    ['conditional whose condition is taken away', { type: 'conditional' as const, condition: null }],
  ])('is refused as %s', (_, to) => {
    expect(violationsOf(RUN, change.line('b-c', to))).toEqual([
      {
        code: 'INVALID_CONDITION',
        path: 'edits[0].change.condition',
        message: 'a conditional line needs a condition, and only a conditional line may have one',
      },
    ]);
  });

  it('is refused with a condition that is none, and for a line nobody knows', () => {
    expect(violationsOf(RUN, change.line('b-c', { type: 'conditional', condition: 'nobody == 1' }))).toMatchObject([
      { code: 'INVALID_CONDITION', path: 'edits[0].change.condition', message: expect.stringContaining('nobody') },
    ]);
    expect(violationsOf(RUN, change.line('l9', { type: 'success-only' }))).toMatchObject([
      { code: 'UNKNOWN_LINE', path: 'edits[0].lineId' },
    ]);
  });

  it.each(ENDED)('is refused for a line that leads to a %s task', (_, __, line) => {
    expect(violationsOf(everyStatus(), change.line(line, { description: 'new' }))).toMatchObject([
      { code: 'I3_ONLY_PENDING', path: 'edits[0].change' },
    ]);
  });
});

describe('a batch', () => {
  it('is applied in order: what a primitive made, the next one may use', () => {
    const edits = [add.task('d'), add.line('c->d'), change.task('d', { name: 'new' }), remove.line('b-c')];
    expect(after(RUN, ...edits)).toEqual({ tasks: ['a', 'b', 'c', 'd'], lines: ['a-b', 'c-d'], changed: true });
  });

  it('is applied as a whole or not at all', () => {
    const story = new Story().from(RUN).when(asked([add.task('d'), remove.task('z')]));
    expect(story.told).toEqual([]);
    expect(story.run).toEqual(RUN);
    expect(story.answers[0]).toMatchObject({
      kind: 'rejected',
      reason: {
        code: 'EDIT_REJECTED',
        message: 'edits[1].taskId: there is no task "z"; known are a, b, c, d',
        issues: [{ path: 'edits[1].taskId' }],
      },
    });
  });

  it('names every violation, up to twenty', () => {
    const edits = Array.from({ length: 30 }, (_, index) => remove.task(`z${index}`));
    const violations = violationsOf(RUN, ...edits);
    expect(violations).toHaveLength(20);
    expect(violations[19]?.path).toBe('edits[19].taskId');
  });

  it('is refused beyond the limit of tasks', () => {
    const tasks = Array.from({ length: LIMITS.tasksMax - 3 }, (_, index) => add.task(`t${index}`));
    expect(violationsOf(RUN, ...tasks)).toEqual([]);
    expect(violationsOf(RUN, ...tasks, add.task('one-more'))).toEqual([
      { code: 'TOO_LARGE', path: 'edits', message: 'there would be 2001 tasks; at most 2000 are taken' },
    ]);
    expect(violationsOf(RUN, ...tasks, add.task('one-more'), remove.task('c'))).toEqual([]);
  });

  it('is refused beyond the limit of lines', () => {
    const lines = Array.from({ length: LIMITS.linesMax - 2 }, (_, index) => ({ id: `l${index}`, from: 'a', to: 'c' }));
    const edits = lines.map((line) => ({ tool: 'add_dependency', line }));
    const more = { tool: 'add_dependency', line: { id: 'more', from: 'a', to: 'b' } };
    expect(violationsOf(RUN, ...edits)).toEqual([]);
    expect(violationsOf(RUN, ...edits, more)).toEqual([
      { code: 'TOO_LARGE', path: 'edits', message: 'there would be 10001 lines; at most 10000 are taken' },
    ]);
  });

  it('makes a constellation of nothing', () => {
    expect(after(emptyRun('run-2'), add.task('a'), add.task('b'), add.line('a->b'))).toEqual({
      tasks: ['a', 'b'],
      lines: ['a-b'],
      changed: true,
    });
  });
});

/** An operator's edit. */
function asked(edits: readonly unknown[]) {
  return {
    kind: 'proposal' as const,
    by: { kind: 'person' as const, id: 'alice' },
    planHash: null,
    source: 'rule' as const,
    used: NO_USAGE,
    proposal: {
      editId: null,
      try: 1,
      baseRevision: null,
      state: 'CONTINUE' as const,
      edits: parsed(edits),
    },
  };
}
