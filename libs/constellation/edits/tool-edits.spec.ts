import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  CONSTELLATION_TOOLS,
  ConstellationToolCall,
  Edit,
  type Selector,
  TaskConstellation,
  ToolConstellation,
  type ToolDependency,
  type ToolTask,
} from '#proto';
import { applyEdits } from './edit.js';
import { constellation, Story, submit } from '../testing/given.js';
import {
  constellationOfTools,
  editOfCall,
  targetOfTools,
  TOOL_BACKOFF_MS,
  toolConstellationOf,
  toolTargetOf,
  violationOfCall,
} from './tool-edits.js';

function call(tool: string, input: unknown): ConstellationToolCall {
  return ConstellationToolCall.parse({ tool, arguments: input });
}

function editOf(tool: string, input: unknown): Edit {
  const made = editOfCall(call(tool, input));
  if (!made.ok) throw new Error(JSON.stringify(made.issues));
  return made.edit;
}

function issuesOf(tool: string, input: unknown): string[] {
  const made = editOfCall(call(tool, input));
  return made.ok ? [] : made.issues.map(({ path, message }) => `${path}: ${message}`);
}

const disk = { task_id: 'disk', name: 'disk', description: 'look at the disks', target_device_id: 'web-1' };
const ONE_TARGET = 'give target_device_id or target, not both';
const NO_TARGET = 'give target_device_id (this device) or target (any device that satisfies it)';

describe('a call of a tool', () => {
  it('adds a task with everything that was said, and with nothing that was not', () => {
    const edit = editOf('add_task', {
      ...disk,
      tips: ['say how full they are'],
      inputs: ['before'],
      board: [{ name: 'free', field: 'stdout' }],
      verify: { condition: 'result.exit_code == 0' },
      review: true,
      timeout_seconds: 1.5,
      deadline_seconds: 600,
      attempts: 3,
      priority: -2,
      idempotent: true,
      command: { tool: 'EXEC_CLI', arguments: { command: 'df' } },
    });
    expect(edit).toEqual({
      tool: 'add_task',
      task: {
        id: 'disk',
        name: 'disk',
        description: 'look at the disks',
        tips: ['say how full they are'],
        target: { device: 'web-1' },
        inputs: ['before'],
        board: [{ name: 'free', field: 'stdout' }],
        verify: { condition: 'result.exit_code == 0' },
        review: true,
        timeoutMs: 1_500,
        deadlineMs: 600_000,
        retry: { attempts: 3, backoffMs: TOOL_BACKOFF_MS },
        priority: -2,
        idempotent: true,
        command: { tool: 'EXEC_CLI', arguments: { command: 'df' } },
      },
    });
    const bare = editOf('add_task', disk);
    expect(bare).toStrictEqual({
      tool: 'add_task',
      task: { id: 'disk', name: 'disk', description: 'look at the disks', tips: [], target: { device: 'web-1' } },
    });
  });

  it('takes a selector for any device that satisfies it', () => {
    const { target_device_id: _, ...task } = disk;
    expect(editOf('add_task', { ...task, target: { tags: ['db'] } })).toMatchObject({
      task: { target: { tags: ['db'] } },
    });
  });

  it('is refused when it names a device and a selector, or neither', () => {
    const { target_device_id: _, ...task } = disk;
    expect(issuesOf('add_task', { ...disk, target: { os: 'linux' } })).toEqual([`target_device_id: ${ONE_TARGET}`]);
    expect(issuesOf('add_task', task)).toEqual([`target_device_id: ${NO_TARGET}`]);
    expect(issuesOf('update_task', { task_id: 'a', target_device_id: 'web-1', target: { os: 'linux' } })).toEqual([
      `target_device_id: ${ONE_TARGET}`,
    ]);
  });

  it('removes what it names', () => {
    expect(editOf('remove_task', { task_id: 'a' })).toEqual({ tool: 'remove_task', taskId: 'a' });
    expect(editOf('remove_dependency', { dependency_id: 'a-b' })).toEqual({ tool: 'remove_dependency', lineId: 'a-b' });
  });

  it('changes the fields of a task that were given, and removes what is null', () => {
    const update = { task_id: 'a', name: 'A', target: { os: 'linux' }, command: null, timeout_seconds: null };
    expect(
      editOf('update_task', {
        ...update,
        attempts: null,
        inputs: null,
        board: null,
        verify: null,
        deadline_seconds: null,
      }),
    ).toStrictEqual({
      tool: 'update_task',
      taskId: 'a',
      change: {
        name: 'A',
        target: { os: 'linux' },
        command: null,
        timeoutMs: null,
        deadlineMs: null,
        retry: null,
        inputs: null,
        board: null,
        verify: null,
      },
    });
    expect(editOf('update_task', { task_id: 'a', attempts: 2, timeout_seconds: 60 })).toStrictEqual({
      tool: 'update_task',
      taskId: 'a',
      change: { timeoutMs: 60_000, retry: { attempts: 2, backoffMs: TOOL_BACKOFF_MS } },
    });
  });

  it('is refused when nothing would change', () => {
    expect(issuesOf('update_task', { task_id: 'a' })).toEqual([
      ': nothing would change; give at least one field besides task_id',
    ]);
    expect(issuesOf('update_dependency', { dependency_id: 'a-b' })).toEqual([
      ': nothing would change; give at least one field besides dependency_id',
    ]);
  });

  it.each<[string, Partial<ToolDependency>, object]>([
    ['success-only', {}, { type: 'success-only' }],
    [
      'conditional with a condition',
      { condition: 'result.x == 1' },
      { type: 'conditional', condition: 'result.x == 1' },
    ],
    ['what it says', { type: 'unconditional' }, { type: 'unconditional' }],
    [
      'described',
      { type: 'unconditional', condition_description: 'always' },
      { type: 'unconditional', description: 'always' },
    ],
  ])('adds a dependency that is %s', (_, said, line) => {
    const ends = { dependency_id: 'a-b', from_task_id: 'a', to_task_id: 'b' };
    expect(editOf('add_dependency', { ...ends, ...said })).toStrictEqual({
      tool: 'add_dependency',
      line: { id: 'a-b', from: 'a', to: 'b', ...line },
    });
  });

  it('is refused when type and condition of a dependency do not go together', () => {
    const ends = { dependency_id: 'a-b', from_task_id: 'a', to_task_id: 'b' };
    const other = (type: string) =>
      `condition: a dependency that is ${type} has no condition; leave it out, or let the type be conditional`;
    expect(issuesOf('add_dependency', { ...ends, type: 'conditional' })).toEqual([
      'condition: a conditional dependency needs a condition',
    ]);
    expect(issuesOf('add_dependency', { ...ends, type: 'success-only', condition: 'true' })).toEqual([
      other('success-only'),
    ]);
    expect(issuesOf('update_dependency', { dependency_id: 'a-b', type: 'unconditional', condition: 'true' })).toEqual([
      other('unconditional'),
    ]);
  });

  it.each([
    [{ condition: 'result.x == 1' }, { type: 'conditional', condition: 'result.x == 1' }],
    [{ type: 'conditional' }, { type: 'conditional' }],
    [
      { type: 'success-only', condition: null },
      { type: 'success-only', condition: null },
    ],
    [{ condition: null }, { condition: null }],
    [{ condition_description: null }, { description: null }],
  ])('changes a dependency: %j', (said, change) => {
    expect(editOf('update_dependency', { dependency_id: 'a-b', ...said })).toStrictEqual({
      tool: 'update_dependency',
      lineId: 'a-b',
      change,
    });
  });

  it('builds a plan under the name that it has, or else the one that is given', () => {
    const config = { tasks: [disk] };
    const built = editOfCall(call('build_constellation', { config }), 'mine');
    expect(built).toMatchObject({
      ok: true,
      edit: { tool: 'build_constellation', clear: true, constellation: { name: 'mine' } },
    });
    expect(editOf('build_constellation', { config: { ...config, name: 'its own' }, clear_existing: false })).toEqual({
      tool: 'build_constellation',
      clear: false,
      constellation: {
        name: 'its own',
        lines: [],
        tasks: [{ id: 'disk', name: 'disk', description: 'look at the disks', tips: [], target: { device: 'web-1' } }],
      },
    });
  });

  it('says of every task and dependency of a plan what is wrong with it', () => {
    const { target_device_id: _, ...nowhere } = disk;
    const line = { dependency_id: 'l', from_task_id: 'disk', to_task_id: 'b', type: 'conditional' };
    expect(issuesOf('build_constellation', { config: { tasks: [disk, nowhere], dependencies: [line] } })).toEqual([
      `config.tasks[1].target_device_id: ${NO_TARGET}`,
      'config.dependencies[0].condition: a conditional dependency needs a condition',
    ]);
  });

  it('gives an edit that the wire takes, whatever the tool', () => {
    const calls = [
      ['add_task', disk],
      ['remove_task', { task_id: 'a' }],
      ['update_task', { task_id: 'a', review: false }],
      ['add_dependency', { dependency_id: 'a-b', from_task_id: 'a', to_task_id: 'b' }],
      ['remove_dependency', { dependency_id: 'a-b' }],
      ['update_dependency', { dependency_id: 'a-b', type: 'unconditional' }],
      ['build_constellation', { config: { tasks: [disk] } }],
    ] as const;
    expect(calls.map(([tool]) => tool)).toEqual(Object.keys(CONSTELLATION_TOOLS));
    for (const [tool, input] of calls) expect(Edit.parse(editOf(tool, input))).toEqual(editOf(tool, input));
  });
});

describe('a target', () => {
  it('is a device or a selector, and back', () => {
    for (const target of [{ device: 'web-1' }, { os: 'linux', tags: ['db'] }]) {
      expect(targetOfTools(toolTargetOf(target))).toEqual({ ok: true, target });
    }
  });
});

const ids = fc.constantFrom('a', 'b', 'c', 'd-1', 'E_2');
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const targets: fc.Arbitrary<Pick<ToolTask, 'target' | 'target_device_id'>> = fc.oneof(
  fc.record({ target_device_id: ids }),
  fc.record({ target: fc.constant<Selector>({ os: 'linux', tags: ['db'] }) }),
);
const command = fc.record({ tool: fc.constant('EXEC_CLI'), arguments: fc.constant({ command: 'df' }) });
const toolTasks: fc.Arbitrary<ToolTask> = fc
  .tuple(
    fc.record({ task_id: ids, name: fc.string({ minLength: 1, maxLength: 9 }), description: fc.string() }),
    targets,
    fc.record({
      tips: maybe(fc.array(fc.string(), { minLength: 1, maxLength: 3 })),
      command: maybe(command),
      inputs: maybe(fc.array(ids, { maxLength: 3 })),
      verify: maybe(fc.constant({ condition: 'result == 1' })),
      review: maybe(fc.boolean()),
      replaces: maybe(fc.array(ids, { minLength: 1, maxLength: 3 })),
      timeout_seconds: maybe(fc.integer({ min: 1_000, max: 86_400_000 }).map((ms) => ms / 1_000)),
      deadline_seconds: maybe(fc.integer({ min: 1_000, max: 86_400_000 }).map((ms) => ms / 1_000)),
      attempts: maybe(fc.integer({ min: 1, max: 10 })),
      priority: maybe(fc.integer({ min: -100, max: 100 })),
      idempotent: maybe(fc.boolean()),
    }),
  )
  .map(([said, target, more]) => ({ ...said, ...target, ...withoutUndefined(more) }));
const toolDependencies: fc.Arbitrary<ToolDependency> = fc
  .record({ dependency_id: ids, from_task_id: ids, to_task_id: ids, kind: fc.nat(4) })
  .map(({ kind, ...ends }) => {
    if (kind === 0) return { ...ends, type: 'conditional' as const, condition: 'status == "FAILED"' };
    if (kind === 1) return { ...ends, type: 'unconditional' as const };
    if (kind === 2) return { ...ends, type: 'success-only' as const, condition_description: 'when it went well' };
    return kind === 3 ? ends : { ...ends, condition: 'result == 1' };
  });
const toolPlans = fc.record({
  name: fc.string({ minLength: 1, maxLength: 20 }),
  tasks: fc.array(toolTasks, { minLength: 1, maxLength: 5 }),
  dependencies: fc.array(toolDependencies, { maxLength: 5 }),
});

function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** With the type that is meant when none is said. */
function explicit({ type, ...rest }: ToolDependency): ToolDependency {
  return { ...rest, type: type ?? (rest.condition === undefined ? 'success-only' : 'conditional') };
}

describe('a plan in the words of tools', () => {
  it('is the same after it was a constellation', () => {
    fc.assert(
      fc.property(toolPlans, (plan) => {
        const made = constellationOfTools(ToolConstellation.parse(plan), 'unused');
        if (!made.ok) throw new Error(JSON.stringify(made.issues));
        expect(TaskConstellation.parse(made.constellation)).toEqual(made.constellation);
        const said = { ...plan, dependencies: plan.dependencies.map(explicit) };
        expect(toolConstellationOf(made.constellation)).toEqual(said);
        expect(constellationOfTools(toolConstellationOf(made.constellation), 'unused')).toEqual(made);
      }),
      { seed: 20_261, numRuns: 200 },
    );
  });

  it('says a timeout of less than a second as the shortest that there is a word for', () => {
    const plan = constellation([{ id: 'a', timeoutMs: 100 }]);
    expect(toolConstellationOf(plan).tasks[0]?.timeout_seconds).toBe(1);
  });
});

describe('a violation', () => {
  const story = new Story().when(submit(constellation(['a', 'b'], ['a->b'])));
  const told = (tool: string, input: unknown): string[] => {
    const edit = editOf(tool, input);
    const applied = applyEdits(story.run, [edit], 0);
    return applied.ok ? [] : applied.violations.map((violation) => violationOfCall(violation, edit).path);
  };
  const line = { dependency_id: 'x', from_task_id: 'a', to_task_id: 'b' };
  const unverified = { verify: { condition: 'no cel (' } };

  it.each<[string, unknown, string]>([
    ['add_task', { ...disk, task_id: 'b' }, 'task_id'],
    ['add_task', { ...disk, ...unverified }, 'verify.condition'],
    ['add_task', { ...disk, inputs: ['a'] }, 'inputs'],
    ['remove_task', { task_id: 'nothing' }, 'task_id'],
    ['update_task', { task_id: 'nothing', name: 'x' }, 'task_id'],
    ['update_task', { task_id: 'b', ...unverified }, 'verify.condition'],
    ['add_dependency', { ...line, dependency_id: 'a-b' }, 'dependency_id'],
    ['add_dependency', { ...line, from_task_id: 'nothing' }, 'from_task_id'],
    ['add_dependency', { ...line, to_task_id: 'nothing' }, 'to_task_id'],
    ['add_dependency', { ...line, condition: 'no cel (' }, 'condition'],
    ['add_dependency', { ...line, from_task_id: 'b', to_task_id: 'b' }, ''],
    ['remove_dependency', { dependency_id: 'nothing' }, 'dependency_id'],
    ['update_dependency', { dependency_id: 'nothing', type: 'unconditional' }, 'dependency_id'],
    ['update_dependency', { dependency_id: 'a-b', condition: 'no cel (' }, 'condition'],
    ['build_constellation', { config: { tasks: [disk, disk] } }, 'config.tasks[1].task_id'],
    ['build_constellation', { config: { tasks: [{ ...disk, ...unverified }] } }, 'config.tasks[0].verify.condition'],
    [
      'build_constellation',
      { config: { tasks: [disk], dependencies: [{ ...line, to_task_id: 'disk', from_task_id: 'no' }] } },
      'config.dependencies[0].from_task_id',
    ],
  ])('of %s %j leads to %s', (tool, input, path) => expect(told(tool, input)).toContain(path));

  it('names other parts of a plan as tools do, too', () => {
    const twice = { dependency_id: 'l', from_task_id: 'disk', to_task_id: 'd' };
    const config = { tasks: [disk, { ...disk, task_id: 'd' }, disk], dependencies: [twice, twice] };
    const edit = editOf('build_constellation', { config });
    const applied = applyEdits(story.run, [edit], 0);
    const told = applied.ok ? [] : applied.violations.map((violation) => violationOfCall(violation, edit));
    expect(told.map(({ path, message }) => `${path}: ${message}`)).toEqual(
      expect.arrayContaining([
        'config.tasks[2].task_id: "disk" is the id of config.tasks[0] too; ids are unique',
        'config.dependencies[1].dependency_id: "l" is the id of config.dependencies[0] too; ids are unique',
      ]),
    );
  });

  it.each([
    ['add_task', disk, 'edits[0].task.target', 'target_device_id'],
    ['add_task', { ...disk, target_device_id: undefined, target: { os: 'x' } }, 'edits[7].task.target', 'target'],
    ['add_task', disk, 'edits[0].task.command.tool', 'command.tool'],
    ['update_task', { task_id: 'a', target_device_id: 'x' }, 'edits[0].change.target', 'target_device_id'],
    [
      'build_constellation',
      { config: { tasks: [disk] } },
      'edits[0].constellation.tasks[0].target',
      'config.tasks[0].target_device_id',
    ],
    ['build_constellation', { config: { tasks: [disk] } }, 'edits[0].constellation.tasks', 'config.tasks'],
    ['build_constellation', { config: { tasks: [disk] } }, 'edits[0].constellation', 'config'],
    ['add_task', disk, 'edits', ''],
    ['add_task', disk, 'baseRevision', ''],
  ])('of %s %j at %s leads to %s', (tool, input, path, within) => {
    const violation = { code: 'NO_DEVICE', path, message: 'no' } as const;
    expect(violationOfCall(violation, editOf(tool, input))).toEqual({ ...violation, path: within });
  });
});
