import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { startPostgres, stopPostgresOn } from '#libs/embedded';
import { processFolder } from './process-folder.js';

const DIR_PREFIX = 'orrery-test-postgres-';
const USER = 'orrery';
const PASSWORD = 'orrery';
/** What is made for a test need not survive a power cut; and memory that its processes share lies in its directory, which is swept: elsewhere a server that is killed leaves it behind. */
const SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'dynamic_shared_memory_type=mmap'];

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
  const folder = await processFolder(DIR_PREFIX, (gone) => stopPostgresOn(join(gone, 'data')));
  const dataDir = join(folder, 'data');
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
