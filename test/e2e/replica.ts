import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { COMPILE_CACHE, type TestSystem } from './system.js';

const DIST = resolve(import.meta.dirname, '../../dist/services');

/** One line of a service's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** One more orchestrator of a running system, under the hand of the test: nobody starts it again when it dies. */
export class Replica {
  readonly instance: string;
  readonly #child: ChildProcess;
  readonly #logFile: string;

  private constructor(instance: string, child: ChildProcess, logFile: string) {
    this.instance = instance;
    this.#child = child;
    this.#logFile = logFile;
  }

  /** Resolves when it says that it is ready. It ends with this process, however that ends. */
  static async start(system: TestSystem, instance: string, natsUrl?: string): Promise<Replica> {
    const endpoints = JSON.parse(await readFile(join(system.home, 'endpoints.json'), 'utf8')) as Record<string, string>;
    const logFile = join(system.home, 'logs', `${instance}.log`);
    const log = openSync(logFile, 'a', 0o600);
    const child = fork(join(DIST, 'orchestrator/main.js'), {
      execArgv: ['--import', join(DIST, 'cli/processes/end-with-supervisor.runner.js')],
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ORRERY_HOME: system.home,
        ORRERY_NATS_URL: natsUrl ?? endpoints['nats'],
        ORRERY_NATS_MONITOR_URL: endpoints['natsMonitor'],
        ORRERY_NATS_SEED_FILE: join(system.home, 'keys/orchestrator.seed'),
        ORRERY_INSTANCE: instance,
      },
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${instance} ended; see ${logFile}`)));
    await Promise.race([once(child, 'message'), ended]);
    ended.catch(() => undefined); // from now on it may end: the test kills it
    return new Replica(instance, child, logFile);
  }

  async kill9(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  /** Stops in the middle of whatever it does; its sockets stay open, and what arrives waits in them. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  async log(): Promise<LogLine[]> {
    // What comes after the last end of a line is being written.
    const lines = (await readFile(this.#logFile, 'utf8')).split('\n').slice(0, -1);
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
  }
}
