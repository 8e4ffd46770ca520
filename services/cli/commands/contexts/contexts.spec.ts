import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';
import { runProgram } from '../../run-program.js';
import { CliCommand } from '../../terminal/index.js';
import { defineCommands } from '../command-list.js';

const PROD = 'nats://127.0.0.1:1';
const OTHER = 'nats://127.0.0.1:2';
const RUN = 'a'.repeat(26);
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
});

it('is said before the command or behind it; what stands nearest to the end counts', async () => {
  await add('prod');
  await add('other', OTHER);
  for (const words of ['runs --context prod', `show ${RUN} --context=prod`, 'devices --context prod show web-1']) {
    expect(await askedAt(words)).toBe(PROD);
  }
  expect(await askedAt('--context other devices --context other show --context prod web-1')).toBe(PROD);
  expect(await askedAt(`output ${RUN} --grep full -C 3 --context prod`)).toBe(PROD);
  // Words of a request are not read as options.
  expect(await askedAt('--context other search -- --context prod')).toBe(OTHER);
});

it('who changes something is told in one line which system that is, where it is not the default', async () => {
  await add('prod');
  await orrery(`context add here --home ${directory}/here`);
  const line = `context prod: ${PROD}`;
  const first = async (words: string, env: NodeJS.ProcessEnv = {}) => (await orrery(words, env)).err.split('\n')[0];
  for (const words of [`cancel ${RUN} --timeout 1 --context prod`, '--context prod devices hold web-1']) {
    expect(await first(words)).toBe(line);
  }
  expect(await first('attention settle 4kq7w2m9x0ab --reason well', { ORRERY_CONTEXT: 'prod' })).toBe(line);
  expect(await first('down --context here')).toBe(`context here: ${directory}/here`);
  await orrery('context use prod');
  expect(await first('people revoke anna')).toBe(line);
  // Who only looks is not told, nor is a program, nor who means no context.
  expect((await orrery('runs')).err).not.toContain('context');
  expect((await orrery('people revoke anna --json')).err).not.toContain('context');
  expect((await orrery('people revoke anna', { ORRERY_NATS_URL: OTHER })).err).not.toContain('context');
});

it('a verb only looks, or it changes something: each is one of the two', () => {
  const program = new CliCommand(async () => {}, 'orrery');
  defineCommands(program);
  const looking = (command: CliCommand, path: readonly string[]): string[] => [
    ...(command.isVerb && !command.isChanging ? [path.join(' ')] : []),
    ...command.commands.flatMap((below) => looking(below as CliCommand, [...path, below.name()])),
  ];
  expect(looking(program, []).toSorted()).toEqual(
    [
      'access, approvals, approvals show, artifacts get, attention, board, board get, board list, clients, completion, context add',
      'context list, context remove, context use, devices, devices archive, devices show, devices workspaces, diff, dlq ls',
      'dlq show, experience ls, export, logs, man, mcp revoked, metrics, output, people, people list, people show',
      'plan, policy check, policy explain, policy show, replay, report, runbooks, runbooks approvals',
      'runbooks check, runbooks ls, runbooks save, runbooks show, runs, search, settings, settings prompt, show, status, steps, tokens',
      'tokens list, verify, watch',
    ].flatMap((line) => line.split(', ')),
  );
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
