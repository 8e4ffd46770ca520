import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { build, stop } from 'esbuild';
import { ownPort, startTestNats, type TestNats } from '#libs/testing';

const LOOK_MS = 20;
const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
/** What packages can use, and find out that it is not there. */
const NOT_THERE = ['bufferutil', ...(JSON.parse(readFileSync(here('../../tools/unused.json'), 'utf8')) as string[])];

let server: TestNats;
let folder: string;
const processes: ChildProcess[] = [];
beforeAll(async () => {
  server = await startTestNats();
  folder = await mkdtemp(join(tmpdir(), 'orrery-sample-'));
  await makeProgram();
});
afterEach(() => {
  for (const child of processes.splice(0)) child.kill('SIGKILL');
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const program = (): string => join(folder, 'sample-service.mjs');

/** The service as one file, as those that are shipped are: a thousand modules took each of its processes three times as long. */
async function makeProgram(): Promise<void> {
  await build({
    entryPoints: [here('./sample-service.testing.ts')],
    outfile: program(),
    bundle: true,
    platform: 'node',
    format: 'esm',
    keepNames: true,
    logLevel: 'error',
    banner: {
      js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`,
    },
    alias: { '#proto': here('../../proto'), '#libs': here('..') },
    external: NOT_THERE,
  });
  await stop(); // what has made it would stay for as long as this process
}

interface Service {
  readonly child: ChildProcess;
  readonly ready: Promise<{ ports: Record<string, number> }>;
  readonly exited: Promise<number | null>;
  output(): { stdout: string; stderr: string };
  /** Resolves when a line of the log has this text. */
  logged(text: string): Promise<void>;
}

function start(environment: Record<string, string>): Service {
  const child = fork(program(), {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: join(folder, 'code'),
      ORRERY_NATS_URL: server.url,
      ORRERY_NATS_MONITOR_URL: server.monitorUrl,
      ...environment,
    },
  });
  processes.push(child);
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr?.on('data', (chunk) => (output.stderr += String(chunk)));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const message = once(child, 'message').then(([ready]) => ready as { ports: Record<string, number> });
  const died = exited.then((code): never => {
    throw new Error(`exit ${code}: ${output.stdout}${output.stderr}`);
  });
  died.catch(() => undefined);
  return {
    child,
    get ready() {
      return Promise.race([message, died]);
    },
    exited,
    output: () => output,
    logged: async (text) => {
      while (!output.stdout.includes(text)) await sleep(LOOK_MS);
    },
  };
}

async function statusOf(port: number, path: string): Promise<number> {
  return fetch(`http://127.0.0.1:${port}${path}`).then(
    (response) => response.body?.cancel().then(() => response.status) ?? response.status,
    () => 0,
  );
}

async function becomes(port: number, path: string, status: number): Promise<void> {
  while ((await statusOf(port, path)) !== status) await sleep(LOOK_MS);
}

describe('runService', () => {
  it('tells its ports when it is ready, and ends in order', async () => {
    const service = start({});
    const { ports } = await service.ready;
    const { health = 0 } = ports;
    expect(ports).toEqual({ health: expect.any(Number), aip: 5_000 });
    expect(await Promise.all(['/healthz', '/readyz', '/metrics', '/'].map((path) => statusOf(health, path)))).toEqual([
      200, 200, 200, 404,
    ]);
    // Nor does it say what it is made of.
    expect((await fetch(`http://127.0.0.1:${health}/`)).headers.get('x-powered-by')).toBeNull();
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    expect(service.output().stderr).toBe('');
    for (const line of service.output().stdout.trim().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ service: 'sample' });
  });

  it('serves on the port of its own when it has one', async () => {
    const { ports } = await start({ SAMPLE: 'port', ORRERY_HEALTH_PORT: '1' }).ready;
    expect(ports['sample']).toBe(ports['health']);
    expect(await statusOf(ports['sample'] ?? 0, '/readyz')).toBe(200);
  });

  it('is alive and not ready while NATS is away, at first and later', async () => {
    const away = await startTestNats();
    await away.kill9();
    const port = await ownPort();
    const service = start({
      ORRERY_NATS_URL: away.url,
      ORRERY_NATS_MONITOR_URL: away.monitorUrl,
      ORRERY_HEALTH_PORT: String(port),
    });
    await becomes(port, '/healthz', 200);
    expect(await statusOf(port, '/readyz')).toBe(503);
    const early = await fetch(`http://127.0.0.1:${port}/v1/runs`);
    expect([early.status, await early.json()]).toEqual([
      503,
      { error: expect.objectContaining({ code: 'TRY_AGAIN' }) },
    ]);
    await away.restart();
    await service.ready;
    expect(await statusOf(port, '/readyz')).toBe(200);
    await away.kill9();
    await becomes(port, '/readyz', 503);
    expect(await statusOf(port, '/healthz')).toBe(200);
    await away.restart();
    await becomes(port, '/readyz', 200);
    service.child.kill('SIGINT');
    expect(await service.exited).toBe(0);
    await away.stop();
  });

  it('ends at once when it is stopped while it waits for NATS', async () => {
    const service = start({ ORRERY_NATS_URL: 'nats://127.0.0.1:1' });
    await service.logged('not there yet');
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
  });

  it('says in one sentence what is wrong with its environment', async () => {
    const service = start({ ORRERY_LOG_LEVEL: 'loud' });
    expect(await service.exited).toBe(1);
    expect(service.output()).toEqual({
      stdout: '',
      stderr: 'ORRERY_LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent.\n',
    });
  });

  it('says in one sentence that its port is taken', async () => {
    const { port } = new URL(server.url);
    const service = start({ ORRERY_HEALTH_PORT: port });
    expect(await service.exited).toBe(1);
    expect(service.output().stderr).toBe(`Cannot listen on 127.0.0.1:${port} (EADDRINUSE).\n`);
  });

  it('refuses a server of which nobody knows whether it keeps what it acknowledges', async () => {
    const service = start({ ORRERY_NATS_MONITOR_URL: '' });
    expect(await service.exited).toBe(1);
    expect(service.output().stderr).toMatch(/^Nobody can tell whether the log is fsynced.*\n$/u);
    await start({ ORRERY_NATS_MONITOR_URL: '', ORRERY_ALLOW_UNSAFE_LOG: '1' }).ready;
  });

  it('logs what nobody caught and ends with status 1', async () => {
    const service = start({ SAMPLE: 'reject' });
    expect(await service.exited).toBe(1);
    expect(service.output().stdout).toContain('nobody is looking');
  });

  it('ends at once at the second signal', async () => {
    const service = start({ SAMPLE: 'hang' });
    await service.ready;
    service.child.kill('SIGTERM');
    await service.logged('"stopping"');
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(1);
  });
});
