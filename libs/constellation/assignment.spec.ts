import { describe, expect, it } from '@jest/globals';
import type { AgentProfile, TaskStar } from '#proto';
import { ANY_DEVICE } from './schedule/ready.js';
import { assign, checkTarget, checkTargets, type FleetView, isRepeatable } from './edits/fleet-view.js';
import { completed, constellation, device, fleet, instant, Story, submit, T0, WAKE } from './testing/given.js';

const star = (change: Partial<TaskStar> = {}): TaskStar => {
  const [task] = constellation([{ id: 'a', ...change }]).tasks;
  if (task === undefined) throw new Error('no task');
  return task;
};
const LINUX = star({ target: { os: 'linux' } });
const HOLD = { by: { kind: 'person' as const, id: 'alice' }, reason: 'new kernel', heldAt: instant(0) };

/** A fleet with parts of its view set: circuits, reservations, slots. */
const view = (devices: readonly AgentProfile[], change: Partial<FleetView> = {}): FleetView => ({
  ...fleet(devices),
  ...change,
});

const chosen = (task: TaskStar, of: FleetView, avoid?: Parameters<typeof assign>[2]) => {
  const assignment = assign(task, of, avoid);
  return assignment.kind === 'device' ? assignment.device.deviceId : assignment;
};

describe('a device is chosen', () => {
  it.each([
    ['by its id', { device: 'b' }, 'b'],
    ['by its system', { os: 'macos' }, 'c'],
    ['by all of its capabilities', { capabilities: ['cli', 'gpu'] }, 'b'],
    ['by its tags', { tags: ['db'] }, 'c'],
    ['by its processors', { resources: { cpuCount: 4 } }, 'b'],
    ['by its memory', { resources: { memoryMb: 8_000 } }, 'c'],
  ] as const)('%s', (_, target, expected) => {
    const devices = [
      device('a'),
      device('b', { capabilities: ['cli', 'gpu'], resources: { cpuCount: 8, memoryMb: 1_024 } }),
      device('c', { os: 'macos', tags: ['db'], resources: { cpuCount: 2, memoryMb: 16_000 } }),
    ];
    expect(chosen(star({ target: target as never }), fleet(devices))).toBe(expected);
  });

  it('that has the tool', () => {
    const tools = [{ name: 'GPU_INFO', description: '', readOnly: true }];
    const task = star({ target: { os: 'linux' }, command: { tool: 'GPU_INFO', arguments: {} } });
    expect(chosen(task, fleet([device('a'), device('b', { tools })]))).toBe('b');
  });

  it('least loaded first, then by id, in whatever order the fleet is told', () => {
    const devices = [device('c'), device('b'), device('a')];
    expect(chosen(LINUX, fleet(devices, { a: 2, b: 1, c: 1 }))).toBe('b');
    expect(chosen(LINUX, fleet(devices.toReversed(), { a: 2, b: 1, c: 1 }))).toBe('b');
  });

  describe('among those with as many tasks by how busy the machine is', () => {
    const at = instant(0);
    const says = (id: string, load1: number | null, cpuCount = 4) =>
      device(id, {
        resources: { cpuCount, memoryMb: 1_024 },
        metrics: load1 === null ? null : { load1, memoryFreeMb: 1, diskFreeMb: 1, gpus: [], at },
      });

    it.each<[string, AgentProfile[], string]>([
      ['the idle one before the busy one', [says('a', 9), says('b', 0.1)], 'b'],
      ['for each of its processors', [says('a', 4, 2), says('b', 4, 32)], 'b'],
      ['in coarse steps: the id decides between two that are idle', [says('b', 0), says('a', 0.9)], 'a'],
      ['one that says nothing is in the middle: after the idle', [says('a', null), says('b', 0.1)], 'b'],
      ['one that says nothing is in the middle: before the busy', [says('a', 8), says('b', null)], 'b'],
      ['one without known processors is in the middle, too', [says('a', 0, 0), says('b', 0.1)], 'b'],
      ['without any word of them by id', [says('b', null), says('a', null)], 'a'],
    ])('%s', (_, devices, expected) => {
      expect(chosen(LINUX, fleet(devices))).toBe(expected);
      expect(chosen(LINUX, fleet(devices.toReversed()))).toBe(expected);
    });

    it('and never against the number of tasks', () => {
      expect(chosen(LINUX, fleet([says('a', 99), says('b', 0)], { a: 1, b: 2 }))).toBe('a');
    });
  });

  it('but not one that is revoked', () => {
    const revoked = { by: HOLD.by, reason: 'stolen', revokedAt: instant(0) };
    const devices = [device('a', { revoked }), device('b')];
    expect(chosen(LINUX, fleet(devices))).toBe('b');
    expect(checkTarget(star({ target: { device: 'a' } }), fleet(devices))).toMatchObject({
      code: 'NO_DEVICE',
      message: 'the device "a" is revoked; known are b',
    });
    expect(checkTarget(LINUX, fleet([device('a', { revoked })]))).toMatchObject({ code: 'NO_DEVICE' });
    expect(chosen(LINUX, fleet([device('a', { revoked: null }), device('b')]))).toBe('a');
  });

  it.each(['offline', 'suspect', 'lost'] as const)('but not one that is %s', (status) => {
    expect(chosen(LINUX, fleet([device('a', { status })]))).toEqual({ kind: 'wait', busy: [], until: null });
  });

  it('but not one that is held: its tasks wait, and start when it is released', () => {
    const held = fleet([device('web-1', { held: HOLD })]);
    const story = new Story().on(held).when(submit(constellation(['a'])));
    expect(story.told).toEqual(['RUN_REQUESTED', 'CONSTELLATION_MODIFIED']);
    expect([...(story.last?.starvedOf ?? [])]).toEqual([ANY_DEVICE]);
    expect(story.last?.wakeAt).toBe(T0 + 5_000);
    expect(story.on(fleet([device('web-1')])).when(WAKE).told).toEqual(['TASK_STARTED a 1 on web-1']);
  });

  it('another one instead of one that is held', () => {
    expect(chosen(LINUX, fleet([device('a', { held: HOLD }), device('b')]))).toBe('b');
  });

  it('not in the session that was lost under the task', () => {
    const avoid = { session: 'a-s1', failedOn: [] };
    expect(chosen(LINUX, fleet([device('a'), device('b')]), avoid)).toBe('b');
    expect(chosen(LINUX, fleet([device('a')]), avoid)).toMatchObject({ kind: 'wait' });
  });
});

describe('the limits', () => {
  it('of a device are slots, those of other runs and those that are kept for others taken off', () => {
    const one = [device('a', { tasksMax: 3 })];
    expect(chosen(LINUX, fleet(one, { a: 2 }))).toBe('a');
    expect(chosen(LINUX, fleet(one, { a: 3 }))).toEqual({ kind: 'wait', busy: ['a'], until: null });
    expect(chosen(LINUX, view(one, { running: () => 1, reserved: () => 2 }))).toMatchObject({ kind: 'wait' });
    expect(chosen(LINUX, view(one, { running: () => 1, reserved: () => 1 }))).toBe('a');
  });

  it('of a run are tasks at a time', () => {
    const story = new Story().when(submit(constellation(['a', 'b', 'c']), { options: { concurrency: 2 } }));
    expect(story.told.slice(2)).toEqual(['TASK_STARTED a 1 on web-1', 'TASK_STARTED b 1 on web-1']);
    expect(story.last?.starvedOf.size).toBe(0);
    expect(story.when(completed('a')).told).toEqual(['TASK_COMPLETED a 1', 'TASK_STARTED c 1 on web-1']);
  });

  it('of the whole fleet are tasks at a time: whoever does not fit waits for any device', () => {
    const full = view([device('web-1')], { slotsLeft: 1 });
    const story = new Story().on(full).when(submit(constellation(['a', 'b'])));
    expect(story.told.slice(2)).toEqual(['TASK_STARTED a 1 on web-1']);
    expect([...(story.last?.starvedOf ?? [])]).toEqual([ANY_DEVICE]);
    expect(story.when(completed('a')).told).toEqual(['TASK_COMPLETED a 1', 'TASK_STARTED b 1 on web-1']);
  });

  it('hold for what starts in one commit, over all its tasks', () => {
    const two = fleet([device('a', { tasksMax: 2 }), device('b', { tasksMax: 1 })], { a: 1 });
    const plan = constellation(['t1', 't2', 't3', 't4'].map((id) => ({ id, target: { os: 'linux' } })));
    const story = new Story().on(two).when(submit(plan));
    expect(story.told.slice(2)).toEqual(['TASK_STARTED t1 1 on b', 'TASK_STARTED t2 1 on a']);
    expect([...(story.last?.starvedOf ?? [])].toSorted()).toEqual(['a', 'b']);
  });

  it('do not let a task that must wait keep back one with other needs', () => {
    const two = fleet([device('web-1', { tasksMax: 1 }), device('db-1')], { 'web-1': 1 });
    const plan = constellation(['a', 'b', { id: 'c', target: { device: 'db-1' } }]);
    expect(new Story().on(two).when(submit(plan)).told.slice(2)).toEqual(['TASK_STARTED c 1 on db-1']);
  });

  it('start by priority, and those of the same priority as they became ready', () => {
    const one = fleet([device('web-1', { tasksMax: 1 })]);
    const plan = constellation([
      { id: 'low', priority: -1 },
      'first',
      'second',
      { id: 'high', priority: 9 },
      { id: 'high-too', priority: 9 },
    ]);
    const story = new Story().on(one).when(submit(plan));
    const order = [story.told.at(-1)];
    for (const id of ['high', 'high-too', 'first', 'second']) order.push(story.when(completed(id)).told.at(-1));
    expect(order).toEqual(['high', 'high-too', 'first', 'second', 'low'].map((id) => `TASK_STARTED ${id} 1 on web-1`));
  });

  it('tell the priority to the device, too', () => {
    const story = new Story().when(submit(constellation([{ id: 'a', priority: 7 }])));
    expect(story.last?.events.at(-1)).toMatchObject({ type: 'TASK_STARTED', data: { priority: 7 } });
  });
});

describe('a device whose circuit is open', () => {
  const open = { circuit: () => ({ state: 'open', until: T0 + 30_000 }) as const };
  const halfOpen = { circuit: () => ({ state: 'half-open' }) as const };

  it('is given nothing until it may be tried, which wakes whoever waits for it', () => {
    const story = new Story().on(view([device('web-1')], open)).when(submit(constellation(['a'])));
    expect(story.told).toHaveLength(2);
    expect([...(story.last?.starvedOf ?? [])]).toEqual([ANY_DEVICE]);
    expect(chosen(LINUX, view([device('a')], open))).toEqual({ kind: 'wait', busy: [], until: T0 + 30_000 });
  });

  it('is looked at again when it may be tried, if that is sooner than anything else', () => {
    const soon = { circuit: () => ({ state: 'open', until: T0 + 2_000 }) as const };
    const story = new Story().on(view([device('web-1')], soon)).when(submit(constellation(['a'])));
    expect(story.last?.wakeAt).toBe(T0 + 2_000);
  });

  it('is passed over for one that is closed', () => {
    const circuit = (id: string) => (id === 'a' ? open.circuit() : ({ state: 'closed' } as const));
    expect(chosen(LINUX, view([device('a'), device('b')], { circuit, running: (id) => (id === 'b' ? 5 : 0) }))).toBe(
      'b',
    );
  });

  it('is tried with one task at a time', () => {
    const story = new Story().on(view([device('web-1')], halfOpen)).when(submit(constellation(['a', 'b'])));
    expect(story.told.slice(2)).toEqual(['TASK_STARTED a 1 on web-1']);
    expect([...(story.last?.starvedOf ?? [])]).toEqual(['web-1']);
  });
});

describe('what no device can ever do', () => {
  const devices = [device('web-1'), device('web-2', { tags: ['db'] })];

  it.each([
    ['an unknown device', { target: { device: 'mars' } }, 'NO_DEVICE', 'target', 'known are web-1, web-2'],
    [
      'a selector that nobody meets',
      { target: { os: 'plan9' } },
      'NO_DEVICE',
      'target',
      'no enrolled device can satisfy {"os":"plan9"}; known devices are web-1, web-2',
    ],
    [
      'an unknown tool',
      { command: { tool: 'FLY', arguments: {} } },
      'UNKNOWN_TOOL',
      'command.tool',
      'has the tool "FLY"; known are EXEC_CLI, SYS_INFO',
    ],
    ['no command', { command: undefined as never }, 'NO_COMMAND', 'command', 'give it a command'],
  ])('is said of %s, with the path and what would do', (_, change, code, path, message) => {
    expect(checkTarget(star(change), fleet(devices))).toMatchObject({
      code,
      path,
      message: expect.stringContaining(message),
    });
  });

  const EXEC = {
    name: 'EXEC_CLI',
    description: '',
    readOnly: false,
    inputSchema: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1 },
        timeout: { type: 'number' },
        stdin: { anyOf: [{ type: 'string' }] },
      },
      required: ['command'],
      additionalProperties: false,
    },
  };
  const telling = fleet([device('web-1', { tools: [EXEC] }), device('web-2', { tools: [EXEC] })]);
  const calling = (args: object, more: object = {}) =>
    star({ command: { tool: 'EXEC_CLI', arguments: args as never }, ...more });

  it.each([
    [{ comand: 'ls' }, 'command.arguments.command', 'is missing (EXEC_CLI of web-1)'],
    [
      { command: 'ls', timeoutt: 1 },
      'command.arguments.timeoutt',
      'is no argument of it, those are command, timeout, stdin; did you mean "timeout"? (EXEC_CLI of web-1)',
    ],
    [{ command: ['ls'] }, 'command.arguments.command', 'must be a string (EXEC_CLI of web-1)'],
    [{ command: 'ls', timeout: '5' }, 'command.arguments.timeout', 'must be a number (EXEC_CLI of web-1)'],
  ])('is said of arguments that its tool does not take: %j', (args, path, message) => {
    expect(checkTarget(calling(args), telling)).toEqual({ code: 'INVALID_ARGUMENTS', path, message });
    const checked = star({ verify: { command: { tool: 'EXEC_CLI', arguments: args } } });
    expect(checkTarget(checked, telling)).toMatchObject({ path: `verify.${path}` });
  });

  it('is not said of arguments that one of the devices takes, or that nobody has said anything about', () => {
    const [other] = devices;
    const mixed = fleet([device('web-1', { tools: [EXEC] }), other ?? device('web-2')]);
    expect(checkTarget(calling({ comand: 'ls' }, { target: { os: 'linux' } }), mixed)).toBeUndefined();
    expect(checkTarget(calling({ command: 'ls', stdin: { from: ['a'] } }), telling)).toBeUndefined();
    expect(
      checkTarget(calling({ comand: 'ls' }), fleet([device('web-1', { tools: [EXEC] })], {}, false)),
    ).toBeUndefined();
  });

  it('does not take a task from its device that is there already', () => {
    expect(chosen(calling({ comand: 'ls' }, { target: { device: 'web-1' } }), telling)).toBe('web-1');
  });

  it('is said of each task with its place', () => {
    const plan = constellation(['a', { id: 'b', target: { device: 'mars' } }]);
    expect(checkTargets(plan, fleet(devices))).toMatchObject([{ path: 'tasks[1].target' }]);
  });

  it('is never said from a view that is not complete', () => {
    expect(checkTarget(star({ target: { device: 'mars' } }), fleet(devices, {}, false))).toBeUndefined();
    expect(chosen(star({ target: { device: 'mars' } }), fleet([], {}, false))).toMatchObject({ kind: 'wait' });
  });

  it('is not said of a device that never connected: it has not told what it can do', () => {
    const fresh = fleet([device('new', { session: null, status: 'offline', os: '', tools: [], tags: ['db'] })]);
    expect(checkTarget(star({ target: { os: 'plan9' } }), fresh)).toBeUndefined();
    expect(
      checkTarget(star({ target: { device: 'new' }, command: { tool: 'FLY', arguments: {} } }), fresh),
    ).toBeUndefined();
    expect(checkTarget(star({ target: { tags: ['gpu'] } }), fresh)).toMatchObject({ code: 'NO_DEVICE' });
  });

  it('is not said of a device that named no tools, where the request names the device', () => {
    const silent = fleet([device('ufo', { tools: [] }), device('a')]);
    const named = star({ target: { device: 'ufo' }, command: { tool: 'execute_command', arguments: {} } });
    expect(checkTarget(named, silent)).toBeUndefined();
    expect(chosen(named, silent)).toBe('ufo');
    const some = star({ target: { os: 'linux' }, command: { tool: 'execute_command', arguments: {} } });
    expect(checkTarget(some, silent)).toMatchObject({ code: 'UNKNOWN_TOOL' });
  });

  it('is not said of EXEC_CLI where a named device has it under another name', () => {
    const inputSchema = { type: 'object', properties: { command: { type: 'string' } } };
    const tools = [{ name: 'execute_command', description: '', readOnly: false, inputSchema }];
    const ufo = fleet([device('ufo', { tools })]);
    const of = (target: object) => star({ target: target as never, command: { tool: 'EXEC_CLI', arguments: {} } });
    expect(chosen(of({ device: 'ufo' }), ufo)).toBe('ufo');
    // It takes less than EXEC_CLI does: nobody is sent there who did not mean it.
    expect(checkTarget(of({ os: 'linux' }), ufo)).toMatchObject({ code: 'UNKNOWN_TOOL' });
    const other = fleet([device('ufo', { tools: [{ name: 'execute_command', description: '', readOnly: false }] })]);
    expect(checkTarget(of({ device: 'ufo' }), other)).toMatchObject({ code: 'UNKNOWN_TOOL' });
  });

  it('is not said of one that is away, or held', () => {
    for (const change of [{ status: 'lost' as const }, { held: HOLD }]) {
      expect(chosen(LINUX, fleet([device('a', change)]))).toEqual({ kind: 'wait', busy: [], until: null });
    }
  });

  it('fails the task that waits for it, and whoever is behind it is judged', () => {
    const plan = constellation(['a', { id: 'b', target: { device: 'db-1' } }, 'c', 'd'], ['a->b', 'b=>c', 'b->d']);
    const story = new Story()
      .when(submit(plan))
      .on(fleet([device('web-1')]))
      .when(completed('a'));
    expect(story.told).toEqual([
      'TASK_COMPLETED a 1',
      'TASK_FAILED b 0 NO_DEVICE failed',
      'TASK_SKIPPED c by failure',
      'TASK_STARTED d 1 on web-1',
    ]);
    expect(story.run.tasks.at(1).error?.message).toBe('target: no device "db-1" is enrolled; known are web-1');
  });
});

describe('what may be repeated', () => {
  const of = fleet([device('a')]);

  it.each([
    ['a task that says so', { idempotent: true }, true],
    ['a tool that only reads', { command: { tool: 'SYS_INFO', arguments: {} } }, true],
    ['a tool that may write', {}, false],
    ['no command at all', { command: undefined as never }, false],
  ])('%s: %s', (_, change, expected) => {
    expect(isRepeatable(star(change), of, 'a')).toBe(expected);
  });

  it('is not known of a device that is gone', () => {
    const reads = star({ command: { tool: 'SYS_INFO', arguments: {} } });
    expect(isRepeatable(reads, of, 'gone')).toBe(false);
    expect(isRepeatable(reads, of, null)).toBe(false);
  });
});
