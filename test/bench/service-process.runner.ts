import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type NodeProcess, startNodeProcess } from '../../services/cli/processes/node-process.runner.js';
import { familyCpuSeconds, familyOf, parents, rssBytesMax, unlessGone } from './processes.adapter.js';

export interface ServiceOptions {
  /** Of the process, and of its log in `directory`. */
  readonly name: string;
  /** The folder of the service; the name when absent. */
  readonly service?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly args?: readonly string[];
  readonly directory: string;
  /** False for a program that does not say that it is ready. */
  readonly announces?: boolean;
  /** A CPU profile is written into `<profileDirectory>/<service>` when the process ends. */
  readonly profileDirectory: string | undefined;
}

/** One of our programs as the supervisor starts it: the same flags, the same cache of compiled code, the end with its parent. */
export class ServiceProcess {
  readonly name: string;
  /** The ports it opened, once it is ready. */
  readonly ready: Promise<Readonly<Record<string, number>>>;
  readonly #started: Promise<NodeProcess>;
  readonly #giveUp = new AbortController();
  #running: NodeProcess | undefined;
  #cpuSeconds = 0;
  readonly #rssBytesMax: [own: number, children: number] = [0, 0];

  constructor(options: ServiceOptions) {
    const { name, service = name, env, args = [], directory, announces = true, profileDirectory } = options;
    this.name = name;
    this.#started = startNodeProcess(
      {
        name,
        entry: `${service}/main.js`,
        args,
        env: { PATH: process.env['PATH'], HOME: directory, ...env, ...profiling(profileDirectory, service) },
        cwd: directory,
        logFile: join(directory, `${name}.log`),
        announces,
      },
      this.#giveUp.signal,
    );
    this.ready = this.#begin();
    // Whoever needs it awaits it; a process that is killed on purpose is never ready.
    this.ready.catch(() => undefined);
  }

  /** With everything it has started. Stays what it was when the process ended. */
  cpuSeconds(parentByPid = parents()): number {
    const { pid } = this.#running ?? {};
    if (pid !== undefined && parentByPid.has(pid)) this.#cpuSeconds = familyCpuSeconds(pid, parentByPid);
    return this.#cpuSeconds;
  }

  /** Its own, and of the largest process that it has started. */
  rssBytesMax(parentByPid = parents()): readonly [own: number, children: number] {
    const { pid } = this.#running ?? {};
    if (pid === undefined) return this.#rssBytesMax;
    const [own, ...children] = familyOf(pid, parentByPid).map((member) => unlessGone(() => rssBytesMax(member)) ?? 0);
    this.#rssBytesMax[0] = Math.max(this.#rssBytesMax[0], own ?? 0);
    this.#rssBytesMax[1] = Math.max(this.#rssBytesMax[1], ...children);
    return this.#rssBytesMax;
  }

  kill(): void {
    if (this.#running === undefined) throw new Error(`${this.name} does not run`);
    const parentByPid = parents();
    this.cpuSeconds(parentByPid);
    this.rssBytesMax(parentByPid);
    process.kill(this.#running.pid, 'SIGKILL');
  }

  async stop(): Promise<void> {
    this.#giveUp.abort();
    const running = await this.#started.catch(() => undefined);
    await running?.stop();
  }

  async #begin(): Promise<Readonly<Record<string, number>>> {
    this.#running = await this.#started;
    return this.#running.ports;
  }
}

/** In the environment, because the supervisor's flags are what is measured. */
function profiling(directory: string | undefined, service: string): NodeJS.ProcessEnv {
  if (directory === undefined) return {};
  const own = join(directory, service);
  mkdirSync(own, { recursive: true });
  return { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${own}` };
}
