// A server that may outlive the process that launched it, seen the same way whether launched here or found alive. For the
// same reason it never keeps its launcher alive: who launches has something else to do, or stops the server first.
//
//   launch ──► alive ──stop──► asked to end ──deadline──► next, harder signal ──► gone
//   adopt  ──►   │                                                               ▲
//                └──────────────────────── ends by itself ───────────────────────┘
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedServerError } from './errors.js';

/** How often a process that is not our child is looked at; its end cannot be waited for. */
const ADOPTED_POLL_MS = 100;
const LOG_TAIL_BYTES_MAX = 4096;
const SETPRIV = '/usr/bin/setpriv';

export interface ServerProcess {
  readonly pid: number;
  /** The exit code; null when a signal ended it or when it was adopted (then nobody can know). */
  readonly exited: Promise<number | null>;
  readonly hasExited: () => boolean;
  readonly signal: (name: NodeJS.Signals) => void;
}

export interface ServerHandle {
  /** May carry a password: not for logs. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** True when a server left by an earlier launcher was found alive and fit, and taken over. */
  readonly reattached: boolean;
  readonly exited: Promise<number | null>;
  stop(): Promise<void>;
  /** SIGKILL, at once: what a crash looks like. */
  kill(): void;
}

export interface LaunchOptions {
  readonly binary: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Standard output and error go to this file: a pipe would break, and with it the server, when the launcher dies. */
  readonly logFile: string;
  readonly ids?: UnixIds | undefined;
  /** Ends the server with the launcher, however that dies (Linux only). For tests; a real system is reattached to. */
  readonly dieWithParent?: boolean | undefined;
}

export interface UnixIds {
  readonly uid: number;
  readonly gid: number;
}

export interface StopStep {
  readonly signal: NodeJS.Signals;
  readonly waitMs: number;
}

/** Starts the program in its own process group, so that Ctrl-C reaches the launcher only and the order of the shutdown is its choice. */
export async function launch(options: LaunchOptions): Promise<ServerProcess> {
  const guarded = options.dieWithParent === true && existsSync(SETPRIV);
  const [command, args] = guarded
    ? [SETPRIV, ['--pdeathsig', 'KILL', '--', options.binary, ...options.args]]
    : [options.binary, options.args];
  const log = openSync(options.logFile, 'w', 0o600);
  try {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: ['ignore', log, log],
      ...options.ids,
    });
    child.unref();
    let gone = false;
    const exited = new Promise<number | null>((resolve) => {
      child.once('exit', (code) => {
        gone = true;
        resolve(code);
      });
    });
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('spawn', () => resolve(child.pid ?? 0));
    });
    return { pid, exited, hasExited: () => gone, signal: (name) => void (gone || child.kill(name)) };
  } catch (cause) {
    throw new EmbeddedServerError(`${options.binary} cannot be run.`, { cause });
  } finally {
    closeSync(log);
  }
}

/** Looks until the server is ready; false when it has ended before that, the time is over, or nobody wants it any more. */
export async function becomesReady(
  server: ServerProcess,
  { timeoutMs, pollMs, signal }: { readonly timeoutMs: number; readonly pollMs: number; readonly signal?: AbortSignal },
  isReady: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline && !server.hasExited()) {
    if (signal?.aborted === true) return false;
    if (await isReady()) return true;
    await sleep(pollMs);
  }
  return false;
}

/** The server as its launcher sees it. `stop` ends it in its own way. */
export const handleOf = (
  { pid, exited, signal }: ServerProcess,
  at: Pick<ServerHandle, 'url' | 'port' | 'reattached'>,
  stop: () => Promise<void>,
): ServerHandle => ({ ...at, pid, exited, stop, kill: () => signal('SIGKILL') });

/** Takes over a process that an earlier launcher left behind. The caller has made sure that the pid is the server it looks for. */
export function adopt(pid: number): ServerProcess {
  const exited = (async (): Promise<null> => {
    while (isAlive(pid)) await sleep(ADOPTED_POLL_MS, undefined, { ref: false });
    return null;
  })();
  return { pid, exited, hasExited: () => !isAlive(pid), signal: (name) => signalIfAlive(pid, name) };
}

/** Asks, then insists: each step waits for its time only. Safe to call twice and on a process that is gone. */
export async function stopInSteps(server: ServerProcess, steps: readonly StopStep[]): Promise<void> {
  for (const { signal, waitMs } of steps) {
    if (server.hasExited()) return;
    server.signal(signal);
    const timer = new AbortController();
    const outcome = await Promise.race([
      server.exited.then(() => 'gone' as const),
      sleep(waitMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const),
    ]);
    timer.abort();
    if (outcome === 'gone') return;
  }
  throw new EmbeddedServerError(`Process ${server.pid} did not end, not even when killed.`);
}

/** A zombie counts as dead: where nobody reaps orphans (pid 1 of a small container) it would look alive for ever. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return process.platform !== 'linux';
  }
}

/** The words a process was started with, empty when it is gone: the proof that a pid from a file still means the same server. */
export function commandLine(pid: number): readonly string[] {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .split(' ');
  } catch {
    return [];
  }
}

/** The end of a log, for the `cause` of an error. */
export function logTail(file: string): string {
  try {
    return readFileSync(file, 'utf8').slice(-LOG_TAIL_BYTES_MAX);
  } catch {
    return '';
  }
}

export function errorCode(error: unknown): string | undefined {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function signalIfAlive(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
