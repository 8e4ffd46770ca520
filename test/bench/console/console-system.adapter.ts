import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { connectBus } from '#libs/messaging';

const DIST = resolve(import.meta.dirname, '../../..');
const CLI = join(DIST, 'services/cli/main.js');
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const PASSABLE = 0o711;
const Started = z.looseObject({ adminToken: z.string() });
const Endpoints = z.looseObject({ nats: z.string(), console: z.string() });
const Processes = z.record(z.string(), z.looseObject({ pid: z.int() }));

/** A whole system as `orrery up` starts it, in a home of its own. */
export class ConsoleSystem {
  readonly token: string;
  readonly url: string;
  /** The administrator's. */
  readonly nc: NatsConnection;
  readonly #home: string;
  /** Of its processes, by name. */
  readonly pids: ReadonlyMap<string, number>;

  private constructor(parts: Pick<ConsoleSystem, 'token' | 'url' | 'nc' | 'pids'> & { home: string }) {
    ({ token: this.token, url: this.url, nc: this.nc } = parts);
    [this.#home, this.pids] = [parts.home, parts.pids];
  }

  static async start(parent: string): Promise<ConsoleSystem> {
    const home = await mkdtemp(join(parent, 'orrery-console-'));
    // PostgreSQL runs as another user when we are root: it may pass through, and read nothing in it.
    await chmod(home, PASSABLE);
    try {
      const { adminToken: token } = Started.parse(
        JSON.parse(await cli(home, 'up', '--detach', '--json', '--devices', '1')),
      );
      const json = async (file: string): Promise<unknown> => JSON.parse(await readFile(join(home, file), 'utf8'));
      const { nats, console: url } = Endpoints.parse(await json('endpoints.json'));
      const processes = Object.entries(Processes.parse(await json('processes.json')));
      const pids = new Map(processes.map(([name, { pid }]) => [name, pid]));
      const seedFile = join(home, 'keys/admin.seed');
      const nc = await connectBus({ url: nats, seedFile, name: 'bench', inboxPrefix: '_INBOX_admin' });
      return new ConsoleSystem({ token, url, nc, home, pids });
    } catch (error) {
      await cli(home, 'down').catch(() => undefined);
      await rm(home, { recursive: true, force: true });
      throw error;
    }
  }

  /** What the process of the console holds in memory now. */
  rssBytes(): number {
    return this.#statusKib('VmRSS') * 1024;
  }

  /** Of it what is its own: not of files that other processes of the same program map, too. */
  ownBytes(): number {
    return this.#statusKib('RssAnon') * 1024;
  }

  #statusKib(field: string): number {
    const status = readFileSync(`/proc/${this.#pidOf('console')}/status`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'mu').exec(status)?.[1] ?? Number.NaN);
  }

  /** While something is done this service stands still. */
  async without<T>(service: string, work: () => Promise<T>): Promise<T> {
    const pid = this.#pidOf(service);
    process.kill(pid, 'SIGSTOP');
    try {
      return await work();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }

  #pidOf(service: string): number {
    const pid = this.pids.get(service);
    if (pid === undefined) throw new Error(`no process is called ${service}`);
    return pid;
  }

  async stop(): Promise<void> {
    await this.nc.close();
    await cli(this.#home, 'down');
    await rm(this.#home, { recursive: true, force: true });
  }
}

async function cli(home: string, ...words: readonly string[]): Promise<string> {
  const ports = ['NATS', 'POSTGRES', 'CONSOLE', 'AIP', 'MCP'].map((name) => [`ORRERY_${name}_PORT`, '0'] as const);
  const own = { ...Object.fromEntries(ports), ORRERY_HOME: home, ORRERY_ROOT: resolve(DIST, '..'), NO_COLOR: '1' };
  const options = { env: { ...process.env, ...own }, maxBuffer: OUTPUT_BYTES_MAX };
  return (await promisify(execFile)(process.execPath, [CLI, ...words], options)).stdout;
}
