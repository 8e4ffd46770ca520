// What `orrery up --detach` does, without what a run of the suite would do again for each of its systems: a process that waits beside the
// one that stays, and files of a database that are like those of the system before.
import { execFile, fork } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { homeAt, makeDir, type Home } from '../../services/cli/home/index.js';
import { withSecretFiles } from '../../services/cli/system/given-secrets.adapter.js';
import { DATABASE_PASSWORD, databasePassword } from '../../services/cli/system/keys.adapter.js';
import { startDatabase } from '../../services/cli/system/stores.runner.js';

const CLI = resolve(import.meta.dirname, '../../dist/services/cli/main.js');
const PRIVATE_DIR = 0o700;
/** PostgreSQL of a root user runs as another user and has to get in. */
export const PASSABLE_DIR = 0o711;

/** What `up` says to who started it, when everything is ready. */
interface Ready {
  readonly ready?: { readonly adminToken?: string };
}

/** Starts the program `up` in a home; resolves with the administrator's token when it is ready. It stays when this process ends. */
export async function startSystem(root: string, env: NodeJS.ProcessEnv, options: readonly string[]): Promise<string> {
  const home = homeAt(root);
  for (const directory of [home.logs, home.keys]) await makeDir(directory, PRIVATE_DIR);
  await layDatabase(home);
  const logFile = home.logFile('up');
  const log = openSync(logFile, 'w', 0o600);
  const child = fork(CLI, ['up', ...options], {
    env: await withSecretFiles(home, env),
    execArgv: [],
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const { promise, resolve: isReady, reject } = Promise.withResolvers<string>();
  child.on('message', ({ ready }: Ready) => ready && isReady(ready.adminToken ?? ''));
  child.once('error', reject);
  child.once('exit', () => reject(new Error('it ended')));
  try {
    return await promise;
  } catch (cause) {
    throw new Error(`the system did not start: ${await readFile(logFile, 'utf8')}`, { cause });
  } finally {
    if (child.connected) child.disconnect();
    child.unref();
  }
}

/**
 * The files of a database that nothing was stored in, with its password, as the first start of a system makes them: once in a run of the
 * suite, which says where that is kept. Until they are there, a system makes its own.
 */
async function layDatabase(home: Home): Promise<void> {
  const folder = process.env['ORRERY_SPEC_VERBS'];
  if (folder === undefined || existsSync(home.postgres)) return;
  const made = join(folder, 'database');
  if (mkdirSync(`${made}.begun`, { recursive: true }) !== undefined) await makeDatabase(made);
  if (!existsSync(made)) return;
  await copy(homeAt(made).postgres, home.postgres);
  await copy(homeAt(made).secretFile(DATABASE_PASSWORD), home.secretFile(DATABASE_PASSWORD));
}

/** With owners and modes. */
const copy = (from: string, to: string): Promise<unknown> => promisify(execFile)('cp', ['-a', from, to]);

/** Where PostgreSQL may pass; it gets its name only when it is whole. */
async function makeDatabase(name: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'orrery-e2e-database-'));
  try {
    await chmod(root, PASSABLE_DIR);
    const home = homeAt(root);
    await makeDir(home.keys, PRIVATE_DIR);
    const { signal } = new AbortController();
    const server = await startDatabase(home, { password: await databasePassword(home), port: 0, signal });
    await server.stop();
    await copy(root, `${name}.part`);
    await rename(`${name}.part`, name);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
