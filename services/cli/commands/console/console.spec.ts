import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import { decodeLoginCode, signerOf, verifyLoginCode } from '#libs/keys';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';
import { runProgram } from '../../run-program.js';

const SEED = new TextDecoder().decode(createUser().getSeed());
const { key } = signerOf(SEED);
const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const ENDPOINTS = { nats: 'x', postgres: 'x', console: 'http://127.0.0.1:8080', aip: 'x', health: {} };

let home: string;
let seedFile: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'orrery-console-'));
  seedFile = join(home, 'keys/cli.seed');
  await mkdir(dirname(seedFile));
  await writeFile(seedFile, SEED, { mode: 0o600 });
  await writeFile(join(home, 'endpoints.json'), JSON.stringify(ENDPOINTS));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function orrery(words: string, env: NodeJS.ProcessEnv = {}) {
  const terminal = fakeTerminal();
  const exitCode = await runProgram(
    words.split(' '),
    surroundings(terminal, { ORRERY_HOME: home, HOME: home, ...env }),
  );
  return { exitCode, out: terminal.outLines.join('\n'), err: terminal.errLines.join('\n') };
}
/** What a link is good for. */
function read(link: string, hosts: string[]) {
  const url = new URL(link);
  const code = decodeLoginCode(url.hash.slice(1));
  return { place: url.origin + url.pathname + url.search, good: code && verifyLoginCode(code, { hosts, now: NOW }) };
}

it('prints a link to the console that runs here, whose code no server is sent', async () => {
  const { exitCode, out, err } = await orrery('console');
  expect(exitCode).toBe(0);
  expect(read(out, ['127.0.0.1:8080'])).toEqual({ place: 'http://127.0.0.1:8080/login/code', good: { ok: true, key } });
  expect(err).toContain('Whoever opens this link before 2026-11-20 12:02:00Z is logged in as you. It works once.');
  expect((await orrery('console')).out).not.toBe(out);
});

it('prints one to where browsers reach it, when somebody has said so', async () => {
  const publicUrl = { ...ENDPOINTS, consolePublic: 'https://console.example/' };
  await writeFile(join(home, 'endpoints.json'), JSON.stringify(publicUrl));
  for (const [words, env] of [
    ['console', {}],
    ['console', { ORRERY_CONSOLE_URL: 'https://console.example' }],
    ['console --url https://console.example/x', { ORRERY_CONSOLE_URL: 'https://other.example' }],
    ['console --url https://console.example', { ORRERY_NATS_URL: 'nats://x', ORRERY_NATS_SEED_FILE: seedFile }],
  ] as const)
    expect(read((await orrery(words, env)).out, ['console.example'])).toEqual({
      place: 'https://console.example/login/code',
      good: { ok: true, key },
    });
});

it('gives a program what it needs', async () => {
  const { out } = await orrery('console --json');
  expect(JSON.parse(out)).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8080\/login\/code#[\w-]+$/u),
    origin: 'http://127.0.0.1:8080',
    expiresAt: '2026-11-20T12:02:00.000Z',
  });
});

it.each<[string, NodeJS.ProcessEnv, RegExp]>([
  ['console --url ftp://x', {}, /"ftp:\/\/x" is no address of a console/u],
  ['console --url nonsense', {}, /"nonsense" is no address/u],
  ['console --url http://console.example', {}, /must begin with https:\/\/ unless it names this machine/u],
  ['console', { ORRERY_NATS_URL: 'nats://x' }, /nobody has said: --url/u],
  ['console --url https://x', { ORRERY_NATS_URL: 'nats://x' }, /set ORRERY_NATS_SEED_FILE/u],
  ['console', { ORRERY_HOME: '/nowhere' }, /No system is running in \/nowhere/u],
])('says what is missing: %s', async (words, env, why) => {
  const { exitCode, out, err } = await orrery(words, env);
  expect([exitCode, out]).toEqual([why.source.startsWith('No system') ? 4 : 3, '']);
  expect(err).toMatch(why);
});
