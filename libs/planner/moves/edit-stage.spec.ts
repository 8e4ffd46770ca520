import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ConstellationSnapshot, ConstellationToolCall, type EditViolation, LIMITS } from '#proto';
import { applyEdits, evolve, foldEvents, hasPlan, Judge, judgeOwed, snapshotOf, type Run } from '#libs/constellation';
import { EditStage } from './edit-stage.js';
import { completed, device, failed, fleet, NOW, plan, star, Story, T0, toolTask, tools } from './given.testing.js';

function call(tool: string, input: unknown): ConstellationToolCall {
  return ConstellationToolCall.parse({ tool, arguments: input });
}

const line = (from: string, to: string, more: object = {}) =>
  call('add_dependency', { dependency_id: `${from}-${to}`, from_task_id: from, to_task_id: to, ...more });

/** a has ended, b runs, c waits for it. */
const running = Story.of(plan(['a', 'b', 'c'], ['a->b', 'b->c'])).when(completed('a')).run;

function refusalOf(stage: EditStage, ...one: Parameters<EditStage['apply']>): EditViolation[] {
  const before = [stage.snapshot(), stage.edits, stage.run] as const;
  const staged = stage.apply(...one);
  if (staged.ok) throw new Error('it was taken');
  expect([stage.snapshot(), stage.edits, stage.run]).toEqual(before);
  return staged.violations;
}

describe('a stage', () => {
  it('begins as the run stands', () => {
    const stage = new EditStage(running, NOW);
    expect(stage.snapshot()).toEqual(snapshotOf(running));
    expect(stage.edits).toEqual([]);
  });

  it('answers every call with the whole constellation as it stands after it', () => {
    const stage = new EditStage(running, NOW);
    const added = stage.apply(call('add_task', toolTask('d')));
    if (!added.ok) throw new Error('refused');
    expect(added.snapshot.tasks.map(({ task_id }) => task_id)).toEqual(['a', 'b', 'c', 'd']);
    const joined = stage.apply(line('c', 'd'));
    expect(joined).toMatchObject({ ok: true });
    expect(stage.snapshot().dependencies.map(({ dependency_id, type }) => [dependency_id, type])).toEqual([
      ['a-b', 'unconditional'],
      ['b-c', 'unconditional'],
      ['c-d', 'success-only'],
    ]);
    expect(stage.edits.map(({ tool }) => tool)).toEqual(['add_task', 'add_dependency']);
    expect(snapshotOf(running).tasks).toHaveLength(3);
  });

  it('has one revision more than the run, however many calls there were', () => {
    const stage = new EditStage(running, NOW);
    stage.apply(call('add_task', toolTask('d')));
    stage.apply(call('add_task', toolTask('e')));
    expect(stage.snapshot().revision).toBe(running.revision + 1);
  });

  it.each<[string, ConstellationToolCall]>([
    ['add_task', call('add_task', toolTask('d'))],
    ['remove_task', call('remove_task', { task_id: 'c' })],
    ['update_task', call('update_task', { task_id: 'c', timeout_seconds: 30 })],
    ['add_dependency', line('a', 'c')],
    ['remove_dependency', call('remove_dependency', { dependency_id: 'b-c' })],
    ['update_dependency', call('update_dependency', { dependency_id: 'b-c', type: 'success-only' })],
    ['build_constellation', call('build_constellation', { config: tools(['c', 'd'], ['c>d']) })],
  ])('takes %s twice and changes once', (_, one) => {
    const stage = new EditStage(running, NOW);
    const first = stage.apply(one);
    expect(first).toMatchObject({ ok: true });
    const { edits, run } = stage;
    expect(stage.apply(one)).toEqual(first);
    expect(stage.edits).toBe(edits);
    expect(stage.run).toBe(run);
    expect(edits).toHaveLength(1);
  });

  it('keeps the name of the constellation when a build gives none', () => {
    const { name: _, ...config } = tools(['c', 'd']);
    const stage = new EditStage(running, NOW);
    stage.apply(call('build_constellation', { config }));
    expect(stage.snapshot().name).toBe('test');
  });

  it('judges a line whose first task has ended at once', () => {
    const stage = new EditStage(running, NOW);
    stage.apply(call('add_task', toolTask('d')));
    stage.apply(line('a', 'd', { condition: 'result.exit_code == 1' }));
    expect(stage.snapshot().dependencies.at(-1)).toMatchObject({ dependency_id: 'a-d', satisfied: false });
  });
});

describe('a stage refuses', () => {
  const known = 'known are a, b, c';

  it.each<[string, ConstellationToolCall, EditViolation]>([
    [
      'an unknown task',
      call('remove_task', { task_id: 'x' }),
      { code: 'UNKNOWN_TASK', path: 'task_id', message: `there is no task "x"; ${known}` },
    ],
    [
      'an unknown dependency',
      call('remove_dependency', { dependency_id: 'x' }),
      { code: 'UNKNOWN_LINE', path: 'dependency_id', message: 'there is no line "x"; known are a-b, b-c' },
    ],
    [
      'an id that is taken',
      call('add_task', toolTask('c')),
      { code: 'DUPLICATE_ID', path: 'task_id', message: 'there is a task "c" already; use update_task or another id' },
    ],
    [
      'to change what runs',
      call('update_task', { task_id: 'b', name: 'x' }),
      {
        code: 'I3_ONLY_PENDING',
        path: 'task_id',
        message: '"b" is RUNNING, and only PENDING tasks may change; add another task instead',
      },
    ],
    [
      'to remove what has ended',
      call('remove_task', { task_id: 'a' }),
      {
        code: 'I3_ONLY_PENDING',
        path: 'task_id',
        message: '"a" is COMPLETED, and only PENDING tasks may change; add another task instead',
      },
    ],
    [
      'a dependency of what runs',
      line('a', 'b', { dependency_id: 'again' }),
      {
        code: 'I3_ONLY_PENDING',
        path: 'to_task_id',
        message: 'line "again" leads to "b", which is RUNNING; a line may change only while its target is PENDING',
      },
    ],
    [
      'a cycle',
      line('c', 'c'),
      {
        code: 'I2_ACYCLIC',
        path: '',
        message: 'the lines would form a cycle: c -> c; a constellation must be acyclic',
      },
    ],
    [
      'inputs that no line brings',
      call('update_task', { task_id: 'c', inputs: ['a'] }),
      {
        code: 'INVALID_INPUT',
        path: 'inputs',
        message: '"c" takes the output of "a", which is not its predecessor; those are b',
      },
    ],
    [
      'what would change nothing',
      call('update_task', { task_id: 'c' }),
      { code: 'INVALID_INPUT', path: '', message: 'nothing would change; give at least one field besides task_id' },
    ],
    [
      'a tool that no device has',
      call('update_task', { task_id: 'c', command: { tool: 'FLY' } }),
      {
        code: 'UNKNOWN_TOOL',
        path: 'command.tool',
        message: 'no device that satisfies the target has the tool "FLY"; known are EXEC_CLI, SYS_INFO',
      },
    ],
    [
      'a device for which the plan was not made',
      call('update_task', { task_id: 'c', target_device_id: 'db-1' }),
      {
        code: 'OUT_OF_SCOPE',
        path: 'target_device_id',
        message: '"c" would run on device "db-1", for which the plan was not made; valid are device "web-1"',
      },
    ],
  ])('%s', (_, one, violation) => {
    const stage = new EditStage(running, NOW);
    stage.apply(call('add_task', toolTask('before')));
    const [first, ...more] = refusalOf(stage, one);
    expect(more).toEqual([]);
    expect({ ...first, message: first?.message.replace(', before', '') }).toEqual(violation);
  });

  it('a device that is not there, and says which may have been meant', () => {
    const goal = Story.goal().run;
    const task = toolTask('d', { target_device_id: 'web1' });
    expect(refusalOf(new EditStage(goal, NOW), call('add_task', task))).toEqual([
      {
        code: 'NO_DEVICE',
        path: 'target_device_id',
        message: 'no device "web1" is enrolled; devices are db-1, web-1, web-2; did you mean web-1?',
      },
    ]);
  });

  it('an id that was removed before', () => {
    const stage = new EditStage(running, NOW);
    stage.apply(call('remove_task', { task_id: 'c' }));
    expect(refusalOf(stage, call('add_task', toolTask('c')))).toEqual([
      { code: 'ID_USED', path: 'task_id', message: '"c" was removed before; a task id is never used twice in a run' },
    ]);
  });

  it('a task of an agent where nobody serves agents', () => {
    const lonely = { now: T0, fleet: fleet([device('web-1')], []) };
    expect(refusalOf(new EditStage(running, lonely), call('add_task', toolTask('d')))).toEqual([
      {
        code: 'NO_COMMAND',
        path: 'command',
        message:
          'a task without a command needs a device agent with a model for LinuxAgent and none is there; give it a command',
      },
    ]);
  });

  it('more than fits into one proposal', () => {
    const stage = new EditStage(running, NOW);
    const long = { tips: Array.from({ length: 50 }, () => 'x'.repeat(2_000)) };
    const ids = ['d', 'e', 'f', 'g', 'h', 'i'];
    const refused = ids.map((id) => stage.apply(call('add_task', { ...toolTask(id), ...long }))).at(-1);
    expect(refused).toMatchObject({ ok: false, violations: [{ code: 'TOO_LARGE', path: '' }] });
    expect(stage.edits).toHaveLength(5);
    const many = Array.from({ length: LIMITS.editsMax + 1 }, () => call('remove_task', { task_id: 'c' }));
    expect(new EditStage(running, NOW).applyAll(many)).toEqual({
      ok: false,
      violations: [
        { code: 'TOO_LARGE', path: '', message: 'there would be 2001 edits; at most 2000 are taken at a time' },
      ],
    });
  });
});

describe('several calls', () => {
  it('need to be valid together only, and are one edit each', () => {
    const stage = new EditStage(running, NOW);
    const calls = [
      call('update_task', { task_id: 'c', inputs: ['a'] }),
      line('a', 'c'),
      call('remove_task', { task_id: 'c' }),
      call('remove_task', { task_id: 'c' }),
    ];
    expect(stage.applyAll(calls.slice(0, 1))).toMatchObject({ ok: false });
    const staged = stage.applyAll(calls);
    expect(staged.ok && staged.edits.map(({ tool }) => tool)).toEqual([
      'update_task',
      'add_dependency',
      'remove_task',
      'remove_task',
    ]);
  });

  it('are taken all or none, and each violation says whose it is', () => {
    const stage = new EditStage(running, NOW);
    const staged = stage.applyAll([
      call('add_task', toolTask('d')),
      call('remove_task', { task_id: 'x' }),
      call('update_task', { task_id: 'b', name: 'y' }),
    ]);
    expect(staged).toMatchObject({
      ok: false,
      violations: [
        { call: 1, code: 'UNKNOWN_TASK', path: 'task_id' },
        { call: 2, code: 'I3_ONLY_PENDING', path: 'task_id' },
      ],
    });
    expect(stage.snapshot()).toEqual(snapshotOf(running));
  });

  it('may add what no device could do and take it away again', () => {
    const calls = [
      call('add_task', toolTask('d', { command: { tool: 'FLY', arguments: {} } })),
      call('remove_task', { task_id: 'd' }),
    ];
    expect(new EditStage(running, NOW).applyAll(calls)).toMatchObject({ ok: true });
  });

  it('that cannot be read are not tried', () => {
    const staged = new EditStage(running, NOW).applyAll([
      call('remove_task', { task_id: 'x' }),
      call('update_task', { task_id: 'c' }),
    ]);
    expect(staged).toMatchObject({ ok: false, violations: [{ call: 1, code: 'INVALID_INPUT', path: '' }] });
    expect(staged.ok || staged.violations).toHaveLength(1);
  });

  it('have a violation of their own for what none of them did alone', () => {
    const goal = Story.goal().run;
    const staged = new EditStage(goal, NOW).applyAll([
      call('add_task', toolTask('d')),
      call('add_task', toolTask('e')),
      line('d', 'e'),
      line('e', 'd'),
    ]);
    expect(staged).toMatchObject({ ok: false, violations: [{ code: 'I2_ACYCLIC', path: '' }] });
    expect(staged.ok || staged.violations[0]).not.toHaveProperty('call');
  });

  it('of a plan that begins are bound to no device but those that there are', () => {
    const goal = Story.goal().run;
    const stage = new EditStage(goal, NOW);
    for (const id of ['web-1', 'db-1', 'web-2']) {
      expect(stage.apply(call('add_task', toolTask(id, { target_device_id: id })))).toMatchObject({ ok: true });
    }
  });
});

const taskIds = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const deviceIds = fc.constantFrom('web-1', 'web-1', 'web-1', 'db-1', 'nowhere');
const calls: fc.Arbitrary<ConstellationToolCall> = fc.oneof(
  fc.tuple(taskIds, deviceIds).map(([id, where]) => call('add_task', toolTask(id, { target_device_id: where }))),
  taskIds.map((id) => call('remove_task', { task_id: id })),
  fc.tuple(taskIds, fc.constantFrom('x', 'y')).map(([id, name]) => call('update_task', { task_id: id, name })),
  fc.tuple(taskIds, taskIds).map(([from, to]) => line(from, to)),
  fc.tuple(taskIds, taskIds).map(([from, to]) => call('remove_dependency', { dependency_id: `${from}-${to}` })),
  fc
    .tuple(taskIds, taskIds, fc.constantFrom('unconditional', 'success-only'))
    .map(([from, to, type]) => call('update_dependency', { dependency_id: `${from}-${to}`, type })),
  fc
    .tuple(fc.uniqueArray(taskIds, { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([ids, clear]) => call('build_constellation', { config: tools(ids), clear_existing: clear })),
);

/** Runs of every kind: a goal, one in the middle, one with failures. */
const runs = fc.constantFrom<Run>(
  Story.goal().run,
  running,
  Story.of(plan(['a', 'b', star('c', { review: true }), 'd'], ['a=>b', 'c->d'])).when(failed('a'), completed('c')).run,
);

describe('whatever is called', () => {
  it('leads to what the orchestrator makes of the same edits, and what it refuses changes nothing', () => {
    fc.assert(
      fc.property(runs, fc.array(calls, { maxLength: 25 }), (run, said) => {
        const stage = new EditStage(run, NOW);
        for (const one of said) {
          const before = stage.snapshot();
          const staged = stage.apply(one);
          if (staged.ok) expect(ConstellationSnapshot.parse(staged.snapshot)).toEqual(stage.snapshot());
          else expect(stage.snapshot()).toEqual(before);
        }
        const applied = applyEdits(run, stage.edits, T0);
        if (!applied.ok) throw new Error(JSON.stringify(applied.violations));
        const { tasks, lines } = applied.staging.counts;
        const at = { modifiedAt: new Date(T0).toISOString(), origin: 'planner', tasks, lines } as const;
        const revision = run.revision + Number(stage.edits.length > 0);
        const data = {
          ...at,
          revision,
          edits: [...stage.edits],
          judged: [...judgeOwed(applied, new Judge(undefined))],
        };
        expect(snapshotOf(evolve(run, { type: 'CONSTELLATION_MODIFIED', data }))).toEqual(stage.snapshot());
      }),
      { seed: 20_263, numRuns: 150 },
    );
  });

  it('is taken by the orchestrator as one proposal', () => {
    fc.assert(
      fc.property(fc.array(calls, { maxLength: 25 }), (said) => {
        const story = Story.goal();
        const stage = new EditStage(story.run, NOW);
        stage.apply(call('add_task', toolTask('first')));
        for (const one of said) stage.apply(one);
        if (stage.snapshot().tasks.length === 0) return;
        story.proposes({ edits: [...stage.edits] });
        expect(story.run.editing).toBeNull();
        expect(hasPlan(story.run)).toBe(true);
      }),
      { seed: 20_264, numRuns: 100 },
    );
  });

  it('folds no event of its own into the run that it was given', () => {
    const copy = foldEvents(running, []);
    new EditStage(running, NOW).apply(call('build_constellation', { config: tools(['x']) }));
    expect(snapshotOf(running)).toEqual(snapshotOf(copy));
  });
});
