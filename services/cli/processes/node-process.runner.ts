import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { failure, messageOf } from '../terminal/index.js';
import { CappedLog } from './capped-log.adapter.js';
import type { Running } from './supervised.runner.js';
import { heapFlags, memoryVariables, startFlags, type ServiceName } from './plan.js';

/**
 * Long enough for a first start on a slow machine, where everything starts at once and no code is kept yet: the last one takes more than a
 * minute. A service waits for NATS and PostgreSQL in it.
 */
const READY_MS_MAX = 180_000;
const STOP_MS_MAX = 10_000;
const KILL_MS_MAX = 5_000;
const LAST_WORDS_BYTES_MAX = 2_048;

const Ready = z.object({ ready: z.literal(true), ports: z.record(z.string(), z.int()) });

interface NodeProcessOptions {
  readonly name: string;
  /** Absent for what is no service. */
  readonly service?: ServiceName;
  /** Built file, relative to the root of the checkout's `dist/services`. */
  readonly entry: string;
  readonly args?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Whom it runs as, where that is not us. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  readonly logFile: string;
  /** Services say when they are ready and where they listen; others count as ready when they run. */
  readonly announces: boolean;
}

export interface NodeProcess extends Running {
  readonly ports: Readonly<Record<string, number>>;
}

const distServices = fileURLToPath(new URL('../../', import.meta.url));
/** Compiled code of our modules, kept over starts: a service that died is back in about half the time. */
const compileCache = fileURLToPath(new URL('../../../../.cache/node-compile', import.meta.url));
const preload = new URL('./end-with-supervisor.runner.js', import.meta.url).href;

/** Starts a Node program of ours and waits until it is ready. It ends with us, and Ctrl-C reaches only us. */
export async function startNodeProcess(options: NodeProcessOptions, signal: AbortSignal): Promise<NodeProcess> {
  const log = new CappedLog(options.logFile);
  const { service } = options;
  const child = fork(`${distServices}${options.entry}`, [...(options.args ?? [])], {
    execPath: process.execPath,
    execArgv: ['--import', preload, ...heapFlags(service), ...(service === undefined ? [] : startFlags(service))],
    env: { ...options.env, ...(service !== undefined && memoryVariables), NODE_COMPILE_CACHE: compileCache },
    cwd: options.cwd,
    ...options.user,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let lastWords = '';
  child.stdout?.on('data', (chunk: Buffer) => log.write(chunk));
  child.stderr?.on('data', (chunk: Buffer) => {
    log.write(chunk);
    lastWords = (lastWords + chunk.toString('utf8')).slice(-LAST_WORDS_BYTES_MAX);
  });
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, by) => resolve(by === null ? `code ${code ?? '?'}` : by));
  });
  child.once('close', () => log.close());
  const stop = (): Promise<void> => stopChild(child, exited);
  try {
    const ports = options.announces ? await readyPorts(child, exited, signal) : {};
    return { pid: child.pid ?? 0, exited, stop, ports };
  } catch (error) {
    await stop();
    if (signal.aborted) throw error;
    const words = lastWords.trim().split('\n').at(-1) ?? '';
    const why = messageOf(error);
    throw failure(`${options.name} ${why}; see ${options.logFile}${words === '' ? '' : ` (${words})`}`, error);
  }
}

async function readyPorts(
  child: ChildProcess,
  exited: Promise<string>,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, number>>();
  const onMessage = (message: unknown): void => {
    const ready = Ready.safeParse(message);
    if (ready.success) resolve(ready.data.ports);
  };
  const onAbort = (): void => reject(new Error('was stopped before it was ready'));
  const timer = setTimeout(() => reject(new Error(`was not ready in ${READY_MS_MAX / 1000} s`)), READY_MS_MAX);
  child.on('message', onMessage);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  void exited.then((how) => reject(new Error(`ended while starting (${how})`)));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.off('message', onMessage);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Asks, then insists. */
async function stopChild(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  for (const [signal, waitMs] of [
    ['SIGTERM', STOP_MS_MAX],
    ['SIGKILL', KILL_MS_MAX],
  ] as const) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    child.kill(signal);
    const timer = new AbortController();
    const late = sleep(waitMs, undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([exited, late]);
    timer.abort();
  }
}
