import { mkdir, readdir, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startPostgres, stopPostgresOn } from '#libs/embedded';

const DIR_PREFIX = 'orrery-test-postgres-';
const USER = 'orrery';
const PASSWORD = 'orrery';
/** What is made for a test need not survive a power cut. */
const SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

export interface TestPostgres {
  readonly url: string;
  /** Drops the database, whoever is still connected. */
  stop(): Promise<void>;
}

/**
 * A fresh database on a server that all test files of this process share: the first call starts it (about 1 s), the
 * others find it by its directory. It ends with the process, so no file has to know whether it is the last one.
 */
export function startTestPostgres(): Promise<TestPostgres> {
  const started = previous.then(freshDatabase);
  previous = started.catch(() => undefined);
  return started;
}

/** Calls of one file take turns: two at once would both find no server and both start one. */
let previous: Promise<unknown> = Promise.resolve();

async function freshDatabase(): Promise<TestPostgres> {
  const dataDir = join(tmpdir(), `${DIR_PREFIX}${process.pid}`, 'data');
  await removeLeftovers();
  await mkdir(join(dataDir, '..'), { recursive: true, mode: 0o755 });
  const database = `test_${randomBytes(8).toString('hex')}`;
  const options = { dataDir, user: USER, password: PASSWORD, settings: SETTINGS, dieWithParent: true };
  const { url } = await startPostgres({ ...options, database });
  return {
    url,
    stop: async () => {
      const admin = new Client({ connectionString: url.replace(/[^/]*$/u, 'postgres') });
      await admin.connect();
      await admin.query(`drop database if exists "${database}" with (force)`);
      await admin.end();
    },
  };
}

/** Directories of test processes that are gone. Best effort: several processes may sweep at the same time. */
async function removeLeftovers(): Promise<void> {
  for (const entry of await readdir(tmpdir())) {
    const owner = entry.startsWith(DIR_PREFIX) ? Number(entry.slice(DIR_PREFIX.length)) : Number.NaN;
    if (!Number.isInteger(owner) || isAlive(owner)) continue;
    const directory = join(tmpdir(), entry);
    await stopPostgresOn(join(directory, 'data')).catch(() => false);
    await rm(directory, { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
