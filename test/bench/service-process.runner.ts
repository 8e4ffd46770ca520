import { fork, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { cpuSeconds, rssBytesMax } from './processes.adapter.js';

const services = fileURLToPath(new URL('../../services', import.meta.url));
const READY_MS_MAX = 30_000;
const STOP_MS_MAX = 15_000;

const Ready = z.looseObject({ ready: z.literal(true), ports: z.record(z.string(), z.int()) });

export interface ServiceOptions {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly execArgv?: readonly string[];
  /** Output of the process goes to `<directory>/<name>.log`. */
  readonly directory: string;
  /** False for a program that never says that it is ready. */
  readonly tellsReady?: boolean;
}

/** One of our services as its own process, as it is installed: nothing of it runs in the bench. */
export class ServiceProcess {
  readonly name: string;
  /** The ports it opened, once it is ready. */
  readonly ready: Promise<Readonly<Record<string, number>>>;
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  #gone = false;
  #cpuSeconds = 0;
  #rssBytesMax = 0;

  constructor({ name, env, args = [], execArgv = [], directory, tellsReady = true }: ServiceOptions) {
    this.name = name;
    const log = openSync(join(directory, `${name}.log`), 'a');
    this.#child = fork(join(services, name, 'main.js'), args, {
      env: { PATH: process.env['PATH'] ?? '', HOME: directory, ...env },
      execArgv: [...execArgv],
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', () => {
        this.#gone = true;
        process.off('exit', this.#killAtExit);
        resolve();
      });
    });
    process.on('exit', this.#killAtExit);
    this.ready = tellsReady ? this.#untilReady() : Promise.resolve({});
    // Whoever needs it awaits it; a process that is killed on purpose is never ready.
    this.ready.catch(() => undefined);
  }

  /** Stays what it was when the process ended. */
  get cpuSeconds(): number {
    this.#look();
    return this.#cpuSeconds;
  }

  get rssBytesMax(): number {
    this.#look();
    return this.#rssBytesMax;
  }

  kill(): void {
    this.#look();
    this.#child.kill('SIGKILL');
  }

  async stop(): Promise<void> {
    if (this.#gone) return;
    this.#child.kill('SIGTERM');
    const late = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX);
    await this.exited;
    clearTimeout(late);
  }

  readonly #killAtExit = (): void => void this.#child.kill('SIGKILL');

  #untilReady(): Promise<Readonly<Record<string, number>>> {
    const { promise, resolve, reject } = Promise.withResolvers<Readonly<Record<string, number>>>();
    const fail = (why: string) => reject(new Error(`${this.name} ${why}; see ${this.name}.log`));
    const late = setTimeout(() => fail(`was not ready in ${READY_MS_MAX} ms`), READY_MS_MAX);
    this.#child.on('message', (message) => {
      const parsed = Ready.safeParse(message);
      if (parsed.success) resolve(parsed.data.ports);
    });
    this.#child.once('error', reject);
    void this.exited.then(() => fail('ended before it was ready'));
    return promise.finally(() => clearTimeout(late));
  }

  #look(): void {
    const { pid } = this.#child;
    if (this.#gone || pid === undefined) return;
    try {
      this.#cpuSeconds = cpuSeconds(pid, { children: true });
      this.#rssBytesMax = rssBytesMax(pid);
    } catch {
      // It is ending just now: what was seen last stays.
    }
  }
}
