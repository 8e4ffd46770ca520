import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import { homeAt, writeJson } from '../../home/index.js';
import { lockHome, StartedProcesses } from '../../processes/index.js';
import { runProgram } from '../../run-program.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';
import { startSilent, type MuteBus } from '../../testing/mute-bus.js';

/* A home whose processes are all there and say nothing: they take every connection, as what is frozen does. */

let root: string;
let mute: MuteBus;
let unlock: () => Promise<void>;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'orrery-status-'));
  mute = await startSilent();
  const home = homeAt(root);
  for (const folder of [home.nats, home.postgres, home.keys]) await mkdir(folder, { recursive: true });
  await writeFile(home.seedFile('cli'), createUser().getSeed(), { mode: 0o600 });
  unlock = await lockHome(home, process.pid, Date.now());
  const started = new StartedProcesses(home);
  for (const name of ['nats', 'postgres', 'logging', 'web-1']) await started.add(name, process.pid);
  const http = mute.url.replace('nats:', 'http:');
  await writeJson(home.endpointsFile, {
    nats: mute.url,
    natsMonitor: http,
    postgres: mute.url.replace('nats:', 'postgres:'),
    console: http,
    aip: mute.url.replace('nats:', 'ws:'),
    health: { logging: http },
  });
});
afterAll(async () => {
  await unlock();
  await mute.stop();
  await rm(root, { recursive: true, force: true });
});

async function status(...words: string[]) {
  const terminal = fakeTerminal();
  const exitCode = await runProgram(['status', ...words], surroundings(terminal, { ORRERY_HOME: root }));
  return { exitCode, out: terminal.outLines.join('\n') };
}

it('says of what does not answer that it does not, and never that it runs', async () => {
  const { exitCode, out } = await status('--json');
  const told = JSON.parse(out) as { parts: { name: string; state: string }[]; attention: object; storage: object };
  expect(exitCode).toBe(0);
  expect(Object.fromEntries(told.parts.map(({ name, state }) => [name, state]))).toEqual({
    nats: 'no answer',
    postgres: 'no answer',
    logging: 'no answer',
    // A device has no door of its own: that there is a process is all that can be said here.
    'web-1': 'running',
  });
  expect(told).toMatchObject({
    attention: { unseen: [{ source: 'the inbox', reason: expect.stringContaining('NATS at') }] },
    storage: { unseen: ['what nats-server may store'] },
    devicesWithoutWall: null,
  });
});

it('tells a person what could not be seen', async () => {
  const { out } = await status();
  expect(out).toMatch(/^attention: could not be seen: the inbox \(NATS at /mu);
  expect(out).toMatch(/^nats\tno answer\t/mu);
  expect(out).toContain('could not be seen: what nats-server may store');
});
