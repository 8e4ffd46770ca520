import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from './root.js';

export interface ServiceOptions {
  /** Folder of `services`. */
  readonly name: string;
  /** A program that is run in the place of what was built of this tree. */
  readonly program?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

export interface Service {
  readonly pid: number;
  readonly ports: Readonly<Record<string, number>>;
  readonly hasEnded: () => boolean;
  stop(): Promise<void>;
}

/** A liveness limit: on a busy machine the start alone may take a minute. */
const READY_MS = 240_000;
const STOP_MS = 5_000;
const WORDS_CHARS_MAX = 2_000;
/** However the parent ends: nobody else would stop it. */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  "process.on('disconnect', () => process.exit(1)); process.channel?.unref();",
)}`;

/** Runs a service as a process of its own and waits until it says that it is ready. */
export async function startService({ name, program, env }: ServiceOptions): Promise<Service> {
  const child = fork(program ?? join(ROOT, 'dist/services', name, 'main.js'), [], {
    cwd: ROOT,
    execArgv: ['--no-warnings', '--import', END_WITH_PARENT],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: join(ROOT, '.cache/node-compile'),
      ORRERY_LOG_LEVEL: 'error',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let words = '';
  const hear = (chunk: Buffer): void => void (words = (words + chunk.toString()).slice(-WORDS_CHARS_MAX));
  child.stdout?.on('data', hear);
  child.stderr?.on('data', hear);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const stop = (): Promise<void> => stopChild(child, hasEnded);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${name} was not ready in ${READY_MS} ms`)), READY_MS);
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${name} ended while starting: ${words}`)));
  ended.catch(() => undefined);
  try {
    const [message] = (await Promise.race([once(child, 'message'), ended, late])) as [
      { ports: Record<string, number> },
    ];
    return { pid: child.pid ?? 0, ports: message.ports, hasEnded, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function stopChild(child: ChildProcess, hasEnded: () => boolean): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (hasEnded()) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP_MS);
    await Promise.race([exited, late]);
    clearTimeout(timer);
  }
}
