import { readFile, rm } from 'node:fs/promises';
import { z } from 'zod';
import { stopNatsOn, stopPostgresOn } from '#libs/embedded';
import { type Home, writeJson } from '../home/index.js';
import { endProcess, identityOf, isSameAlive, ProcessIdentity } from './process-identity.adapter.js';

/** Services end by themselves when their supervisor is gone; who has not after this time is ended. */
const LEFTOVER_WAIT_MS = 5_000;
const WRITE_AGAIN_MS = 2_000;

/** They end in their own way, and know by themselves what was left of them. */
const SERVERS: ReadonlySet<string> = new Set(['nats', 'postgres']);

const Started = z.record(z.string(), ProcessIdentity);

/** Written down after every start, so that the next supervisor knows what a killed one may have left. */
export class StartedProcesses {
  readonly #file: string;
  readonly #started = new Map<string, ProcessIdentity>();
  #writing: Promise<void> = Promise.resolve();
  #again: NodeJS.Timeout | undefined;

  constructor({ processesFile }: Home) {
    this.#file = processesFile;
  }

  add(name: string, pid: number): Promise<void> {
    const identity = identityOf(pid);
    if (identity !== undefined) this.#started.set(name, identity);
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write());
    return this.#writing;
  }

  /** What could not be written, because the disk is full for example, is written later. */
  async #write(): Promise<void> {
    clearTimeout(this.#again);
    try {
      await writeJson(this.#file, Object.fromEntries(this.#started));
    } catch (error) {
      this.#again = setTimeout(() => void this.#write().catch(() => undefined), WRITE_AGAIN_MS).unref();
      throw error;
    }
  }
}

/** The processes of a home that are alive, by name. */
export async function processesOf({ processesFile }: Home): Promise<Map<string, ProcessIdentity>> {
  try {
    const started = Started.parse(JSON.parse(await readFile(processesFile, 'utf8')));
    return new Map(Object.entries(started).filter(([, identity]) => isSameAlive(identity)));
  } catch {
    return new Map();
  }
}

/** Ends the services a killed supervisor left. NATS and PostgreSQL are kept: the next start takes them over. */
export async function endLeftServices(home: Home): Promise<number> {
  const left = [...(await processesOf(home))].filter(([name]) => !SERVERS.has(name));
  await Promise.all(left.map(([, identity]) => endProcess(identity, LEFTOVER_WAIT_MS)));
  await rm(home.processesFile, { force: true });
  return left.length;
}

/** The same, and the servers as well. Answers whether there was anything. */
export async function endEverythingLeft(home: Home): Promise<boolean> {
  const services = await endLeftServices(home);
  const postgres = await stopPostgresOn(home.postgres);
  const nats = await stopNatsOn(home.nats);
  await rm(home.endpointsFile, { force: true });
  return services > 0 || postgres || nats;
}
