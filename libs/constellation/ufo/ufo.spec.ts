import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TaskConstellation } from '#proto';
import { UFO_SAMPLE } from '../testing/ufo-sample.js';
import { importUfo, isUfoConstellation, withoutUfo } from './ufo.js';
import { validateConstellation } from '../plan/validate.js';

type Fields = Record<string, unknown>;

const task = (change: Fields = {}): Fields => ({
  task_id: 'a',
  name: 'A',
  description: 'look',
  target_device_id: 'web-1',
  ...change,
});
const dependency = (change: Fields = {}): Fields => ({
  line_id: 'l1',
  from_task_id: 'a',
  to_task_id: 'b',
  ...change,
});
const two = [task(), task({ task_id: 'b' })];

function read(json: unknown): TaskConstellation {
  const read = importUfo(json);
  if (!read.ok) throw new Error(JSON.stringify(read.issues));
  return read.constellation;
}
const readTask = (change: Fields) => read({ tasks: [task(change)] }).tasks[0];
const readLine = (change: Fields) => read({ tasks: two, dependencies: [dependency(change)] }).lines[0];
function issuesOf(json: unknown): string[] {
  const read = importUfo(json);
  return read.ok ? [] : read.issues.map(({ path, message }) => `${path}: ${message}`);
}

describe('isUfoConstellation', () => {
  it.each<[string, unknown]>([
    ['what UFO writes', UFO_SAMPLE],
    ['lists', { tasks: [task()], dependencies: [] }],
    ['tasks alone', { tasks: [task()] }],
    ['tasks by id', { tasks: { a: { name: 'A' } } }],
    ['a device alone', { tasks: [{ name: 'A', description: 'look', target_device_id: 'web-1' }] }],
  ])('knows %s', (_, json) => {
    expect(isUfoConstellation(json)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['ours', { name: 'x', tasks: [{ id: 'a', name: 'A', target: { device: 'web-1' } }] }],
    ['ours with lines', { name: 'x', tasks: [{ task_id: 'a' }], lines: [] }],
    ['no tasks', { name: 'x', dependencies: [] }],
    ['a request', { requestId: 'x', constellation: UFO_SAMPLE }],
    ['a list', [task()]],
    ['nothing', null],
    ['a text', 'tasks'],
  ])('does not take %s for one', (_, json) => {
    expect(isUfoConstellation(json)).toBe(false);
  });
});

describe('importUfo', () => {
  it('reads what UFO writes as a plan, and passes over what became of it', () => {
    expect(read(UFO_SAMPLE)).toEqual({
      name: 'demo',
      tasks: [
        { id: 'task-1', name: 'collect', description: 'd1', tips: ['t'], target: { device: 'dev1' } },
        {
          id: 'task-2',
          name: 'report',
          description: 'd2',
          tips: [],
          target: { device: 'dev2' },
          timeoutMs: 12_500,
          retry: { attempts: 3, backoffMs: 0 },
          priority: 10,
        },
      ],
      lines: [{ id: 'line-1', from: 'task-1', to: 'task-2', type: 'unconditional', description: 'exit code == 0' }],
    });
  });

  it('reads plans that may run', () => {
    expect(validateConstellation(read(UFO_SAMPLE))).toEqual([]);
  });

  it('reads lists and objects alike', () => {
    const listed = {
      ...UFO_SAMPLE,
      tasks: Object.values(UFO_SAMPLE.tasks),
      dependencies: Object.values(UFO_SAMPLE.dependencies),
    };
    expect(read(listed)).toEqual(read(UFO_SAMPLE));
  });

  it('reads what a model makes of a request', () => {
    const made = { tasks: two, dependencies: [dependency({ condition_description: 'when a is done' })], metadata: {} };
    expect(read(made)).toMatchObject({ name: 'constellation', lines: [{ type: 'unconditional' }] });
  });

  it('takes the key for the id where none is written', () => {
    const { tasks, lines } = read({
      tasks: { a: task({ task_id: '' }), b: task({ task_id: null }) },
      dependencies: { l1: dependency({ line_id: undefined }) },
    });
    expect([...tasks, ...lines].map(({ id }) => id)).toEqual(['a', 'b', 'l1']);
  });

  it('makes ids that nothing else has', () => {
    const { tasks, lines } = read({
      tasks: [task({ task_id: '' }), task({ task_id: 'task_001' }), task({ task_id: undefined }), ...two],
      dependencies: [dependency({ line_id: 'line_002' }), dependency({ line_id: '' }), dependency({ line_id: null })],
    });
    expect(tasks.map(({ id }) => id)).toEqual(['task_002', 'task_001', 'task_003', 'a', 'b']);
    expect(lines.map(({ id }) => id)).toEqual(['line_002', 'line_001', 'line_003']);
  });

  it('makes ids that no id is either, however many there are', () => {
    const taken = Array.from({ length: 1_500 }, (_, index) =>
      task({ task_id: `task_${String(index + 1).padStart(3, '0')}` }),
    );
    expect(read({ tasks: [...taken, task({ task_id: '' })] }).tasks.at(-1)?.id).toBe('task_1501');
  });

  it.each<[unknown, number | undefined]>([
    [1, -10],
    ['low', -10],
    [2, undefined],
    ['MEDIUM', undefined],
    [null, undefined],
    [3, 10],
    ['High', 10],
    [4, 20],
    ['CRITICAL', 20],
  ])('reads the priority %j as %j', (priority, ours) => {
    expect(readTask({ priority })?.priority).toBe(ours);
  });

  it.each<[Fields, unknown]>([
    [{ target_device_id: 'db-1', device_type: 'linux' }, { device: 'db-1' }],
    [{ target_device_id: null, device_type: 'linux' }, { os: 'linux' }],
    [{ target_device_id: '', device_type: 'MacOS' }, { os: 'macos' }],
  ])('reads the device of %j', (fields, target) => {
    expect(readTask(fields)?.target).toEqual(target);
  });

  it.each<[Fields, unknown]>([
    [{ dependency_type: 'UNCONDITIONAL' }, { type: 'unconditional' }],
    [{ dependency_type: null }, { type: 'unconditional' }],
    [
      { dependency_type: 'completion_only', condition_description: 'x' },
      { type: 'unconditional', description: 'x' },
    ],
    [
      { dependency_type: 'success_only', condition_description: 'true' },
      { type: 'success-only', description: 'true' },
    ],
    [
      { dependency_type: 'Conditional', condition_description: 'result.exit_code == 0' },
      { type: 'conditional', condition: 'result.exit_code == 0' },
    ],
    [
      { dependency_type: 'conditional', condition_description: 'when the disk is full' },
      { type: 'success-only', description: 'when the disk is full' },
    ],
    [{ dependency_type: 'conditional', condition_description: null }, { type: 'success-only' }],
  ])('reads the dependency %j', (fields, line) => {
    expect(readLine(fields)).toEqual({ id: 'l1', from: 'a', to: 'b', ...(line as object) });
  });

  it('reads the older name of a description', () => {
    expect(readTask({ description: undefined, task_description: 'look' })?.description).toBe('look');
  });
});

describe('importUfo refuses', () => {
  it.each<[string, unknown, string[]]>([
    ['a text', 'x', [': a constellation of UFO is an object with tasks and dependencies']],
    ['no tasks', { tasks: [] }, ['tasks: at least one task is needed']],
    ['tasks that are a text', { tasks: 'a' }, ['tasks: must be a list, or an object by id']],
    ['a task that is a text', { tasks: ['a'] }, ['tasks[0]: must be an object']],
    [
      'an id twice in a list',
      { tasks: [task(), task()] },
      ['tasks[1].task_id: is already the id of tasks[0]; ids must be unique'],
    ],
    [
      'an id of a line twice',
      { tasks: two, dependencies: [dependency(), dependency()] },
      ['dependencies[1].line_id: is already the id of dependencies[0]; ids must be unique'],
    ],
    ['an id that is not its key', { tasks: { b: task() } }, ['tasks.b.task_id: must be the key that it stands under']],
    [
      'an id that could not stand in a subject',
      { tasks: { 'a b': task({ task_id: 'a b' }) } },
      ['tasks.a b.task_id: a task id must be 1 to 64 characters out of A-Z, a-z, 0-9, "_" and "-"'],
    ],
    [
      'an id of a line that is a number',
      { tasks: two, dependencies: [dependency({ line_id: 1 })] },
      ['dependencies[0].line_id: must be a text, not 1'],
    ],
    [
      'a line to a task that is not there',
      { tasks: two, dependencies: { l1: dependency({ to_task_id: 'c', from_task_id: null }) } },
      [
        'dependencies.l1.from_task_id: must be the id of a task; known are a, b',
        'dependencies.l1.to_task_id: must be the id of a task; known are a, b',
      ],
    ],
    [
      'a task for no device',
      { tasks: [task({ target_device_id: null, device_type: '' })] },
      [
        'tasks[0].target_device_id: must name a device, or else device_type must be one of windows, macos, linux, android, ios, web, api',
      ],
    ],
    [
      'a device type that is none',
      { tasks: [task({ target_device_id: null, device_type: 'toaster' })] },
      ['tasks[0].device_type: must be one of windows, macos, linux, android, ios, web, api'],
    ],
    [
      'a device id that is none',
      { tasks: [task({ target_device_id: 'a b' })] },
      ['tasks[0].target_device_id: a device id must be 1 to 64 characters out of A-Z, a-z, 0-9, "_" and "-"'],
    ],
    [
      'a priority that is none',
      { tasks: [task({ priority: 5 }), task({ task_id: 'b', priority: 'urgent' })] },
      [
        'tasks[0].priority: must be 1 to 4 or one of low, medium, high, critical',
        'tasks[1].priority: must be one of low, medium, high, critical',
      ],
    ],
    [
      'times and counts out of range',
      { tasks: [task({ timeout: 0, retry_count: 10 })] },
      [
        'tasks[0].timeout: must be a number of seconds from 0.1 to 86400',
        'tasks[0].retry_count: must be a whole number from 0 to 9',
      ],
    ],
    [
      'a type of dependency that is none',
      { tasks: two, dependencies: [dependency({ dependency_type: 'maybe' })] },
      ['dependencies[0].dependency_type: must be one of unconditional, conditional, success_only, completion_only'],
    ],
    [
      'what our schema refuses, named as UFO names it',
      {
        tasks: [
          task({
            name: '',
            tips: 't',
            task_data: { orrery: { command: { tool: 'a b' }, priority: -1_000 } },
            priority: 1,
          }),
        ],
      },
      [
        'tasks[0].name: must have at least 1 character',
        'tasks[0].tips: must be a list, not a text',
        'tasks[0].task_data.orrery.command.tool: a tool name must be 1 to 128 letters, digits or _ . : -',
        'tasks[0].task_data.orrery.priority: must be at least -100',
      ],
    ],
    [
      'a text that is too long for a line',
      { tasks: two, dependencies: { l1: dependency({ condition_description: 'x'.repeat(2_001) }) } },
      ['dependencies.l1.condition_description: must have at most 2000 characters'],
    ],
  ])('%s', (_, json, issues) => {
    expect(issuesOf(json)).toEqual(issues);
  });

  it('at most twenty faults at a time, and says each briefly', () => {
    const key = 'k'.repeat(100_000);
    const tasks = Array.from({ length: 50 }, (_, index): [string, Fields] => [
      `${index} ${key}`,
      task({ task_id: '' }),
    ]);
    const issues = issuesOf({ tasks: Object.fromEntries(tasks) });
    expect(issues).toHaveLength(20);
    expect(Math.max(...issues.map(({ length }) => length))).toBeLessThan(300);
  });

  it('anything else with a value, never with an exception', () => {
    const field = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>('a', 'b', 'conditional', 'linux', 1, null, 'true'));
    const names = ['task_id', 'name', 'description', 'tips', 'target_device_id', 'device_type', 'priority', 'timeout'];
    const lineNames = ['line_id', 'from_task_id', 'to_task_id', 'dependency_type', 'condition_description', 'metadata'];
    const fields = (keys: string[]) =>
      fc.dictionary(fc.constantFrom(...keys, 'retry_count', 'task_data', 'metadata', '__proto__'), field);
    const several = (keys: string[]) =>
      fc.oneof(field, fc.array(fields(keys)), fc.dictionary(fc.constantFrom('a', 'b', '', '__proto__'), fields(keys)));
    const extras = fc.record({ tasks: several(names), dependencies: several(lineNames), name: field });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), extras), (json) => {
        expect(typeof isUfoConstellation(json)).toBe('boolean');
        const imported = importUfo(json);
        if (imported.ok) expect(TaskConstellation.safeParse(imported.constellation).success).toBe(true);
        else expect(imported.issues.length).toBeGreaterThan(0);
      }),
      { numRuns: 300, seed: 20_260_310 },
    );
  });
});

describe('withoutUfo', () => {
  it('puts our form into a request', () => {
    const request = { requestId: 'r', constellation: UFO_SAMPLE, options: { priority: 1 } };
    const metadata = { ufo: { constellation: { constellation_id: UFO_SAMPLE.constellation_id } } };
    expect(withoutUfo(request)).toEqual({
      ok: true,
      request: { ...request, constellation: read(UFO_SAMPLE), metadata },
    });
  });

  it('leaves every other request as it is', () => {
    const ours = { requestId: 'r', constellation: read(UFO_SAMPLE) };
    for (const request of [ours, { requestId: 'r', goal: 'look' }, null, 'x', [UFO_SAMPLE]]) {
      expect(withoutUfo(request)).toEqual({ ok: true, request });
    }
  });

  it('says where in the request the fault is', () => {
    const request = { requestId: 'r', constellation: { tasks: [task({ priority: 5 })] } };
    expect(withoutUfo(request)).toMatchObject({ ok: false, issues: [{ path: 'constellation.tasks[0].priority' }] });
  });
});
