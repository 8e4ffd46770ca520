import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { askRestart } from './door.client.js';
import { openDoorOf } from './door.gateway.js';

let home: string;
let file: string;
let close: (() => Promise<void>) | undefined;
const asked: string[] = [];
const system = {
  names: () => ['console', 'web-1'],
  restart: async (name: string) => {
    asked.push(name);
    if (name === 'web-1') throw new Error('it ended while starting');
  },
};
const { signal } = new AbortController();
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'orrery-door-'));
  file = join(home, 'supervisor.sock');
});
afterEach(async () => {
  await close?.();
  close = undefined;
  await rm(home, { recursive: true });
});

it('is for its owner only, and there again after a supervisor that was killed', async () => {
  await writeFile(file, 'left behind');
  close = await openDoorOf(file, system);
  const { mode } = await stat(file);
  expect((mode & 0o777).toString(8)).toBe('600');
  expect(await askRestart(file, 'console', signal)).toEqual({ kind: 'done' });
  expect(asked).toEqual(['console']);
});

it('tells what there is, and why something did not come back', async () => {
  close = await openDoorOf(file, system);
  expect(await askRestart(file, '../x', signal)).toMatchObject({ kind: 'failed' });
  expect(await askRestart(file, 'consol', signal)).toEqual({ kind: 'unknown', names: ['console', 'web-1'] });
  expect(await askRestart(file, 'web-1', signal)).toEqual({ kind: 'failed', message: 'it ended while starting' });
});

it('is not there in a home whose path is too long, or when nobody has opened it', async () => {
  expect(await openDoorOf(join(home, 'x'.repeat(100)), system)).toBeUndefined();
  await expect(askRestart(file, 'console', signal)).rejects.toMatchObject({ code: 'ENOENT' });
});
