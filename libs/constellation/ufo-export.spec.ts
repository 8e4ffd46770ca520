import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TaskConstellation } from '#proto';
import { UFO_SAMPLE } from './ufo-sample.testing.js';
import { exportUfo, importUfo, isUfoConstellation, type UfoSource } from './ufo.js';

type Fields = Record<string, unknown>;

function read(json: unknown): TaskConstellation {
  const imported = importUfo(json);
  if (!imported.ok) throw new Error(JSON.stringify(imported.issues));
  return imported.constellation;
}

/** Everything a constellation may hold that changes on its way through another format if anything does. */
const constellations: fc.Arbitrary<TaskConstellation> = fc
  .record({
    name: fc.string({ minLength: 1, unit: 'grapheme' }),
    tasks: fc.uniqueArray(
      fc.record(
        {
          // Numbers come first in an object, and some names are special ones.
          id: fc.oneof(
            fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/u),
            fc.integer({ min: 0, max: 40 }).map(String),
            fc.constantFrom('__proto__', 'constructor', 'toString', 'task_001'),
          ),
          name: fc.string({ minLength: 1, unit: 'grapheme' }),
          description: fc.string(),
          tips: fc.array(fc.string(), { maxLength: 3 }),
          target: fc.oneof(
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
          ),
          command: fc.record({
            tool: fc.constantFrom('EXEC_CLI', 'x:y'),
            arguments: fc.dictionary(fc.string(), fc.jsonValue()),
          }),
          timeoutMs: fc.integer({ min: 100, max: 86_400_000 }),
          deadlineMs: fc.integer({ min: 100, max: 86_400_000 }),
          retry: fc.record(
            { attempts: fc.integer({ min: 1, max: 10 }), backoffMs: fc.nat(9_000), backoffMsMax: fc.nat(9_000) },
            { requiredKeys: ['attempts'] },
          ),
          priority: fc.integer({ min: -100, max: 100 }),
          idempotent: fc.boolean(),
          review: fc.boolean(),
        },
        { requiredKeys: ['id', 'name', 'target'] },
      ),
      { minLength: 1, maxLength: 6, selector: ({ id }) => id },
    ),
    lines: fc.uniqueArray(
      fc.record({
        id: fc.oneof(fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/u), fc.integer({ min: 0, max: 40 }).map(String)),
        ends: fc.tuple(fc.nat(), fc.nat()),
        kind: fc.constantFrom(
          { type: 'unconditional' },
          { type: 'success-only' },
          { type: 'conditional', condition: 'result.exit_code == 0' },
          { type: 'conditional', condition: ' status == "FAILED" ' },
        ),
        description: fc.option(fc.oneof(fc.string(), fc.constant('true')), { nil: undefined }),
      }),
      { maxLength: 6, selector: ({ id }) => id },
    ),
  })
  .map(({ name, tasks, lines }) => {
    const idAt = (position: number) => tasks[position % tasks.length]?.id;
    const placed = lines.map(({ id, ends: [from, to], kind, description }) => ({
      id,
      from: idAt(from),
      to: idAt(to),
      ...kind,
      ...(description === undefined ? {} : { description }),
    }));
    // What JSON and the schema drop is no constellation in the first place.
    return TaskConstellation.parse(JSON.parse(JSON.stringify({ name, tasks, lines: placed })));
  });

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

  it('is read back as what it was, whatever the constellation', () => {
    fc.assert(
      fc.property(constellations, (constellation) => {
        const json: unknown = JSON.parse(JSON.stringify(exportUfo({ constellation, runId: 'run-1' })));
        expect(isUfoConstellation(json)).toBe(true);
        expect(importUfo(json)).toStrictEqual({ ok: true, constellation });
      }),
      { numRuns: 300, seed: 20_260_311 },
    );
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
        l3: { dependency_type: 'unconditional', condition_description: null },
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

  it('puts what UFO added behind what it was given', () => {
    const { tasks, ...rest } = JSON.parse(JSON.stringify(write())) as Written;
    const { tasks: after } = read({ ...rest, tasks: { 0: { name: 'Zero', target_device_id: 'web-1' }, ...tasks } });
    expect(after.map(({ id }) => id)).toEqual(['b', 'a', '1', '0']);
  });
});
