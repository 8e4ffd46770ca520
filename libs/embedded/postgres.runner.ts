import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { EmbeddedServerError } from './errors.js';
import { freePort, isPortFree, LOOPBACK } from './ports.js';
import { preparePostgres, type PostgresPrograms } from './postgres-binaries.js';
import {
  adopt,
  becomesReady,
  commandLine,
  errorCode,
  handleOf,
  isAlive,
  launch,
  logTail,
  stopInSteps,
  type ServerHandle,
  type ServerProcess,
  type StopStep,
} from './server-process.js';

const READY = { timeoutMs: 120_000, pollMs: 10 }; // crash recovery replays the write-ahead log first
const CONNECT_TIMEOUT_MS = 10_000;
const PORT_ATTEMPTS_MAX = 5;
const PORT_TAKEN = /could not bind .*address already in use/iu;
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'shared_buffers=64MB',
];
/** Fast (connections are closed), then immediate (recovers at the next start), then what cannot be refused. */
const STOP_STEPS: readonly StopStep[] = [
  { signal: 'SIGINT', waitMs: 15_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
];
const Identifier = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

export interface EmbeddedPostgresOptions {
  /** The database cluster and nothing else; made when missing. The server's log lies beside it, as `<dataDir>.log`. */
  readonly dataDir: string;
  /** 0 or absent: any free port. */
  readonly port?: number;
  readonly user: string;
  /** Set when the cluster is made; later it has to be the same. */
  readonly password: string;
  /** Created when missing. */
  readonly database: string;
  /** More settings, `name=value`; for tests that need no durability. */
  readonly settings?: readonly string[];
  readonly dieWithParent?: boolean;
  /** Aborted: nobody waits for it to become ready any more; it is stopped again. */
  readonly signal?: AbortSignal;
}

interface Running {
  readonly server: ServerProcess;
  readonly port: number;
  readonly reattached: boolean;
}

/** Starts PostgreSQL on the loopback interface from the programs in node_modules, or takes over the one already running on `dataDir`. */
export async function startPostgres(options: EmbeddedPostgresOptions): Promise<ServerHandle> {
  for (const name of [options.user, options.database]) {
    if (!Identifier.test(name)) throw new RangeError(`${JSON.stringify(name)} is not a PostgreSQL name.`);
  }
  const dataDir = resolve(options.dataDir);
  const running = (await takeOver(dataDir, options)) ?? (await launchWithDatabase(dataDir, options));
  const { server, port, reattached } = running;
  const url = urlOf(options, port, options.database);
  return handleOf(server, { url, port, reattached }, () => stopInSteps(server, STOP_STEPS));
}

/** The server that an earlier launcher left, if it answers: one that was killed a moment ago may still look alive. */
async function takeOver(dataDir: string, options: EmbeddedPostgresOptions): Promise<Running | undefined> {
  const running = await reattach(dataDir, options);
  if (running === undefined) return undefined;
  try {
    await ensureDatabase(options, running.port);
    return running;
  } catch (error) {
    const { cause } = error instanceof Error ? error : new Error(String(error));
    if (errorCode(cause) !== 'ECONNREFUSED' && errorCode(cause) !== 'ECONNRESET') throw error;
    await stopInSteps(running.server, STOP_STEPS);
    return undefined;
  }
}

async function launchWithDatabase(dataDir: string, options: EmbeddedPostgresOptions): Promise<Running> {
  const running = await launchFresh(dataDir, options);
  try {
    await ensureDatabase(options, running.port);
    return running;
  } catch (error) {
    await stopInSteps(running.server, STOP_STEPS);
    throw error;
  }
}

/** Stops the server that runs on `dataDir`, no matter which process launched it; answers whether there was one. */
export async function stopPostgresOn(dataDir: string): Promise<boolean> {
  const left = leftServer(resolve(dataDir));
  if (left === undefined) return false;
  await stopInSteps(left.server, STOP_STEPS);
  return true;
}

/** What PostgreSQL itself says about the server of a data directory. Line 8 is its own word for how far it has come. */
function postmaster(dataDir: string): { pid: number; port: number; status: string } | undefined {
  try {
    const lines = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3]), status: (lines[7] ?? '').trim() };
  } catch {
    return undefined;
  }
}

/** The live server of a data directory, by its command line: a pid alone may belong to another program by now. */
function leftServer(dataDir: string): { server: ServerProcess; port: number } | undefined {
  const left = postmaster(dataDir);
  if (left === undefined || !isAlive(left.pid)) return undefined;
  if (commandLine(left.pid).includes(dataDir)) return { server: adopt(left.pid), port: left.port };
  rmSync(join(dataDir, 'postmaster.pid')); // PostgreSQL would refuse to start for as long as that other program lives
  return undefined;
}

async function reattach(dataDir: string, options: EmbeddedPostgresOptions): Promise<Running | undefined> {
  const left = leftServer(dataDir);
  if (left === undefined) return undefined;
  const { server, port } = left;
  const otherPort = options.port !== undefined && options.port !== 0 && options.port !== port;
  if (!otherPort && (await isReady(server, dataDir))) return { server, port, reattached: true };
  await stopInSteps(server, STOP_STEPS);
  return undefined;
}

async function launchFresh(dataDir: string, options: EmbeddedPostgresOptions): Promise<Running> {
  const programs = preparePostgres();
  prepareDataDir(dataDir, programs);
  if (!existsSync(join(dataDir, 'PG_VERSION'))) initialise(dataDir, options, programs);
  for (let attempt = 1; attempt <= PORT_ATTEMPTS_MAX; attempt++) {
    const running = await launchOnce(dataDir, options, programs);
    if (running !== 'port taken') return running;
  }
  throw new EmbeddedServerError('No free port could be kept for PostgreSQL.');
}

/** Makes the directory and checks it as the user PostgreSQL will run as: a private parent directory is the usual trap for root. */
function prepareDataDir(dataDir: string, { ids }: PostgresPrograms): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (ids === undefined) return;
  if (!existsSync(join(dataDir, 'PG_VERSION'))) chownSync(dataDir, ids.uid, ids.gid);
  if (spawnSync('/bin/sh', ['-c', 'test -w "$1"', 'sh', dataDir], { ...ids, cwd: '/' }).status === 0) return;
  throw new EmbeddedServerError(
    `PostgreSQL does not run as root, and user ${ids.uid} cannot write ${dataDir} (a parent directory is private); choose another ORRERY_HOME, for example /var/lib/orrery.`,
  );
}

function initialise(
  dataDir: string,
  { user, password }: EmbeddedPostgresOptions,
  { initdb, ids }: PostgresPrograms,
): void {
  const secrets = mkdtempSync(`${dataDir}.initdb-`);
  const passwordFile = join(secrets, 'password');
  try {
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
    if (ids !== undefined) for (const path of [passwordFile, secrets]) chownSync(path, ids.uid, ids.gid);
    const { status, stderr, error } = spawnSync(
      initdb,
      ['-D', dataDir, '-U', user, '--pwfile', passwordFile, '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C'],
      { ...ids, cwd: dataDir, env: environment(), encoding: 'utf8' },
    );
    if (status === 0) return;
    throw new EmbeddedServerError(`PostgreSQL could not make its files in ${dataDir}.`, {
      cause: error ?? new Error(stderr),
    });
  } finally {
    rmSync(secrets, { recursive: true, force: true });
  }
}

async function launchOnce(
  dataDir: string,
  options: EmbeddedPostgresOptions,
  { postgres, ids }: PostgresPrograms,
): Promise<Running | 'port taken'> {
  const port = options.port || (await freePort());
  const logFile = `${dataDir}.log`;
  const settings = [...SETTINGS, ...(options.settings ?? [])].flatMap((setting) => ['-c', setting]);
  const server = await launch({
    binary: postgres,
    args: ['-D', dataDir, '-p', String(port), ...settings],
    cwd: dataDir,
    env: environment(),
    logFile,
    ids,
    dieWithParent: options.dieWithParent,
  });
  if (await isReady(server, dataDir, options.signal)) return { server, port, reattached: false };
  const timedOut = !server.hasExited();
  await stopInSteps(server, STOP_STEPS);
  options.signal?.throwIfAborted();
  const said = logTail(logFile);
  const cause = new Error(said);
  if (timedOut) throw new EmbeddedServerError(`PostgreSQL was not ready in ${READY.timeoutMs / 1000} s.`, { cause });
  const isFree = await isPortFree(port);
  // The process that had it may have let it go again.
  if (!options.port && (!isFree || PORT_TAKEN.test(said))) return 'port taken';
  if (isFree) throw new EmbeddedServerError(`PostgreSQL ended while starting; see ${logFile}.`, { cause });
  throw new EmbeddedServerError(`Port ${port} for PostgreSQL is in use by another program.`, { cause });
}

const isReady = (server: ServerProcess, dataDir: string, signal?: AbortSignal): Promise<boolean> =>
  becomesReady(server, { ...READY, ...(signal !== undefined && { signal }) }, () => {
    const found = postmaster(dataDir);
    return found?.pid === server.pid && found.status === 'ready';
  });

async function ensureDatabase(options: EmbeddedPostgresOptions, port: number): Promise<void> {
  const connectionString = urlOf(options, port, 'postgres');
  const client = new Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  try {
    await client.connect();
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [options.database]);
    if (rowCount === 0) await client.query(`create database "${options.database}"`);
  } catch (cause) {
    if (errorCode(cause) === '42P04') return; // duplicate_database: another launcher was faster
    const text =
      errorCode(cause) === '28P01' // invalid_password
        ? `The password is not the one ${options.dataDir} was made with.`
        : `PostgreSQL on port ${port} does not answer.`;
    throw new EmbeddedServerError(text, { cause });
  } finally {
    await client.end();
  }
}

function urlOf({ user, password }: EmbeddedPostgresOptions, port: number, database: string): string {
  return `postgres://${user}:${encodeURIComponent(password)}@${LOOPBACK}:${port}/${database}`;
}

/** Nothing of ours: a `PGDATA` or `PGPORT` of the user must not reach the server, nor a secret of the launcher. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}
