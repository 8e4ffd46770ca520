import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';
import { runProgram } from '../../run-program.js';

const PROD = 'nats://127.0.0.1:1';
const OTHER = 'nats://127.0.0.1:2';
const SEED = new TextDecoder().decode(createUser().getSeed());

let directory: string;
let seedFile: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-contexts-'));
  seedFile = join(directory, 'anna.seed');
  await writeFile(seedFile, SEED, { mode: 0o600 });
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const file = (): string => join(directory, 'config/orrery/contexts.json');

async function orrery(words: string, more: NodeJS.ProcessEnv = {}) {
  const terminal = fakeTerminal();
  const env = { XDG_CONFIG_HOME: join(directory, 'config'), HOME: directory, ORRERY_BUS_TIMEOUT: '1', ...more };
  const exitCode = await runProgram(words.split(' '), surroundings(terminal, env));
  return { exitCode, out: terminal.outLines.join('\n'), err: terminal.errLines.join('\n') };
}
const add = (name: string, url = PROD) => orrery(`context add ${name} --url ${url} --seed-file ${seedFile}`);
/** The bus or home at which a command failed: nobody is there. */
async function askedAt(words: string, env: NodeJS.ProcessEnv = {}): Promise<string | undefined> {
  const { exitCode, err } = await orrery(words, env);
  expect(exitCode).toBe(4);
  return /(?:NATS at (\S+)|running in ([^;]+);)/u.exec(err)?.slice(1).find(Boolean);
}

it('commands are about the context of the command line, else of the environment, else the current one', async () => {
  expect((await add('prod')).exitCode).toBe(0);
  expect((await add('other', OTHER)).exitCode).toBe(0);
  expect((await orrery(`context add here --home ${directory}/here`)).exitCode).toBe(0);
  const own = { ORRERY_HOME: join(directory, 'own') };
  expect(await askedAt('runs', own)).toBe(own.ORRERY_HOME);
  expect(await askedAt('--context prod runs')).toBe(PROD);
  expect(await askedAt('--context prod runs', { ORRERY_CONTEXT: 'other', ...own })).toBe(PROD);
  expect(await askedAt('runs', { ORRERY_CONTEXT: 'other', ...own })).toBe(OTHER);
  expect((await orrery('context use prod')).exitCode).toBe(0);
  expect(await askedAt('runs')).toBe(PROD);
  // Who names a system in the environment means that one.
  expect(await askedAt('runs', own)).toBe(own.ORRERY_HOME);
  expect(await askedAt('runs', { ORRERY_NATS_URL: OTHER })).toBe(OTHER);
  expect(await askedAt('--context here runs', { ORRERY_NATS_URL: OTHER })).toBe(join(directory, 'here'));
  expect(await askedAt('--context default runs', own)).toBe(own.ORRERY_HOME);
  // A command may have a --context that is another thing.
  expect(await askedAt(`output ${'a'.repeat(26)} --grep full --context 3`, own)).toBe(own.ORRERY_HOME);
});

it('a context that is removed is nobody’s current one, and one that is not there stops the command', async () => {
  await add('prod');
  await orrery('context use prod');
  expect((await orrery('context remove prod')).out).toContain('about default now');
  expect(await orrery('--context prod runs')).toMatchObject({ exitCode: 3, err: expect.stringContaining('"prod"') });
  expect(await orrery('context use prod')).toMatchObject({ exitCode: 3 });
  expect(await orrery('runs', { ORRERY_CONTEXT: 'constructor' })).toMatchObject({ exitCode: 3 });
  // What is said about contexts is never in the way of mending them.
  expect(await orrery('context list', { ORRERY_CONTEXT: 'prod' })).toMatchObject({ exitCode: 0 });
});

it('says where the name of a system stands to whoever writes it behind the command', async () => {
  for (const words of ['runs --context prod', 'show 0k3j --context=prod']) {
    expect(await orrery(words)).toEqual({
      exitCode: 3,
      out: '',
      err: 'orrery: The system that is meant is named before the command: orrery --context <name> runs.',
    });
  }
});

it('a key is where it was, and in nothing that is written or shown', async () => {
  await add('prod');
  await orrery('context use prod');
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect(await readFile(file(), 'utf8')).not.toContain(SEED);
  const { out } = await orrery('context list --json');
  expect(JSON.parse(out)).toEqual({
    current: 'prod',
    contexts: [{ name: 'prod', isCurrent: true, system: PROD, key: seedFile }],
  });
});

it.each([
  ['--url nats://anna:secret@bus:4222 --seed-file SEED', 'without a user or password'],
  ['--url http://bus:4222 --seed-file SEED', 'must be the address of a bus'],
  ['--url nats://bus:4222', 'by --url and --seed-file, or by --home'],
  ['--home /srv --url nats://bus:4222', 'by --url and --seed-file, or by --home'],
  ['--url nats://bus:4222 --seed-file none', 'There is no file'],
])('refuses %s, and writes nothing', async (words, why) => {
  expect(await orrery(`context add prod ${words.replace('SEED', seedFile)}`)).toMatchObject({
    exitCode: 3,
    err: expect.stringContaining(why),
  });
  await expect(stat(file())).rejects.toThrow('ENOENT');
});

it('refuses a key that others may read, a name twice, and "default"', async () => {
  await chmod(seedFile, 0o640);
  expect(await add('prod')).toMatchObject({ exitCode: 3, err: expect.stringContaining('chmod 600') });
  await chmod(seedFile, 0o600);
  expect(await add('default')).toMatchObject({ exitCode: 3 });
  await add('prod');
  expect(await add('prod', OTHER)).toMatchObject({ exitCode: 3, err: expect.stringContaining('already') });
});

it.each(['up', 'down', 'status', 'logs console', 'restart console', 'demo'])(
  '"%s" is about this machine, and refuses a context elsewhere',
  async (words) => {
    await add('prod');
    const { exitCode, err } = await orrery(`--context prod ${words}`);
    expect([exitCode, err]).toEqual([3, expect.stringContaining('of this machine')]);
  },
);
