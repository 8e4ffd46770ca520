import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LineType, RunOptions, RunRequest, TaskConstellation, TaskStar, TaskStarLine } from '#proto';
import { UFO_SAMPLE } from '../testing/ufo-sample.js';
import { exportUfo, type UfoSource } from './ufo-export.js';
import { importUfo, isUfoConstellation, withoutUfo } from './ufo.js';

type Fields = Record<string, unknown>;

function read(json: unknown): TaskConstellation {
  const imported = importUfo(json);
  if (!imported.ok) throw new Error(JSON.stringify(imported.issues));
  return imported.constellation;
}

const id = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/u),
  // Numbers come first in an object, and some names are special ones.
  fc.integer({ min: 0, max: 40 }).map(String),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'task_001', '-', '_', 'x'.repeat(64)),
);
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const name = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' });
const condition = fc.constantFrom(
  'result.exit_code == 0',
  ' status == "FAILED" ',
  'result.stdout.contains("ö\u{202e}")',
);
/** The whole of a predecessor's output, or a field of it. */
const input = fc.oneof(id, fc.record({ task: id, field: fc.constantFrom('stdout', 'stderr', 'data') }));
const call = fc.record({
  tool: fc.constantFrom('EXEC_CLI', 'x:y'),
  arguments: fc.oneof(
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.array(input, { minLength: 1 }).map((from) => ({ command: 'wc -l', stdin: { from } })),
  ),
});
const target = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/u).map((device) => ({ device })),
  fc
    .record(
      {
        os: fc.constantFrom('linux', 'Linux', 'windows', 'plan9'),
        capabilities: fc.array(fc.constantFrom('cli', 'gui')),
        tags: fc.array(fc.constantFrom('db', 'eu')),
        resources: fc.record({ cpuCount: fc.integer({ min: 1, max: 64 }) }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    )
    .filter((selector) => Object.keys(selector).length > 0),
);

/** A value for every field of a task: a field that is added to the schema is added here, or the test below says so. */
const taskFields = {
  id,
  name,
  description: text,
  tips: fc.array(text, { maxLength: 3 }),
  target,
  command: call,
  timeoutMs: fc.integer({ min: 100, max: 86_400_000 }),
  deadlineMs: fc.integer({ min: 100, max: 86_400_000 }),
  retry: fc.record(
    { attempts: fc.integer({ min: 1, max: 10 }), backoffMs: fc.nat(9_000), backoffMsMax: fc.nat(9_000) },
    { requiredKeys: ['attempts'] },
  ),
  priority: fc.integer({ min: -100, max: 100 }),
  idempotent: fc.boolean(),
  verify: fc.oneof(
    fc.record({ command: call }),
    fc.record({ condition }),
    fc.record({ command: call, condition: fc.string({ minLength: 1 }) }),
  ),
  inputs: fc.array(input, { maxLength: 3 }),
  files: fc.record(
    {
      in: fc.array(fc.oneof(id, fc.record({ from: id, file: fc.constant('logs/*'), to: fc.constant('all/') })), {
        minLength: 1,
        maxLength: 2,
      }),
      out: fc.constantFrom(['a.csv'], ['**/*.log', 'b?']),
    },
    { requiredKeys: ['out'] },
  ),
  board: fc.array(fc.record({ name: fc.constantFrom('free_gb', 'hosts') }), { minLength: 1, maxLength: 1 }),
  forEach: fc.record(
    { wave: fc.constantFrom(3, '10%'), pauseMs: fc.nat(9_000), maxFailures: fc.constantFrom(0, 2, '5%') },
    { requiredKeys: [] },
  ),
  review: fc.boolean(),
  replaces: fc.array(id, { minLength: 1, maxLength: 3 }),
};

const lineFields = {
  id,
  from: fc.nat(),
  to: fc.nat(),
  type: fc.constantFrom(...LineType.options),
  condition: fc.oneof(condition, fc.constantFrom('result.no_such_field > 3', 'not CEL at all')),
  description: fc.oneof(text, fc.constantFrom('true', 'result.exit_code == 0')),
};

/** Everything a constellation may hold that changes on its way through another format if anything does. */
const constellations: fc.Arbitrary<TaskConstellation> = fc
  .record({
    name,
    tasks: fc.uniqueArray(fc.record(taskFields, { requiredKeys: ['id', 'name', 'target'] }), {
      minLength: 1,
      maxLength: 6,
      selector: (task) => task.id,
    }),
    lines: fc.uniqueArray(fc.record(lineFields, { requiredKeys: ['id', 'from', 'to', 'type', 'condition'] }), {
      maxLength: 6,
      selector: (line) => line.id,
    }),
  })
  .map(({ tasks, lines, ...rest }) => {
    const idAt = (position: number) => tasks[position % tasks.length]?.id;
    const placed = lines.map(({ condition: asked, ...line }) => ({
      ...line,
      from: idAt(line.from),
      to: idAt(line.to),
      ...(line.type === 'conditional' ? { condition: asked } : {}),
    }));
    // What JSON and the schema drop is no constellation in the first place.
    return TaskConstellation.parse(JSON.parse(JSON.stringify({ ...rest, tasks, lines: placed })));
  });

/** What a request asks besides. */
const optionFields = {
  editPolicy: fc.constantFrom('every-result', 'when-needed', 'never'),
  lockPolicy: fc.constantFrom('strict', 'scoped'),
  editDeadlineMs: fc.integer({ min: 100, max: 3_600_000 }),
  concurrency: fc.integer({ min: 1, max: 10_000 }),
  priority: fc.integer({ min: -100, max: 100 }),
  deadlineMs: fc.integer({ min: 1_000, max: 86_400_000 }),
  deviceAskMs: fc.integer({ min: 100, max: 86_400_000 }),
  deviceWaitMs: fc.integer({ min: 100, max: 86_400_000 }),
  budget: fc.record({ tokens: fc.integer({ min: 1, max: 9_000 }) }),
  rounds: fc.nat(100),
  approval: fc.constantFrom('policy', 'always', 'never'),
  approvals: fc.integer({ min: 1, max: 9 }),
  plan: fc.constantFrom('start', 'approve'),
  judge: fc.constantFrom('models', 'all'),
  planner: fc.constantFrom('service', 'external'),
  evaluate: fc.boolean(),
  workspace: fc.boolean(),
  keepWorkspace: fc.boolean(),
};
const requests = fc
  .record({
    constellation: constellations,
    options: fc.record(optionFields, { requiredKeys: [] }),
    metadata: fc.dictionary(fc.string({ maxLength: 64, unit: 'grapheme' }), fc.jsonValue()),
  })
  .map((asked) => RunRequest.parse(JSON.parse(JSON.stringify({ requestId: 'r', ...asked }))));

describe('exportUfo', () => {
  const made = TaskConstellation.parse({
    name: 'made',
    tasks: [
      { id: 'b', name: 'B', target: { os: 'linux', tags: ['db'] }, command: { tool: 'EXEC_CLI' }, priority: 15 },
      { id: 'a', name: 'A', description: 'look', tips: ['t'], target: { device: 'web-1' }, timeoutMs: 12_345 },
      { id: '1', name: 'One', target: { os: 'plan9' }, retry: { attempts: 3, backoffMs: 50 } },
    ],
    lines: [
      { id: 'l1', from: 'a', to: 'b', type: 'success-only', description: 'when it went well' },
      { id: 'l2', from: 'a', to: 'b', type: 'conditional', condition: 'result.exit_code == 0', description: 'zero' },
      { id: 'l3', from: 'b', to: '1' },
    ],
  });
  const done = { attempt: 1, result: null, error: null, startedAt: null, endedAt: null };
  type Written = { state: string; tasks: Record<string, Fields>; dependencies: Record<string, Fields> } & Fields;
  const write = (source: Partial<UfoSource> = {}) =>
    exportUfo({ constellation: made, runId: 'run-1', ...source }) as Written;

  it('is read back as what it was, whatever the constellation, the options and the metadata', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const { constellation, options, metadata } = request;
        if (constellation === null) throw new Error('it has one');
        const written: unknown = exportUfo({ constellation, runId: 'run-1', asked: { options, metadata } });
        const json: unknown = JSON.parse(JSON.stringify(written));
        expect(isUfoConstellation(json)).toBe(true);
        expect(importUfo(json)).toStrictEqual({ ok: true, constellation, asked: { options, metadata } });
        const again = withoutUfo({ requestId: 'r', constellation: json });
        expect(RunRequest.parse(again.ok ? again.request : null)).toStrictEqual(request);
      }),
      { numRuns: 300, seed: 20_260_311 },
    );
  });

  it.each([
    ['a task', TaskStar, taskFields],
    ['a line', TaskStarLine, lineFields],
    ['the options', RunOptions, optionFields],
  ])('is asked for every field of %s', (_, schema, fields) => {
    expect(Object.keys(fields).toSorted()).toEqual(Object.keys(schema.shape).toSorted());
  });

  it('has the fields that UFO writes, no more and no fewer', () => {
    const fieldsOf = ({ tasks, dependencies, ...rest }: { tasks: object; dependencies: object }) => [
      Object.keys(rest).toSorted(),
      ...[...Object.values(tasks), ...Object.values(dependencies)].map((each: object) => Object.keys(each).toSorted()),
    ];
    const unique = (of: { tasks: object; dependencies: object }) => new Set(fieldsOf(of).map((keys) => keys.join(' ')));
    expect(unique(write())).toEqual(unique(UFO_SAMPLE));
  });

  it('writes a plan as UFO would', () => {
    expect(write()).toMatchObject({
      constellation_id: 'run-1',
      name: 'made',
      state: 'ready',
      metadata: { orrery: { runId: 'run-1', revision: null } },
      tasks: {
        a: {
          target_device_id: 'web-1',
          device_type: null,
          tips: ['t'],
          priority: 2,
          timeout: 12.345,
          retry_count: 0,
          dependencies: [],
          dependents: ['b'],
          status: 'pending',
        },
        b: {
          target_device_id: null,
          device_type: 'linux',
          tips: null,
          priority: 3,
          dependencies: ['a'],
          dependents: ['1'],
        },
        1: { target_device_id: null, device_type: null, retry_count: 2, current_retry: 0 },
      },
      dependencies: {
        l1: { dependency_type: 'success_only', condition_description: 'when it went well', is_satisfied: false },
        l2: { dependency_type: 'conditional', condition_description: 'result.exit_code == 0' },
        l3: { dependency_type: 'success_only', condition_description: null },
      },
    });
  });

  it('writes what has become of a run', () => {
    const [startedAt, endedAt] = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:00:01.500Z'];
    const written = write({
      revision: 3,
      createdAt: '2026-11-20T11:59:59.000Z',
      updatedAt: endedAt,
      startedAt,
      endedAt,
      tasks: new Map([
        ['a', { ...done, status: 'COMPLETED', attempt: 2, result: { exit_code: 0 }, startedAt, endedAt }],
        ['b', { ...done, status: 'FAILED', error: 'EXIT_CODE: exit code 1', startedAt }],
        ['1', { ...done, status: 'SKIPPED', attempt: 0 }],
      ]),
      satisfied: new Map([
        ['l1', true],
        ['l2', false],
        ['l3', null],
      ]),
    });
    expect(written).toMatchObject({
      state: 'partially_failed',
      metadata: { orrery: { revision: 3 } },
      created_at: '2026-11-20T11:59:59.000+00:00',
      execution_duration: 1.5,
      tasks: {
        a: { status: 'completed', current_retry: 1, result: { exit_code: 0 }, execution_duration: 1.5 },
        b: { status: 'failed', error: 'EXIT_CODE: exit code 1', execution_duration: null },
        1: { status: 'cancelled', current_retry: 0, execution_start_time: null },
      },
      dependencies: {
        l1: { is_satisfied: true, last_evaluation_result: true, last_evaluation_time: '2026-11-20T12:00:01.500+00:00' },
        l2: { is_satisfied: false, last_evaluation_result: false },
        l3: { is_satisfied: false, last_evaluation_result: null, last_evaluation_time: null },
      },
    });
    expect(read(JSON.parse(JSON.stringify(written)))).toEqual(made);
  });

  it.each([
    [['PENDING', 'PENDING', 'PENDING'], 'ready'],
    [['FAILED', 'PENDING', 'PENDING'], 'ready'],
    [['RUNNING', 'PENDING', 'PENDING'], 'executing'],
    [['COMPLETED', 'PENDING', 'PENDING'], 'executing'],
    [['COMPLETED', 'COMPLETED', 'SKIPPED'], 'completed'],
    [['CANCELLED', 'CANCELLED', 'CANCELLED'], 'completed'],
    [['COMPLETED', 'FAILED', 'CANCELLED'], 'partially_failed'],
    [['FAILED', 'SKIPPED', 'CANCELLED'], 'failed'],
  ] as const)('says of %j that it is %s', (statuses, state) => {
    const tasks = new Map(made.tasks.map(({ id }, index) => [id, { ...done, status: statuses[index] ?? 'PENDING' }]));
    expect(write({ tasks }).state).toBe(state);
  });

  it('lets what UFO changed win over what we wrote beside it', () => {
    const { tasks, dependencies, ...rest } = JSON.parse(JSON.stringify(write())) as Written;
    const changed = {
      ...rest,
      tasks: {
        ...tasks,
        b: { ...tasks['b'], device_type: 'windows', priority: 1 },
        1: { ...tasks['1'], target_device_id: 'db-1', retry_count: 5 },
      },
      dependencies: { ...dependencies, l2: { ...dependencies['l2'], dependency_type: 'success_only' } },
    };
    const { tasks: now, lines } = read(changed);
    expect(now.find(({ id }) => id === 'b')).toMatchObject({
      target: { os: 'windows', tags: ['db'] },
      priority: -10,
    });
    expect(now.find(({ id }) => id === '1')).toMatchObject({
      target: { device: 'db-1' },
      retry: { attempts: 6, backoffMs: 50 },
    });
    expect(lines.find(({ id }) => id === 'l2')).toMatchObject({ type: 'success-only' });
  });

  it('writes a line after a failure as a condition, and reads it back as what it was unless UFO has changed it', () => {
    const lines = [{ id: 'l2', from: 'a', to: 'b', type: 'failure-only' as const, description: 'undo it' }];
    const { dependencies, ...rest } = JSON.parse(
      JSON.stringify(exportUfo({ constellation: { ...made, lines }, runId: 'run-1' })),
    ) as Written;
    const { l2 = {} } = dependencies;
    expect(l2).toMatchObject({ dependency_type: 'conditional', condition_description: 'status == "FAILED"' });
    const readBack = (change: object) => read({ ...rest, dependencies: { l2: { ...l2, ...change } } }).lines;
    expect(readBack({})).toEqual(lines);
    expect(readBack({ dependency_type: 'unconditional' })).toMatchObject([{ type: 'unconditional' }]);
    expect(readBack({ condition_description: 'result.n > 1' })).toMatchObject([
      { type: 'conditional', condition: 'result.n > 1' },
    ]);
  });

  it('puts what UFO added behind what it was given', () => {
    const { tasks, ...rest } = JSON.parse(JSON.stringify(write())) as Written;
    const { tasks: after } = read({ ...rest, tasks: { 0: { name: 'Zero', target_device_id: 'web-1' }, ...tasks } });
    expect(after.map(({ id }) => id)).toEqual(['b', 'a', '1', '0']);
  });

  describe('of a constellation that somebody else made', () => {
    const [taskOne, taskTwo] = Object.values(UFO_SAMPLE.tasks);
    const theirs = {
      ...UFO_SAMPLE,
      author: 'somebody',
      metadata: { project: 'x', nested: { a: [1, null] } },
      tasks: {
        'task-1': { ...taskOne, task_data: { window: 'main' }, device_type: 'linux', expected_output_type: 'text' },
        'task-2': { ...taskTwo, colour: 'red', status: 'pending', task_data: { __proto__: null, constructor: 1 } },
      },
      dependencies: {
        'line-1': { ...UFO_SAMPLE.dependencies['line-1'], dependency_type: 'conditional', metadata: { weight: 3 } },
        'line-2': {
          ...UFO_SAMPLE.dependencies['line-1'],
          line_id: 'line-2',
          dependency_type: 'completion_only',
          condition_description: null,
        },
      },
    };
    const asked = (json: unknown): RunRequest => {
      const request = withoutUfo({ requestId: 'r', constellation: json, metadata: { mine: true } });
      return RunRequest.parse(request.ok ? request.request : null);
    };
    const back = (json: unknown): Written => {
      const { constellation, options, metadata } = asked(json);
      if (constellation === null) throw new Error('it has one');
      return JSON.parse(
        JSON.stringify(exportUfo({ constellation, runId: 'run-1', asked: { options, metadata } })),
      ) as Written;
    };

    it('has what they had, in its place, and ours beside it', () => {
      const { tasks, dependencies, metadata, ...rest } = back(theirs);
      expect(rest).toMatchObject({ constellation_id: UFO_SAMPLE.constellation_id, author: 'somebody', name: 'demo' });
      expect(metadata).toMatchObject({ ...theirs.metadata, orrery: { runId: 'run-1', metadata: { mine: true } } });
      expect(tasks['task-1']).toMatchObject({
        task_data: { window: 'main', orrery: { position: 0 } },
        target_device_id: 'dev1',
        device_type: 'linux',
        expected_output_type: 'text',
      });
      expect(tasks['task-2']).toMatchObject({ colour: 'red', priority: 3, timeout: 12.5, retry_count: 2 });
      expect(dependencies['line-1']).toMatchObject({
        dependency_type: 'conditional',
        condition_description: 'exit code == 0',
        metadata: { weight: 3 },
      });
      expect(dependencies['line-2']).toMatchObject({ dependency_type: 'completion_only' });
      expect(asked(back(theirs))).toEqual(asked(theirs));
    });

    it('has nothing of a run that was over', () => {
      const { tasks } = back({ ...theirs, tasks: { ...theirs.tasks, 'task-2': { ...taskTwo, status: 'completed' } } });
      expect(tasks['task-2']).toMatchObject({ status: 'pending', result: null, execution_start_time: null });
    });

    it('does not say what stopped to be so', () => {
      const { constellation, ...request } = asked(theirs);
      const edited = {
        ...TaskConstellation.parse(constellation),
        tasks: constellation?.tasks.map((task) => ({ ...task, target: { os: 'windows' } })) ?? [],
        lines:
          constellation?.lines.map((line) => ({ ...line, type: 'success-only' as const, description: 'true' })) ?? [],
      };
      const written = exportUfo({ constellation: edited, runId: 'run-1', asked: request }) as Written;
      expect(written.tasks['task-1']).toMatchObject({ target_device_id: null, device_type: 'windows' });
      expect(Object.values(written.dependencies)).toMatchObject([
        { dependency_type: 'success_only' },
        { dependency_type: 'success_only' },
      ]);
    });
  });

  it('keeps a condition that it wrote a condition, even one that is not CEL', () => {
    const json = JSON.parse(JSON.stringify(write())) as Written;
    const odd = {
      ...json.dependencies['l2'],
      condition_description: 'result.exit_cod >',
      metadata: { orrery: { position: 1, condition: 'result.exit_cod >' } },
    };
    const { lines } = read({ ...json, dependencies: { ...json.dependencies, l2: odd } });
    expect(lines.find((line) => line.id === 'l2')).toMatchObject({
      type: 'conditional',
      condition: 'result.exit_cod >',
    });
  });

  it('is refused, not read with a hole, when it says of a task what is not known here', () => {
    const json = JSON.parse(JSON.stringify(write())) as Written;
    const tasks = { ...json.tasks, a: { ...json.tasks['a'], task_data: { orrery: { position: 1, newer: true } } } };
    expect(importUfo({ ...json, tasks })).toEqual({
      ok: false,
      issues: [{ path: 'tasks.a.task_data.orrery.newer', message: 'unknown field' }],
    });
  });

  it('lets the request say what is to be otherwise than it was exported', () => {
    const json = write({ asked: { options: { concurrency: 3, priority: 5 }, metadata: { a: 1, b: 1 } } });
    const request = { requestId: 'r', constellation: json, options: { priority: 7 }, metadata: { b: 2 } };
    expect(withoutUfo(request)).toMatchObject({
      request: { options: { concurrency: 3, priority: 7 }, metadata: { a: 1, b: 2 } },
    });
    expect(withoutUfo({ ...request, options: 5 })).toMatchObject({ request: { options: 5 } });
  });
});
