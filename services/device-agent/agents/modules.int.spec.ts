import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { linuxAgent, LinuxAgentPrompter, type AgentKind, type PrompterOptions } from '#libs/device-agent';
import { loadAgentModules } from './modules.adapter.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-agents-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const OPTIONS: PrompterOptions = {
  templates: { templates: [], examples: [] },
  countTokens: (text) => text.length,
  visual: false,
  memoryTokens: 1_000,
};
const LINUX: AgentKind = linuxAgent({ prompter: new LinuxAgentPrompter(OPTIONS) });

async function load(...sources: readonly string[]): Promise<readonly AgentKind[]> {
  const files = sources.map((_, index) => join(directory, `${Math.abs(hash(sources.join('')))}-${index}.mjs`));
  for (const [index, file] of files.entries()) await writeFile(file, sources[index] ?? '');
  return loadAgentModules(files, OPTIONS, [LINUX]);
}

function hash(text: string): number {
  return Array.from(text).reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) | 0, 7);
}

const kind = (name: string): string => `{ name: ${JSON.stringify(name)}, *run() {} }`;

it('kinds of modules stand beside our own, and are made with what prompters need', async () => {
  const kinds = await load(
    `export const agents = ({ memoryTokens }) => [${kind('A')}, { name: 'M' + memoryTokens, *run() {} }];`,
    `export function agents() { return [${kind('B')}]; }`,
  );
  expect(kinds.map(({ name }) => name)).toEqual(['LinuxAgent', 'A', 'M1000', 'B']);
});

it.each([
  ['is not there', undefined, 'cannot be used: '],
  ['is no code', 'export const (', 'cannot be used: '],
  ['exports nothing', 'export default 1;', 'exports no function "agents"'],
  ['breaks', 'export const agents = () => { throw new Error("no\\nluck"); };', 'cannot be used: no luck.'],
  ['gives no agents', 'export const agents = () => [{ name: "A" }];', 'returns no array of agents'],
  ['takes a name that is taken', `export const agents = () => [${kind('LinuxAgent')}];`, 'there is one of this name'],
])('a module that %s is refused in one sentence', async (_, source, sentence) => {
  const loading =
    source === undefined ? loadAgentModules([join(directory, 'none.mjs')], OPTIONS, [LINUX]) : load(source);
  await expect(loading).rejects.toMatchObject({
    name: 'ConfigError',
    message: expect.stringMatching(new RegExp(`^ORRERY_AGENT_MODULES: .*${sentence}`, 'u')),
  });
});

it('the module in docs/device-agents.md is one', async () => {
  const root = join(import.meta.dirname, '../../..');
  const page = await readFile(join(root, 'docs/device-agents.md'), 'utf8');
  const [, code = ''] = /^## Bringing[^]*?```js\n([^]*?)```/mu.exec(page) ?? [];
  const file = join(directory, 'database.mjs');
  await writeFile(file, code.replace('/opt/orrery/dist/', `${root}/dist/`));
  const program = `
    const [options, of] = [${JSON.stringify(OPTIONS)}, await import(${JSON.stringify(file)})];
    console.log(JSON.stringify(of.agents(options).map(({ name, run }) => [name, typeof run])));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  expect(JSON.parse(stdout)).toEqual([['DatabaseAgent', 'function']]);
});
