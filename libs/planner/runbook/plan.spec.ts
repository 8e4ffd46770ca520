import { describe, expect, it } from '@jest/globals';
import type { Json } from '#proto';
import { device, fleet } from '../moves/given.testing.js';
import { planOfRunbook } from './plan.js';
import { runbook, withTasks } from './runbook.testing.js';

const REVOKED = { by: { kind: 'system', id: 'test' }, reason: '', revokedAt: '2026-01-01T00:00:00.000Z' } as const;
const HELD = { by: { kind: 'system', id: 'test' }, reason: '', heldAt: '2026-01-01T00:00:00.000Z' } as const;
const FLEET = fleet([
  device('web-2', { tags: ['eu'] }),
  device('web-1', { tags: ['eu'] }),
  device('mac-1', { os: 'darwin', tags: ['eu'] }),
  device('db-1', { status: 'lost' }),
  device('db-2', { held: HELD }),
  device('db-3', { session: null, status: 'offline', os: '' }),
  device('old-1', { revoked: REVOKED }),
  device('bare-1', { tools: [] }),
]);
const each = (id: string, more: object = {}) => ({
  task_id: id,
  name: `${id} of {{ device.id }}`,
  for_each: { os: 'linux' },
  command: { tool: 'EXEC_CLI', arguments: { command: 'true' } },
  ...more,
});
const all = (from: string[]) => ({
  task_id: 'report',
  name: 'report',
  target: { os: 'linux' },
  command: {
    tool: 'EXEC_CLI',
    arguments: { command: 'cat', stdin: { from }, env: { OF: '{{ fleet.devices }}', NOT: '{{ fleet.left_out }}' } },
  },
  inputs: from,
});
const line = (from: string, to: string) => ({ dependency_id: `${from}-${to}`, from_task_id: from, to_task_id: to });

function plan(book: Parameters<typeof runbook>[0], parameters: Record<string, Json> = {}, view = FLEET) {
  const planned = planOfRunbook(runbook(book), parameters, { fleet: view });
  if (!planned.ok) throw new Error(planned.issues.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  return planned;
}

function issues(book: Parameters<typeof runbook>[0], parameters: Record<string, Json> = {}, view = FLEET): string[] {
  const planned = planOfRunbook(runbook(book), parameters, { fleet: view });
  return planned.ok ? [] : planned.issues.map(({ path, message }) => `${path}: ${message}`);
}

it('a device that lacks the tool of one task is left out of those behind it, too', () => {
  const view = fleet([
    device('web-1'),
    device('ufo-1', { tools: [{ name: 'EXEC_CLI', description: '', readOnly: false }] }),
  ]);
  const memory = each('memory', { command: { tool: 'SYS_INFO', arguments: { info_type: 'memory' } } });
  const health = each('health', {
    command: { tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: { from: ['memory'] } } },
    inputs: ['memory'],
  });
  // In the file the later one stands first.
  const { constellation, leftOut } = plan({ ...withTasks([health, memory], [line('memory', 'health')]) }, {}, view);
  expect(constellation.tasks.map(({ id }) => id).toSorted()).toEqual(['health-web-1', 'memory-web-1']);
  expect(leftOut).toEqual([{ deviceId: 'ufo-1', why: 'without SYS_INFO' }]);
});

describe('a plan of a runbook', () => {
  it('has the values of its parameters, with their types, and says what was used', () => {
    const { constellation, use } = plan({}, { service: 'nginx', device: 'web-1' });
    expect(constellation).toMatchObject({
      name: 'restart',
      tasks: [
        {
          id: 'a',
          name: 'Restart nginx',
          target: { device: 'web-1' },
          command: { arguments: { command: 'service "$SERVICE" restart', env: { SERVICE: 'nginx' } } },
          retry: { attempts: 2 },
        },
      ],
    });
    expect(use).toEqual({
      name: 'restart',
      hash: 'b'.repeat(64),
      parameters: { service: 'nginx', device: 'web-1', tries: 2 },
    });
  });

  it.each([
    [
      { service: 'nginx', device: 'web-9' },
      'parameters.device: no device "web-9" is enrolled; known are bare-1, db-1, db-2, db-3, mac-1, web-1, web-2',
    ],
    [
      { service: 'nginx', device: 'old-1' },
      'parameters.device: no device "old-1" is enrolled; known are bare-1, db-1, db-2, db-3, mac-1, web-1, web-2',
    ],
    [{ service: 'nginx' }, 'parameters.device: is needed: where (the id of a device)'],
    [{ service: 1, device: 'web-1' }, 'parameters.service: must be a text that fits [a-z]+, not 1'],
    [{ service: 'a\0', device: 'web-1' }, 'parameters.service: must be a text that fits [a-z]+, not "a\\u0000"'],
    [{ service: null, device: 'web-1' }, 'parameters.service: is needed: what (a text that fits [a-z]+)'],
  ])('is not made of %j', (parameters, issue) => {
    expect(issues({}, parameters)).toEqual([issue]);
  });
});

describe('for_each', () => {
  const book = withTasks([each('a'), each('b'), all(['b'])], [line('a', 'b'), line('b', 'report')]);

  it('makes one task for every connected device that satisfies it, joined device by device', () => {
    const { constellation, leftOut } = plan(book);
    expect(constellation.tasks.map(({ id, name, target }) => [id, name, target])).toEqual([
      ['a-web-1', 'a of web-1', { device: 'web-1' }],
      ['a-web-2', 'a of web-2', { device: 'web-2' }],
      ['b-web-1', 'b of web-1', { device: 'web-1' }],
      ['b-web-2', 'b of web-2', { device: 'web-2' }],
      ['report', 'report', { os: 'linux' }],
    ]);
    expect(constellation.lines.map(({ id, from, to }) => [id, from, to])).toEqual([
      ['a-b-web-1', 'a-web-1', 'b-web-1'],
      ['a-b-web-2', 'a-web-2', 'b-web-2'],
      ['b-report-web-1', 'b-web-1', 'report'],
      ['b-report-web-2', 'b-web-2', 'report'],
    ]);
    expect(constellation.tasks.at(-1)).toMatchObject({
      inputs: ['b-web-1', 'b-web-2'],
      command: {
        arguments: {
          stdin: { from: ['b-web-1', 'b-web-2'] },
          env: {
            OF: 'web-1 web-2',
            NOT: 'bare-1 (without EXEC_CLI), db-1 (lost), db-2 (held), db-3 (never connected)',
          },
        },
      },
    });
    expect(leftOut.map(({ deviceId }) => deviceId)).toEqual(['bare-1', 'db-1', 'db-2', 'db-3']);
  });

  it('lets a task of a device read what another task of that device answered', () => {
    const b = each('b', { command: { tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: { from: ['a'] } } } });
    const { constellation } = plan(withTasks([each('a'), b], [line('a', 'b')]));
    const stdin = constellation.tasks.slice(2).map(({ command }) => command?.arguments['stdin']);
    expect(stdin).toEqual([{ from: ['a-web-1'] }, { from: ['a-web-2'] }]);
  });

  it('lets one task go before all of them', () => {
    const first = {
      ...all([]),
      task_id: 'first',
      inputs: [],
      command: { tool: 'EXEC_CLI', arguments: { command: 'true' } },
    };
    const { constellation } = plan(withTasks([first, each('a')], [line('first', 'a')]));
    expect(constellation.lines.map(({ from, to }) => [from, to])).toEqual([
      ['first', 'a-web-1'],
      ['first', 'a-web-2'],
    ]);
  });

  it('takes its selector from parameters', () => {
    const tagged = withTasks(
      [each('a', { for_each: { tags: '{{ p.tags | list }}', os: '{{ p.os }}' } })],
      [],
      [
        { name: 'tags', description: 'tags' },
        { name: 'os', description: 'os', default: 'darwin' },
      ],
    );
    const ids = (parameters: Record<string, Json>) => plan(tagged, parameters).constellation.tasks.map(({ id }) => id);
    expect(ids({ tags: 'eu' })).toEqual(['a-mac-1']);
    expect(ids({})).toEqual(['a-mac-1']);
    expect(ids({ tags: 'eu', os: 'linux' })).toEqual(['a-web-1', 'a-web-2']);
  });

  it('without a device that would do is an issue in words', () => {
    expect(issues(book, {}, fleet([device('mac-1', { os: 'darwin' }), device('db-1', { status: 'lost' })]))[0]).toBe(
      'constellation.tasks[0].for_each: no connected device satisfies {"os":"linux"}; known are db-1 (lost), mac-1 (connected)',
    );
    expect(issues(book, {}, fleet([]))[0]).toMatch(/known are none$/u);
    expect(issues(book, {}, { ...fleet([device('web-1')]), complete: false })[0]).toMatch(
      /the fleet is not known yet/u,
    );
  });

  it('gives every task an id of its own, within what an id may have', () => {
    const long = (end: string) => device(`${'d'.repeat(62)}${end}`);
    const view = fleet([long('1'), long('2'), device('b-c')]);
    const { constellation } = plan(
      withTasks([each('a'), each('a-b', { for_each: { os: 'linux', capabilities: ['cli'] } })]),
      {},
      view,
    );
    const ids = constellation.tasks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(6);
    expect(Math.max(...ids.map((id) => id.length))).toBe(64);
  });

  it('that makes more tasks than a run may have is refused with a path of the file', () => {
    const many = fleet(Array.from({ length: 2_001 }, (_, index) => device(`d-${index}`)));
    expect(issues(withTasks([each('a')]), {}, many)[0]).toMatch(/^constellation\.tasks: /u);
    const hundred = fleet(Array.from({ length: 101 }, (_, index) => device(`d-${index}`)));
    expect(issues(book, {}, hundred)[0]).toMatch(/^constellation\.tasks\[2\]\.inputs: /u);
  });

  it('that makes a plan larger than an edit may be is refused, with what to do', () => {
    const view = fleet(Array.from({ length: 300 }, (_, index) => device(`d-${index}`)));
    const long = each('a', { command: { tool: 'EXEC_CLI', arguments: { command: `true ${'a'.repeat(2_000)}` } } });
    expect(issues(withTasks([long]), {}, view)).toEqual([
      expect.stringMatching(
        /^constellation: the plan for 300 devices has \d+ bytes; at most 524288 are taken: choose fewer/u,
      ),
    ]);
  });
});

describe('files of a runbook', () => {
  const able = { tags: ['eu'], capabilities: ['workspaces'] };
  const view = fleet([device('web-1', able), device('web-2', able), device('old-1')]);
  const collect = each('collect', { files: { out: ['errors-{{ device.id }}.log', 'logs/{{ p.day }}-*.log'] } });
  const table = {
    task_id: 'table',
    name: 'table',
    target_device_id: 'web-1',
    command: { tool: 'EXEC_CLI', arguments: { command: 'true' } },
    files: {
      in: ['collect', { from: 'collect', file: 'logs/{{ p.day }}-*.log?', to: '{{ p.day }}/' }],
      out: ['t.csv'],
    },
  };
  const day = [{ name: 'day', description: 'which', required: true }];
  const book = withTasks([collect, table], [line('collect', 'table')], day);

  it('have values for names, and go from the task of each device', () => {
    const { constellation, leftOut } = plan(book, { day: 'monday' }, view);
    expect(constellation.tasks.map(({ files }) => files)).toEqual([
      { out: ['errors-web-1.log', 'logs/monday-*.log'] },
      { out: ['errors-web-2.log', 'logs/monday-*.log'] },
      {
        in: [
          'collect-web-1',
          'collect-web-2',
          { from: 'collect-web-1', file: 'logs/monday-*.log?', to: 'monday/' },
          { from: 'collect-web-2', file: 'logs/monday-*.log?', to: 'monday/' },
        ],
        out: ['t.csv'],
      },
    ]);
    expect(leftOut).toEqual([{ deviceId: 'old-1', why: 'moves no files' }]);
  });

  it.each(['../../etc', 'a/b', '*', 'mon?', 'x{{ device.id }}'])(
    'have no value that is more than a name: %s',
    (value) => {
      const [first = ''] = issues(book, { day: value }, view);
      expect(first).toMatch(/^constellation\.tasks\[0\]\.files\.out\[1\]: /u);
    },
  );
});
