import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { explainPolicy } from './explain.runner.js';
import { runProgram } from '../../run-program.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';

let directory = '';
const file = (name: string): string => join(directory, name);
const env = () => ({ ORRERY_HOME: file('home') });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-policy-'));
  await writeFile(file('strict.yaml'), 'version: 1\ndefaults: { read: approve }\n');
  await writeFile(file('wrong.yaml'), 'version: 1\ndefaults: { reading: approve }\nrules: 5\n');
  await mkdir(file('strict-home'));
  await writeFile(file('strict-home/policy.yaml'), 'version: 1\ndefaults: { read: approve }\n');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function orrery(words: readonly string[], home = 'home') {
  const terminal = fakeTerminal();
  const exitCode = await runProgram(words, surroundings(terminal, { ORRERY_HOME: file(home) }));
  return { exitCode, out: terminal.outLines, err: terminal.errLines };
}

async function explainLines(input: readonly string[], json: boolean) {
  const terminal = fakeTerminal();
  const context = { ...surroundings(terminal, env()), json };
  async function* lines() {
    yield* input;
  }
  const options = { line: undefined, stdin: true, device: undefined, policy: undefined, input: lines() };
  return { exitCode: await explainPolicy(context, options), out: terminal.outLines };
}

describe('orrery policy explain', () => {
  it('works without any system, by the built-in policy', async () => {
    const { exitCode, out, err } = await orrery(['policy', 'explain', 'df -h']);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: [] });
    expect(out).toContain('  df -h');
    expect(out).toContain('decision  allow: it runs');
    expect(out.at(-1)).toBe('by the built-in policy');
  });

  it('gives a program what it decided, and what it found', async () => {
    const { out } = await orrery(['policy', 'explain', 'rm -rf /', '--json']);
    expect(JSON.parse(out.join(''))).toMatchObject({ command: 'rm -rf /', decision: 'deny', grantable: false });
  });

  it('gives one line of JSON for every line of standard input, in its order', async () => {
    const input = ['df -h', '', 'rm -rf /', 'ls "unclosed', 'ls\r'];
    const { exitCode, out } = await explainLines(input, true);
    const said = out.map((line) => JSON.parse(line) as { command: string; decision: string });
    expect(said.map(({ command }) => command)).toEqual(input);
    expect(said.map(({ decision }) => decision)).toEqual([
      'allow',
      expect.any(String),
      'deny',
      'deny',
      expect.not.stringMatching(/allow|log/u),
    ]);
    expect(Object.keys(said[0] ?? {})).toEqual(['command', 'class', 'decision', 'rule', 'reasons']);
    expect(exitCode).toBe(0);
  });

  it('lists lines for people', async () => {
    const { out } = await explainLines(['df -h', 'rm -rf /'], false);
    expect(out.map((line) => line.split(/ +/u).slice(0, 2))).toEqual([
      ['allow', 'read'],
      ['deny', 'privileged'],
    ]);
  });

  it('goes by a file that is named, and by the one of the home', async () => {
    const named = await orrery(['policy', 'explain', 'df -h', '--policy', file('strict.yaml')]);
    expect(named.out).toContain('decision  approve: a person is asked first');
    expect(named.out.at(-1)).toBe(`by ${file('strict.yaml')}`);
    const found = await orrery(['policy', 'explain', 'df -h'], 'strict-home');
    expect(found.out.at(-1)).toBe(`by ${file('strict-home/policy.yaml')}`);
    expect(found.out).toContain('decision  approve: a person is asked first');
  });

  it.each([
    ['nothing to explain', ['policy', 'explain'], 'one of them'],
    ['two things to explain', ['policy', 'explain', 'ls', '--stdin'], 'one of them'],
    ['words without quotes', ['policy', 'explain', 'ls', 'x'], 'Too many arguments'],
    ['two policies', ['policy', 'explain', 'ls', '--device', 'web-1', '--policy', 'x'], 'one of them'],
    ['a device that cannot be one', ['policy', 'explain', 'ls', '--device', 'web 1'], 'a device id must be'],
    ['a file that is not there', ['policy', 'explain', 'ls', '--policy', 'FILE/none.yaml'], 'cannot be read (ENOENT)'],
    ['a file that is no policy', ['policy', 'explain', 'ls', '--policy', 'FILE/wrong.yaml'], 'has 2 mistakes'],
  ])('%s is bad input', async (_, words, message) => {
    const { exitCode, out, err } = await orrery(words.map((word) => word.replace('FILE', directory)));
    expect({ exitCode, out }).toEqual({ exitCode: 3, out: [] });
    expect(err.join('\n')).toContain(message);
  });

  it('a system that is not running cannot be reached', async () => {
    const { exitCode } = await orrery(['policy', 'explain', 'ls', '--device', 'web-1']);
    expect(exitCode).toBe(4);
  });
});

describe('orrery policy check', () => {
  it('says that a file is a policy', async () => {
    const { exitCode, out } = await orrery(['policy', 'check', file('strict.yaml')]);
    expect(out).toEqual([expect.stringMatching(/strict\.yaml is a policy \([0-9a-f]{64}\)$/u)]);
    expect(exitCode).toBe(0);
  });

  it('names every field that is wrong', async () => {
    const { exitCode, err } = await orrery(['policy', 'check', file('wrong.yaml')]);
    expect(err.join('\n')).toMatch(/defaults: .*\n.*rules: /u);
    expect(exitCode).toBe(3);
  });
});

describe('orrery policy show', () => {
  it('prints a policy file that is the policy it stands for', async () => {
    const { out } = await orrery(['policy', 'show', '--policy', file('strict.yaml')]);
    await writeFile(file('shown.yaml'), out.join('\n'));
    expect(out[0]).toMatch(/^# .*strict\.yaml \([0-9a-f]{64}\)$/u);
    expect((await orrery(['policy', 'check', file('shown.yaml')])).exitCode).toBe(0);
    const { out: again } = await orrery(['policy', 'show', '--policy', file('shown.yaml'), '--json']);
    expect(JSON.parse(again.join(''))).toMatchObject({
      policy: { version: 1, defaults: { read: 'approve', write: 'log' } },
    });
  });
});
