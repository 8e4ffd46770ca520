import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LinuxAgentReply } from '#proto';
import { loadPrompts, promptsDirectory, PROMPT_LIMITS } from './index.js';

describe('the prompts of this repository', () => {
  it('load, each with the SHA-256 of its file', async () => {
    const { templates } = await loadPrompts();
    const linux = templates.find(({ id }) => id === 'device-agent/linux-agent');
    const file = await readFile(join(promptsDirectory({}), 'device-agent/linux-agent.yaml'));
    expect(linux?.hash).toBe(createHash('sha256').update(file).digest('hex'));
    expect(Object.keys(linux?.parts ?? {})).toEqual(['system', 'user']);
    const named = templates.map(({ id, mode }) => `${id}.${mode}`);
    for (const agent of ['host-agent', 'app-agent']) {
      expect(named).toEqual(
        expect.arrayContaining([`device-agent/${agent}.visual`, `device-agent/${agent}.nonvisual`]),
      );
    }
  });

  it('have examples whose replies LinuxAgent understands', async () => {
    const { examples } = await loadPrompts();
    const linux = examples.find(({ id, mode }) => id === 'examples/linux-agent' && mode === 'nonvisual');
    expect(linux?.examples.length).toBeGreaterThanOrEqual(6);
    const replies = linux?.examples.map(({ response }) => LinuxAgentReply.parse(response)) ?? [];
    expect(new Set(replies.map(({ action }) => action.status))).toEqual(new Set(['CONTINUE', 'FINISH', 'FAIL']));
    expect(new Set(replies.map(({ action }) => action.function))).toEqual(
      new Set(['SYS_INFO', 'EXEC_CLI', 'READ_OUTPUT', '']),
    );
  });
});

describe('loadPrompts', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'prompts-'));
  });
  afterEach(() => rm(directory, { recursive: true }));
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await writeFile(join(directory, file), text);
  };

  it('takes the id from the path, the mode from the key or the directory', async () => {
    await write('team/a.yaml', 'visual: { system: see }\nnonvisual: { system: read }\n');
    await write('examples/visual/a.yml', 'reply: free\nexamples: [{ name: n, request: r, response: { a: 1 } }]\n');
    const { templates, examples } = await loadPrompts(directory);
    expect(templates.map(({ id, mode, parts }) => [id, mode, parts])).toEqual([
      ['team/a', 'visual', { system: 'see' }],
      ['team/a', 'nonvisual', { system: 'read' }],
    ]);
    expect(examples.map(({ id, mode, examples: all }) => [id, mode, all[0]?.response])).toEqual([
      ['examples/a', 'visual', { a: 1 }],
    ]);
  });

  it('takes examples outside of a directory for a mode for any model, and leaves runbooks alone', async () => {
    await write(
      'examples/planner/a.yaml',
      'reply: free\nexamples: [{ name: n, request: r, response: {}, wrong: w }]\n',
    );
    await write('runbooks/a.yaml', 'name: a\n');
    const { templates, examples } = await loadPrompts(directory);
    expect(templates).toEqual([]);
    expect(examples).toMatchObject([{ id: 'examples/planner/a', mode: 'any', examples: [{ wrong: 'w' }] }]);
  });

  it.each(['CreationReply', 'EditingReply', 'Evaluation', 'ExampleReply'])(
    'refuses an example that is no %s',
    async (reply) => {
      await write('examples/a.yaml', `reply: ${reply}\nexamples: [{ name: n, request: r, response: { x: 1 } }]\n`);
      await expect(loadPrompts(directory)).rejects.toThrow(/examples\[0\]\.response/u);
    },
  );

  it.each([
    ['a.yaml', 'visual: { system: 1 }', /a\.yaml.*visual\.system: must be a text, not 1/u],
    ['a.yaml', 'vizual: { system: x }', /a\.yaml.*vizual: unknown field/u],
    ['a.yaml', 'any: {}', /any: needs at least one part/u],
    ['a.yaml', 'any: { System!: x }', /lower-case letters/u],
    ['a.yaml', '{}', /needs visual, nonvisual or any/u],
    ['a.yaml', 'any: { system: [', /a\.yaml/u],
    ['a.yaml', 'any: { system: "{% if %}" }', /template a, part system: is not a valid template/u],
    ['a.yaml', `any: { system: "${'x'.repeat(PROMPT_LIMITS.fileBytesMax)}" }`, /262144 are allowed/u],
    [
      'examples/nonvisual/a.yaml',
      'reply: LinuxAgentReply\nexamples: [{ name: n, request: r, response: { thought: t, action: { status: FINISH } } }]',
      /examples\[0\]\.response\.result: FINISH needs a result/u,
    ],
    ['readme.txt', 'x', /no \.yaml file/u],
  ])('says what is wrong in %s: %.40s', async (file, text, sentence) => {
    await write(file, text);
    await expect(loadPrompts(directory)).rejects.toThrow(sentence);
  });

  it('refuses a document whose aliases grow without bound', async () => {
    const levels = Array.from({ length: 12 }, (_, level) =>
      level === 0 ? 'l0: &l0 [x, x]' : `l${level}: &l${level} [${`*l${level - 1}, `.repeat(9)}*l${level - 1}]`,
    );
    await write('a.yaml', `${levels.join('\n')}\n`);
    await expect(loadPrompts(directory)).rejects.toThrow(/aliases stand for more than 50 nodes/u);
  });

  it('says that there is no such directory', async () => {
    await expect(loadPrompts(join(directory, 'nowhere'))).rejects.toThrow(/nowhere.*ENOENT/u);
  });

  it('lets ORRERY_PROMPTS_DIR decide', () => {
    expect(promptsDirectory({ ORRERY_PROMPTS_DIR: directory })).toBe(directory);
  });
});
