import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EmbeddedServerError } from './errors.js';
import { freePort, isPortFree } from './ports.js';
import { adopt, commandLine, isAlive, launch, logTail, stopInSteps, type ServerProcess } from './server-process.js';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-process-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const shell = (script: string): Promise<ServerProcess> =>
  launch({
    binary: '/bin/sh',
    args: ['-c', script],
    cwd: directory,
    env: { PATH: process.env['PATH'] },
    logFile: join(directory, 'log'),
  });
const STUBBORN = 'trap "" TERM; echo up; while :; do sleep 0.05; done';

async function started(server: ServerProcess): Promise<ServerProcess> {
  while (logTail(join(directory, 'log')) === '') await sleep(5);
  return server;
}

describe('a launched process', () => {
  it('reports its exit code and leaves its words in the log', async () => {
    const server = await shell('echo hello; exit 7');
    expect(await server.exited).toBe(7);
    expect(server.hasExited()).toBe(true);
    expect(logTail(join(directory, 'log'))).toBe('hello\n');
  });

  it('that cannot be run is one sentence', async () => {
    const options = { args: [], cwd: directory, env: {}, logFile: join(directory, 'log') };
    await expect(launch({ ...options, binary: join(directory, 'missing') })).rejects.toThrow(EmbeddedServerError);
    await writeFile(join(directory, 'plain'), '');
    await expect(launch({ ...options, binary: join(directory, 'plain') })).rejects.toThrow('cannot be run');
  });

  it('that ignores SIGTERM is killed when its time is up', async () => {
    const server = await started(await shell(STUBBORN));
    await stopInSteps(server, [
      { signal: 'SIGTERM', waitMs: 100 },
      { signal: 'SIGKILL', waitMs: 5_000 },
    ]);
    expect(await server.exited).toBeNull();
    expect(isAlive(server.pid)).toBe(false);
  });

  it('can be stopped twice', async () => {
    const server = await shell('exec sleep 60');
    const steps = [{ signal: 'SIGTERM', waitMs: 5_000 }] as const;
    await stopInSteps(server, steps);
    await stopInSteps(server, steps);
    expect(server.hasExited()).toBe(true);
  });

  it('that survives every step is reported', async () => {
    const server = await started(await shell(STUBBORN));
    await expect(stopInSteps(server, [{ signal: 'SIGTERM', waitMs: 50 }])).rejects.toThrow('did not end');
    server.signal('SIGKILL');
    await server.exited;
  });

  it('is known by its command line', async () => {
    const server = await shell('exec sleep 61');
    while (!commandLine(server.pid).includes('61')) await sleep(5);
    expect(commandLine(server.pid).slice(0, 2)).toEqual(['sleep', '61']);
    server.signal('SIGKILL');
    await server.exited;
    expect(commandLine(server.pid)).not.toContain('61');
  });
});

describe('an adopted process', () => {
  it('is stopped and its end is seen, without its exit code', async () => {
    const child = await shell('exec sleep 60');
    const server = adopt(child.pid);
    expect(server.hasExited()).toBe(false);
    await stopInSteps(server, [{ signal: 'SIGTERM', waitMs: 5_000 }]);
    expect(await server.exited).toBeNull();
    server.signal('SIGTERM'); // gone: nothing to do, no error
  });
});

describe('ports', () => {
  it('a free port can be bound, a bound one is not free', async () => {
    const port = await freePort();
    expect(await isPortFree(port)).toBe(true);
    const program = `require('net').createServer().listen(${port},'127.0.0.1',()=>console.log('up'))`;
    await writeFile(join(directory, 'bind.cjs'), program);
    const holder = await launch({
      binary: process.execPath,
      args: [join(directory, 'bind.cjs')],
      cwd: directory,
      env: {},
      logFile: join(directory, 'log'),
    });
    await started(holder);
    expect(await isPortFree(port)).toBe(false);
    holder.signal('SIGKILL');
    await holder.exited;
  });
});
