import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { EmbeddedServerError } from './errors.js';
import { findNatsServer } from './nats-binary.js';
import { renderNatsConfig, type NatsUser } from './nats-config.js';
import { changeNatsConfig } from './nats-reload.runner.js';
import { freePorts, isPortFree, LOOPBACK } from './ports.js';
import {
  adopt,
  becomesReady,
  commandLine,
  handleOf,
  isAlive,
  launch,
  logTail,
  stopInSteps,
  type ServerHandle,
  type ServerProcess,
  type StopStep,
} from './server-process.js';

const READY = { timeoutMs: 60_000, pollMs: 5 }; // a large store is recovered before the port opens
const GREETING_TIMEOUT_MS = 1_000;
const GREETING_BYTES_MAX = 8_192;
const PORT_ATTEMPTS_MAX = 5;
/** The last that nats-server says then. */
const PORT_TAKEN = /address already in use"?\s*$/u;
const STOP_STEPS: readonly StopStep[] = [
  { signal: 'SIGTERM', waitMs: 10_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
];

export interface NatsOptions {
  /** Configuration, log and streams live here, readable by this user only. One server per directory. */
  readonly storeDir: string;
  /** 0 or absent: any free port. */
  readonly port?: number;
  readonly monitorPort?: number;
  /** Absent: whatever `findNatsServer` finds. */
  readonly binary?: string;
  /** Absent: no authentication. */
  readonly users?: readonly NatsUser[];
  readonly maxFileStore?: string;
  readonly dieWithParent?: boolean;
  /** Aborted: nobody waits for it to become ready any more; it is stopped again. */
  readonly signal?: AbortSignal;
}

export interface NatsHandle extends ServerHandle {
  readonly monitorUrl: string;
}

const PidFile = z.object({ pid: z.int().min(1), port: z.int(), monitorPort: z.int() });
type PidFile = z.infer<typeof PidFile>;

interface Site {
  readonly options: NatsOptions;
  readonly directory: string;
  readonly serverName: string;
  readonly configFile: string;
  readonly logFile: string;
  readonly startLogFile: string;
  readonly pidFile: string;
}

/** Starts nats-server with JetStream on the loopback interface, or takes over the one already running on `storeDir`. */
export async function startNats(options: NatsOptions): Promise<NatsHandle> {
  const site = siteOf(options);
  await mkdir(site.directory, { recursive: true, mode: 0o700 });
  const found = await reattach(site);
  if (found !== undefined) return found;
  const binary = options.binary ?? (await findNatsServer());
  for (let attempt = 1; ; attempt++) {
    const handle = await launchOnce(site, binary);
    if (handle !== 'port taken') return handle;
    if (attempt === PORT_ATTEMPTS_MAX) throw new EmbeddedServerError('No free port could be kept for nats-server.');
  }
}

function siteOf(options: NatsOptions): Site {
  const directory = resolve(options.storeDir);
  return {
    options,
    directory,
    // The name is greeted with, so it tells our server from a stranger on the same port; same directory, same name.
    serverName: `orrery-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`,
    configFile: join(directory, 'nats-server.conf'),
    logFile: join(directory, 'nats-server.log'),
    startLogFile: join(directory, 'nats-server.start.log'),
    pidFile: join(directory, 'nats-server.json'),
  };
}

/** Stops the server that runs on `storeDir`, no matter which process launched it; answers whether there was one. */
export async function stopNatsOn(storeDir: string): Promise<boolean> {
  const site = siteOf({ storeDir });
  const left = await leftServer(site);
  if (left === undefined) return false;
  await natsHandle(site, adopt(left.pid), left, true).stop();
  return true;
}

/**
 * Gives the server that runs on `storeDir` other users, while it runs: connections of users that are not among them any more end.
 * Answers whether one runs; resolves when it has taken them. Throws, with everything as it was, when it does not take them.
 */
export async function reloadNats(storeDir: string, users: () => Promise<readonly NatsUser[]>): Promise<boolean> {
  const site = siteOf({ storeDir });
  const left = await leftServer(site);
  if (left === undefined) return false;
  const monitorUrl = `http://${LOOPBACK}:${left.monitorPort}`;
  const server = { pid: left.pid, configFile: site.configFile, monitorUrl, log: site.logFile };
  await changeNatsConfig(server, async () => configOf(siteOf({ storeDir, users: await users() }), left));
  return true;
}

/** The live server of a directory, by its command line: a pid alone may belong to another program by now. */
async function leftServer({ pidFile, configFile }: Site): Promise<PidFile | undefined> {
  const left = await readPidFile(pidFile);
  return left !== undefined && isAlive(left.pid) && commandLine(left.pid).includes(configFile) ? left : undefined;
}

/** A live server is kept when it runs what is asked for now; otherwise it is stopped first: two on one store would destroy it. */
async function reattach(site: Site): Promise<NatsHandle | undefined> {
  const left = await leftServer(site);
  if (left === undefined) return undefined;
  const wanted = {
    port: site.options.port || left.port,
    monitorPort: site.options.monitorPort || left.monitorPort,
  };
  const server = adopt(left.pid);
  const sameConfig = (await readFile(site.configFile, 'utf8').catch(() => '')) === configOf(site, wanted);
  if (sameConfig && (await greetsAs(server, left.port, site.serverName))) {
    return natsHandle(site, server, wanted, true);
  }
  await stopInSteps(server, STOP_STEPS);
  return undefined;
}

async function launchOnce(site: Site, binary: string): Promise<NatsHandle | 'port taken'> {
  const { options } = site;
  const fixed = [options.port, options.monitorPort].filter((port) => port !== undefined && port !== 0);
  const [free = 0, other = 0] = await freePorts(2);
  const port = options.port || free;
  const ports = { port, monitorPort: options.monitorPort || (other === port ? free : other) };
  await writeFile(site.configFile, configOf(site, ports), { mode: 0o600 });
  const server = await launch({
    binary,
    args: ['-c', site.configFile],
    cwd: site.directory,
    env: { PATH: process.env['PATH'] },
    logFile: site.startLogFile,
    dieWithParent: options.dieWithParent,
  });
  await writePidFile(site.pidFile, { pid: server.pid, ...ports });
  if (await greetsAs(server, ports.port, site.serverName, options.signal))
    return natsHandle(site, server, ports, false);
  const timedOut = !server.hasExited();
  await stopInSteps(server, STOP_STEPS);
  options.signal?.throwIfAborted();
  const details = new Error(logTail(site.startLogFile) + logTail(site.logFile));
  if (timedOut)
    throw new EmbeddedServerError(`nats-server was not ready in ${READY.timeoutMs / 1000} s.`, { cause: details });
  for (const port of [ports.port, ports.monitorPort]) {
    if (await isPortFree(port)) continue;
    if (!fixed.includes(port)) return 'port taken';
    throw new EmbeddedServerError(`Port ${port} for nats-server is in use by another program.`, { cause: details });
  }
  // The process that had it may have let it go again.
  if (fixed.length === 0 && PORT_TAKEN.test(logTail(site.logFile))) return 'port taken';
  throw new EmbeddedServerError(`nats-server ended while starting; see ${site.logFile} and ${site.startLogFile}.`, {
    cause: details,
  });
}

function natsHandle(
  { pidFile }: Site,
  server: ServerProcess,
  { port, monitorPort }: Omit<PidFile, 'pid'>,
  reattached: boolean,
): NatsHandle {
  const stop = async (): Promise<void> => {
    await stopInSteps(server, STOP_STEPS);
    await rm(pidFile, { force: true });
  };
  const handle = handleOf(server, { url: `nats://${LOOPBACK}:${port}`, port, reattached }, stop);
  return { ...handle, monitorUrl: `http://${LOOPBACK}:${monitorPort}` };
}

function configOf({ options, directory, logFile, serverName }: Site, ports: Omit<PidFile, 'pid'>): string {
  const { users, maxFileStore } = options;
  const { port, monitorPort } = ports;
  return renderNatsConfig({ serverName, port, monitorPort, storeDir: directory, logFile, users, maxFileStore });
}

/** Ready means: it answers under its own name. nats-server opens the port only after JetStream has recovered its streams. */
const greetsAs = (server: ServerProcess, port: number, serverName: string, signal?: AbortSignal): Promise<boolean> =>
  becomesReady(
    server,
    { ...READY, ...(signal !== undefined && { signal }) },
    async () => (await greeting(port)) === serverName,
  );

/** The server name in the `INFO {...}` line that a nats-server sends to every client; undefined when nobody or something else answers. */
function greeting(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let line = '';
    const socket = connect({ host: LOOPBACK, port });
    const done = (name: string | undefined): void => {
      socket.destroy();
      resolve(name);
    };
    socket.setEncoding('utf8');
    socket.setTimeout(GREETING_TIMEOUT_MS, () => done(undefined));
    socket.once('error', () => done(undefined));
    socket.once('close', () => done(undefined));
    socket.on('data', (chunk: string) => {
      line += chunk;
      if (line.includes('\r\n')) done(serverNameIn(line));
      else if (line.length > GREETING_BYTES_MAX) done(undefined);
    });
  });
}

const Greeting = z.object({ server_name: z.string() });

function serverNameIn(line: string): string | undefined {
  const json = /^INFO (?<json>\{.*\})\s*\r\n/u.exec(line)?.groups?.['json'];
  if (json === undefined) return undefined;
  try {
    return Greeting.safeParse(JSON.parse(json)).data?.server_name;
  } catch {
    return undefined;
  }
}

async function readPidFile(file: string): Promise<PidFile | undefined> {
  try {
    return PidFile.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Whole or not at all: a half-written pid file would hide a running server from the next launcher. */
async function writePidFile(file: string, content: PidFile): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(content), { mode: 0o600 });
  await rename(`${file}.new`, file);
}
