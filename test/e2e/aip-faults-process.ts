import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import type { AdminProfile } from '#proto';
import { query } from '#libs/messaging';
import { COMPILE_CACHE, PATIENT, type TestSystem } from './system.js';

const DIST = resolve(import.meta.dirname, '../../dist/services');
const PRIVATE_FILE = 0o600;

export interface DeviceProcessOptions {
  readonly system: TestSystem;
  readonly nc: NatsConnection;
  readonly id: string;
  /** Gateways, in the order in which they are tried. */
  readonly urls: readonly string[];
  readonly admin: AdminProfile;
  /** What stands in its configuration file. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The program and words that it is started with, such as those that enter a network namespace. */
  readonly within?: readonly string[];
}

/** A real device client in a process of its own. Only the test starts it again; it ends with this process, however that ends. */
export class DeviceProcess {
  readonly id: string;
  readonly #options: DeviceProcessOptions;
  #child: ChildProcess | undefined;

  constructor(options: DeviceProcessOptions) {
    this.id = options.id;
    this.#options = options;
  }

  /** Enrols it and starts it; resolves when it is registered. */
  async enrol(): Promise<void> {
    const { nc, id, admin, config = {} } = this.#options;
    const { token } = await query(nc, 'registry', 'enroll', { deviceId: id, admin }, PATIENT);
    await mkdir(this.directory, { recursive: true });
    await writeFile(this.#file('token'), token, { mode: PRIVATE_FILE });
    // JSON is YAML.
    await writeFile(this.#file('config.yaml'), JSON.stringify(config));
    await this.begin();
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get directory(): string {
    return join(this.#options.system.home, 'test-devices', this.id);
  }

  /** Resolves when it is registered. */
  async begin(): Promise<void> {
    const { system, urls, within = [] } = this.#options;
    const [program, ...words] = [...within, process.execPath];
    const log = openSync(join(system.home, 'logs', `${this.id}.log`), 'a', PRIVATE_FILE);
    const files = ['--token-file', 'token', '--data-dir', 'data', '--config', 'config.yaml'];
    const child = fork(
      join(DIST, 'device-client/main.js'),
      ['join', ...urls.flatMap((url) => ['--url', url]), ...files.map((word) => this.#wordOf(word))],
      {
        execPath: program,
        execArgv: [...words, '--import', join(DIST, 'cli/processes/end-with-supervisor.runner.js')],
        env: { PATH: process.env['PATH'], HOME: this.directory, NODE_COMPILE_CACHE: COMPILE_CACHE },
        stdio: ['ignore', log, log, 'ipc'],
      },
    );
    closeSync(log);
    this.#child = child;
    const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${this.id} ended by itself`)));
    await Promise.race([once(child, 'message'), ended]);
    ended.catch(() => undefined); // from now on it may end: the test kills it
  }

  /** Makes a file where its commands look for it. */
  write(file: string): Promise<void> {
    return writeFile(this.#file(join('data/jail', file)), '');
  }

  /** The lines of a file that its commands wrote. */
  async lines(file: string): Promise<string[]> {
    const text = await readFile(this.#file(join('data/jail', file)), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  }

  async kill9(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** As after a new disk: it does not know any more what it did. */
  async forget(): Promise<void> {
    await rm(this.#file('data/commands.journal'));
  }

  #wordOf(word: string): string {
    return word.startsWith('--') ? word : this.#file(word);
  }

  #file(name: string): string {
    return join(this.directory, name);
  }
}
