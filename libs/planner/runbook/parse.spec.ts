import { describe, expect, it } from '@jest/globals';
import { parseRunbook } from './parse.js';
import { untypedLines } from './runbook.js';
import { runbook, runbookJson, withTasks } from './runbook.testing.js';

const HASH = 'b'.repeat(64);

/** `path: message` of everything that is wrong. */
function wrongs(change: Readonly<Record<string, unknown>>): string[] {
  const parsed = parseRunbook(runbookJson(change), HASH, 'operator');
  return parsed.ok ? [] : parsed.issues.map(({ path, message }) => `${path}: ${message}`);
}

const X = [{ name: 'x', description: 'x' }];
const taskWith = (fields: object) => ({ task_id: 'a', name: 'a', target: { os: 'linux' }, ...fields });
const exec = (given: object) => ({ command: { tool: 'EXEC_CLI', arguments: given } });

describe('a runbook', () => {
  it('can be asked which of its lines do not say when they are satisfied', () => {
    const line = (id: string, more: object = {}) => ({
      dependency_id: id,
      from_task_id: 'a',
      to_task_id: 'b',
      ...more,
    });
    const tasks = [taskWith(exec({ command: 'true' })), { ...taskWith(exec({ command: 'true' })), task_id: 'b' }];
    const lines = [
      line('said', { type: 'unconditional' }),
      line('chosen', { condition: 'result.exit_code == 0' }),
      line('untyped'),
    ];
    const parsed = parseRunbook(runbookJson(withTasks(tasks, lines)), HASH, 'operator');
    expect(parsed.ok && untypedLines(parsed.runbook.file)).toEqual(['untyped']);
  });

  it('may bound the whole time of a task', () => {
    const task = taskWith({ ...exec({ command: 'true' }), timeout_seconds: 5, deadline_seconds: 60 });
    expect(wrongs(withTasks([task]))).toEqual([]);
  });

  it('is listed with its hash and where it comes from, without its plan', () => {
    const { info } = runbook();
    expect(info).toMatchObject({
      name: 'restart',
      hash: HASH,
      source: 'shipped',
      matches: ['restart {service} on {device}'],
    });
    expect(Object.keys(info).toSorted()).toEqual(
      ['description', 'hash', 'matches', 'name', 'parameters', 'source', 'title'].toSorted(),
    );
  });

  it.each([
    [{ name: 'Restart' }, /^name: must be lower-case/u],
    [{ titel: 'x' }, /^titel: unknown field/u],
    [
      withTasks([{ task_id: 'a', name: 'a', target_device_id: 'd', for_each: { os: 'linux' } }]),
      /^constellation\.tasks\[0\]: needs exactly one of target_device_id, target and for_each/u,
    ],
    [withTasks([taskWith({ commands: 1 })]), /^constellation\.tasks\[0\]\.commands: unknown field/u],
    [
      withTasks([taskWith({}), taskWith({})]),
      /^constellation\.tasks\[1\]\.task_id: "a" is already the id of constellation\.tasks\[0\]/u,
    ],
    [
      withTasks([taskWith({})], [{ dependency_id: 'l', from_task_id: 'a', to_task_id: 'b' }]),
      /^constellation\.dependencies\[0\]\.\w+: there is no task "b"/u,
    ],
    [
      withTasks(
        [taskWith({}), taskWith({ task_id: 'b' })],
        [
          { dependency_id: 'l', from_task_id: 'a', to_task_id: 'b' },
          { dependency_id: 'm', from_task_id: 'b', to_task_id: 'a' },
        ],
      ),
      /^constellation\.dependencies: the lines form a cycle/u,
    ],
    [
      withTasks([taskWith(exec({ command: 'cat', stdin: { from: ['b'] } })), taskWith({ task_id: 'b' })]),
      /^constellation\.tasks\[0\]\.command\.arguments\.stdin\.from\[0\]: "b" is not a predecessor/u,
    ],
    [
      withTasks(
        [taskWith({}), taskWith({ task_id: 'b' })],
        [{ dependency_id: 'l', from_task_id: 'a', to_task_id: 'b', type: 'conditional', condition: 'result.' }],
      ),
      /^constellation\.dependencies\[0\]\.condition: .*not valid CEL/u,
    ],
  ])('is refused with the path and what would be valid: %#', (change, sentence) => {
    const found = wrongs(change);
    expect(found.length).toBeGreaterThan(0);
    expect(found[0]).toMatch(sentence);
  });
});

describe('a parameter in a place where it would become code', () => {
  it.each([
    [
      taskWith(exec({ command: 'ls {{ p.x }}' })),
      /^constellation\.tasks\[0\]\.command\.arguments\.command: a value reaches a command line as \{\{ p\.x \| sh \}\} only; or put it into env/u,
    ],
    [taskWith(exec({ command: 'ls "{{ p.x | sh }}"' })), /command: \{\{ p\.x \| sh \}\} stands inside of quotes/u],
    [taskWith(exec({ command: ['ls', '{{ p.x }}'] })), /arguments\.command\[1\]: a value reaches/u],
    [taskWith({ command: { tool: 'run', arguments: { script: '{{ p.x }}' } } }), /arguments\.script: a value reaches/u],
    [
      taskWith({ verify: { command: { tool: 'EXEC_CLI', arguments: { command: 'test {{ p.x }}' } } } }),
      /verify\.command\.arguments\.command: a value reaches/u,
    ],
    [taskWith(exec({ command: 'ls', env: { PATH: '{{ p.x }}' } })), /env\.PATH: PATH changes what programs do/u],
    [
      taskWith(exec({ command: 'ls', env: { LD_PRELOAD: 'a{{ p.x }}' } })),
      /env\.LD_PRELOAD: LD_PRELOAD changes what programs do/u,
    ],
    [
      taskWith(exec({ command: 'ls', env: { TOKEN: { secret: '{{ p.x }}' } } })),
      /env\.TOKEN\.secret: which secret is used is said by the runbook/u,
    ],
    [
      taskWith(exec({ command: 'ls', stdin: { secret: '{{ p.x }}' } })),
      /stdin\.secret: which secret is used is said by the runbook/u,
    ],
    [
      taskWith(exec({ command: 'ls', env: { '{{ p.x }}': 'a' } })),
      /env: the name of a field cannot hold a placeholder/u,
    ],
    [taskWith({ command: { tool: '{{ p.x }}', arguments: {} } }), /command\.tool: /u],
    [
      taskWith({ ...exec({ command: 'ls' }), verify: { condition: 'result.stdout == "{{ p.x }}"' } }),
      /verify\.condition: a condition takes parameters of the types integer/u,
    ],
  ])('is refused: %#', (task, sentence) => {
    expect(wrongs(withTasks([task], [], X)).find((wrong) => sentence.test(wrong))).toBeDefined();
  });

  it('is allowed as data: env, stdin, quoted, in other arguments, in texts', () => {
    const task = taskWith({
      name: 'Look at {{ p.x }}',
      description: 'about {{ p.x }}',
      command: {
        tool: 'EXEC_CLI',
        arguments: {
          command: 'ls -- {{ p.x | sh }} "$X"',
          env: { X: '{{ p.x }}' },
          stdin: '{{ p.x }}',
          working_directory: '{{ p.x }}',
        },
      },
    });
    expect(wrongs(withTasks([task], [], X))).toEqual([]);
  });

  it('is allowed in a condition when it is a number or a truth that is always there', () => {
    const plan = (parameter: object) =>
      withTasks(
        [taskWith({ ...exec({ command: 'ls' }), verify: { condition: 'result.exit_code < {{ p.x }}' } })],
        [],
        [{ name: 'x', description: 'x', ...parameter }],
      );
    expect(wrongs(plan({ type: 'integer', default: 1 }))).toEqual([]);
    expect(wrongs(plan({ type: 'number', required: true }))).toEqual([]);
    expect(wrongs(plan({ type: 'integer' }))).toEqual([expect.stringMatching(/required or have a default/u)]);
  });
});

describe('placeholders', () => {
  it.each([
    ['{{ p.y }}', /there is no \{\{ p\.y \}\} here; there are p\.x, fleet\.devices, fleet\.left_out/u],
    ['{{ device.id }}', /there is no \{\{ device\.id \}\} here/u],
    ['{{ p.x', /is not a placeholder/u],
    ['{{ p.x | list }}', /must be the whole of a value that may be a list/u],
  ])('%s in a name is refused', (name, sentence) => {
    expect(wrongs(withTasks([taskWith({ name, description: '{{ p.x }}' })], [], X))[0]).toMatch(sentence);
  });

  it('are refused in a selector when they are not parameters', () => {
    const task = { task_id: 'a', name: 'a', for_each: { tags: ['{{ device.id }}'] } };
    expect(wrongs(withTasks([task]))[0]).toMatch(
      /for_each\.tags\[0\]: there is no \{\{ device\.id \}\} here; there are none/u,
    );
  });

  it('must use every parameter', () => {
    expect(wrongs(withTasks([taskWith({})], [], X))).toEqual(['parameters[0]: no placeholder {{ p.x }} uses it']);
  });

  it('join tasks of each device only when they are made for the same devices', () => {
    const each = (id: string, os: string) => ({ task_id: id, name: id, for_each: { os } });
    const line = [{ dependency_id: 'l', from_task_id: 'a', to_task_id: 'b' }];
    expect(wrongs(withTasks([each('a', 'linux'), each('b', 'linux')], line))).toEqual([]);
    expect(wrongs(withTasks([each('a', 'linux'), each('b', 'darwin')], line))).toEqual([
      'constellation.dependencies[0]: "a" and "b" are made for each device and need the same for_each',
    ]);
  });
});

describe('a parameter', () => {
  it.each([
    [{ type: 'integer', pattern: 'a' }, 'parameters[0].pattern: belongs to the type string'],
    [{ type: 'integer', enum: ['a'] }, 'parameters[0].enum: belongs to the type string'],
    [{ minimum: 1 }, 'parameters[0].minimum: belongs to the types integer and number'],
    [{ type: 'integer', minimum: 2, maximum: 1 }, 'parameters[0].minimum: is above the maximum'],
    [{ type: 'integer', maximum: 5, default: 6 }, 'parameters[0].default: must be a whole number of at most 5'],
    [{ enum: ['a', 'b'], default: 'c' }, 'parameters[0].default: must be one of a, b'],
    [
      { default: 'a', required: true },
      'parameters[0].required: a parameter with a default is never missing; leave one of them out',
    ],
    [{ pattern: '(?=a)' }, expect.stringMatching(/^parameters\[0\]\.pattern: of the groups/u)],
  ])('%j is refused', (change, wrong) => {
    const task = taskWith({ description: '{{ p.x }}' });
    expect(wrongs(withTasks([task], [], [{ name: 'x', description: 'x', ...change }] as never))).toEqual([wrong]);
  });

  it('has a name of its own', () => {
    const task = taskWith({ description: '{{ p.x }}' });
    expect(wrongs(withTasks([task], [], [...X, ...X]))).toEqual(['parameters[1].name: "x" is already parameters[0]']);
  });
});
