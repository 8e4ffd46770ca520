import { describe, expect, it } from '@jest/globals';
import { sentencesOf } from '../../files/document.js';
import { parseRequestText } from './request-file.js';

const task = { id: 'a', name: 'A', target: { device: 'web-1' }, command: { tool: 'SYS_INFO', arguments: {} } };
const constellation = { name: 'one', tasks: [task] };

const requestOf = (value: unknown, requestId = 'made', override = false) => {
  const parsed = parseRequestText(typeof value === 'string' ? value : JSON.stringify(value), requestId, override);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.request;
};
const refusalOf = (value: unknown) => {
  const parsed = parseRequestText(typeof value === 'string' ? value : JSON.stringify(value), 'made');
  if (parsed.ok) throw new Error('accepted');
  return parsed;
};

describe('parseRequestText', () => {
  it('takes a full request as it is', () => {
    expect(requestOf({ requestId: 'mine', constellation }).requestId).toBe('mine');
  });

  it('gives a request without an id the one that was made', () => {
    expect(requestOf({ goal: 'look around' })).toMatchObject({
      requestId: 'made',
      goal: 'look around',
      constellation: null,
    });
  });

  it('lets an id that was given explicitly win', () => {
    expect(requestOf({ requestId: 'mine', constellation }, 'given', true).requestId).toBe('given');
  });

  it('wraps a bare constellation', () => {
    expect(requestOf(constellation)).toMatchObject({ requestId: 'made', constellation: { name: 'one' }, goal: null });
  });

  it('reads YAML', () => {
    const yaml =
      'name: one\ntasks:\n  - id: a\n    name: A\n    target: { tags: [db] }\n    command: { tool: SYS_INFO }\n';
    expect(requestOf(yaml).constellation?.tasks[0]?.target).toEqual({ tags: ['db'] });
  });

  it('names the field that is wrong, as it stands in a request', () => {
    expect(refusalOf({ constellation: { name: 'x', tasks: [{ ...task, id: 'no spaces' }] } }).message).toMatch(
      /^constellation\.tasks\[0\]\.id: a task id must be /u,
    );
  });

  it('names the field that is wrong, as it stands in a bare constellation', () => {
    expect(refusalOf({ name: 'x', tasks: [{ ...task, target: {} }] }).message).toMatch(
      /^tasks\[0\]\.target: a selector needs /u,
    );
  });

  it('names a field that nobody knows', () => {
    expect(refusalOf({ goal: 'x', gaol: 1 }).message).toBe('gaol: unknown field; did you mean "goal"?');
  });

  it('refuses both of goal and constellation, and neither', () => {
    expect(refusalOf({ goal: 'x', constellation }).message).toMatch(/exactly one of goal and constellation/u);
    expect(refusalOf({ metadata: {} }).message).toMatch(/exactly one of goal and constellation/u);
  });

  it.each([
    ['', 'the request is empty'],
    ['[1]', 'the request must be an object'],
    ['just words', 'the request must be an object'],
    ['{"goal": ', 'this is not JSON: '],
    ['goal: [1', 'this is not YAML: '],
    ['goal: a\ngoal: b', 'this is not YAML: Map keys must be unique'],
    ['goal: a\n---\ngoal: b', 'this is not YAML: '],
    ['goal: !!js/function "x"', 'this is not YAML: '],
  ])('refuses %j with one sentence', (text, sentence) => {
    const { message } = refusalOf(text);
    expect(message).toContain(sentence);
    expect(message).not.toContain('\n');
  });

  it('refuses aliases that would grow without end', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let index = 0; index < 8; index++) {
      const [from, to] = [String.fromCodePoint(97 + index), String.fromCodePoint(98 + index)];
      lines.push(
        `${to}: &${to} [*${from}, *${from}, *${from}, *${from}, *${from}, *${from}, *${from}, *${from}, *${from}]`,
      );
    }
    expect(refusalOf(lines.join('\n')).message).toMatch(/^this is not YAML: .*alias/iu);
  });

  it('refuses a request that is too large before it looks at it', () => {
    expect(refusalOf(`{"goal": "${'x'.repeat(1024 * 1024)}"}`).message).toMatch(/at most 1048576 are accepted/u);
  });
});

describe('a constellation of UFO', () => {
  const ufo = {
    name: 'demo',
    tasks: {
      'task-1': {
        task_id: 'task-1',
        name: 'collect',
        description: 'd1',
        target_device_id: 'dev1',
        status: 'completed',
      },
    },
    dependencies: {},
  };
  const ours = { name: 'demo', tasks: [{ id: 'task-1', name: 'collect', target: { device: 'dev1' } }], lines: [] };

  it('becomes one of ours, alone and in a request', () => {
    expect(requestOf(ufo)).toMatchObject({ requestId: 'made', constellation: ours });
    expect(requestOf({ requestId: 'mine', options: { priority: 3 }, constellation: ufo })).toMatchObject({
      requestId: 'mine',
      options: { priority: 3 },
      constellation: ours,
    });
  });

  it('is read from YAML as well', () => {
    const yaml = 'tasks:\n  - task_id: a\n    name: A\n    device_type: LINUX\n';
    expect(requestOf(yaml).constellation?.tasks[0]?.target).toEqual({ os: 'linux' });
  });

  it('is refused with the names that it has in the file', () => {
    const tasks = [{ task_id: 'a', name: 'A', target_device_id: 'dev 1' }];
    expect(refusalOf({ tasks }).message).toMatch(
      /^read as a constellation of UFO: tasks\[0\]\.target_device_id: a device id must be /u,
    );
    expect(refusalOf({ constellation: { tasks } }).issues).toMatchObject([
      { path: 'constellation.tasks[0].target_device_id' },
    ]);
  });
});

describe('sentencesOf', () => {
  it('shows the first ones and says how many more there are', () => {
    const issues = Array.from({ length: 7 }, (_, index) => ({ path: `tasks[${index}]`, message: 'bad' }));
    expect(sentencesOf(issues)).toBe(
      'tasks[0]: bad; tasks[1]: bad; tasks[2]: bad; tasks[3]: bad; tasks[4]: bad; and 2 more',
    );
  });
});
