import { randomUUID } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { EmbeddedServerError } from './errors.js';
import { adopt, becomesReady } from './server-process.js';

/** A limit for a server that does not take it: one that is busy is waited for. */
const RELOADED = { timeoutMs: 60_000, pollMs: 20 };
const ANSWER_MS_MAX = 1_000;
const PRIVATE_FILE = 0o600;

/** A nats-server that runs. */
export interface RunningNats {
  readonly pid: number;
  readonly configFile: string;
  /** Its HTTP monitoring. */
  readonly monitorUrl: string;
  /** Where its log is, for people. */
  readonly log: string;
}

/**
 * Lets it run the configuration that is wanted: connections of users that are not in it any more end. Resolves when it has taken it. Throws,
 * with everything as it was, when it does not. `wanted` is asked again when it is taken: somebody else may have changed what it is made of
 * meanwhile, and written less or more than that; whoever is last writes all of it.
 */
export async function changeNatsConfig(server: RunningNats, wanted: () => Promise<string>): Promise<void> {
  do {
    const before = await readFile(server.configFile, 'utf8');
    await writeConfig(server.configFile, await wanted());
    try {
      await reloadConfig(server);
    } catch (error) {
      await writeConfig(server.configFile, before);
      throw error;
    }
  } while ((await readFile(server.configFile, 'utf8')) !== (await wanted()));
}

/** Lets it read its configuration when that was written after it was read last; whether it was. */
export async function reloadWhenChanged(server: RunningNats): Promise<boolean> {
  const loadedAt = Date.parse((await configLoadTime(server.monitorUrl)) ?? '');
  const { mtimeMs } = await stat(server.configFile);
  if (mtimeMs < loadedAt) return false;
  await reloadConfig(server);
  return true;
}

/** What an account that is new imports of services counts when the server has read its configuration once more. */
async function reloadConfig(server: RunningNats): Promise<void> {
  await readAnew(server);
  await readAnew(server);
}

async function readAnew({ pid, monitorUrl, log }: RunningNats): Promise<void> {
  const running = adopt(pid);
  const isLoaded = (after?: string) => async (): Promise<boolean> => {
    loadedAt = await configLoadTime(monitorUrl);
    return loadedAt !== undefined && loadedAt !== after;
  };
  let loadedAt: string | undefined;
  // Of one that has not said when it read its configuration before, nobody could tell that it has read it anew.
  if (await becomesReady(running, RELOADED, isLoaded())) {
    running.signal('SIGHUP');
    if (await becomesReady(running, RELOADED, isLoaded(loadedAt))) return;
  }
  throw new EmbeddedServerError(`nats-server did not take its new configuration; see ${log}.`);
}

/** Whole or not at all: a server that starts in between reads one or the other. */
async function writeConfig(file: string, config: string): Promise<void> {
  const unfinished = `${file}.${randomUUID()}.new`;
  await writeFile(unfinished, config, { mode: PRIVATE_FILE });
  await rename(unfinished, file);
}

const Varz = z.object({ config_load_time: z.string() });

/** When the server has read its configuration last, as it says itself; undefined when it does not answer. */
async function configLoadTime(monitorUrl: string): Promise<string | undefined> {
  try {
    const answer = await fetch(new URL('/varz', monitorUrl), { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return Varz.parse(await answer.json()).config_load_time;
  } catch {
    return undefined;
  }
}
