import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, open, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { askStatus } from '../status/index.js';
import { putText } from './installed.adapter.js';
import type { InstallPlaces } from './install-places.js';
import { unitText, type UnitScope } from './unit.js';

/** What starts the client of this machine. */
export interface ClientSupervisor {
  /** In a sentence, for people. */
  readonly words: string;
  /** As things have to be for the next start; true: they were not. */
  prepare(): Promise<boolean>;
  /** Starts the client; one that runs is ended first. */
  restart(): Promise<void>;
  /** It was started and has given up. */
  hasFailed(): Promise<boolean>;
  /** Ends the client, and what would start it again. */
  remove(): Promise<void>;
  /** The program that shows the newest lines of its log, and its arguments. */
  logs(lines: number, follow: boolean): readonly [string, ...string[]];
}

const run = promisify(execFile);
const STOP_MS_MAX = 10_000;
const POLL_MS = 50;
/** What makes a wall is looked for here, too. */
const USUAL_PATH = ['/usr/local/bin', '/usr/bin', '/bin'];
const LOG_BYTES_MAX = 10 * 1024 * 1024;

const isRoot = (): boolean => process.geteuid?.() === 0;

/** Where an installation lies that nobody has named a place for. */
const usualDir = (): string =>
  isRoot() ? '/opt/orrery-device' : `${process.env['XDG_DATA_HOME'] || `${homedir()}/.local/share`}/orrery-device`;

/** systemd where it runs, a process in the background elsewhere. */
export async function clientSupervisor(places: InstallPlaces): Promise<ClientSupervisor> {
  const booted = await works(() => access('/run/systemd/system'));
  if (booted && isRoot()) return systemd(places, 'system');
  if (booted && (await works(() => run('systemctl', ['--user', 'show-environment'])))) return systemd(places, 'user');
  return background(places);
}

async function works(act: () => Promise<unknown>): Promise<boolean> {
  return act().then(
    () => true,
    () => false,
  );
}

function systemd(places: InstallPlaces, scope: UnitScope): ClientSupervisor {
  const other = createHash('sha256').update(places.dir).digest('hex').slice(0, 8);
  const unit = `orrery-device${places.dir === usualDir() ? '' : `-${other}`}.service`;
  const folder = scope === 'system' ? '/etc/systemd/system' : `${homedir()}/.config/systemd/user`;
  const file = `${folder}/${unit}`;
  const ours = scope === 'system' ? [] : ['--user'];
  const systemctl = (...words: string[]) => run('systemctl', [...ours, ...words]);
  return {
    words: `${unit} of systemd${scope === 'user' ? ', while you are logged in (loginctl enable-linger: always)' : ''}`,
    prepare: async () => {
      if (!(await putText(file, unitText(places, scope)))) return false;
      await systemctl('daemon-reload');
      await systemctl('enable', unit);
      return true;
    },
    restart: async () => void (await systemctl('restart', unit)),
    hasFailed: () => works(() => systemctl('is-failed', '--quiet', unit)),
    remove: async () => {
      await works(() => systemctl('disable', '--now', unit));
      await rm(file, { force: true });
      await works(() => systemctl('daemon-reload'));
    },
    logs: (lines, follow) => [
      'journalctl',
      ...ours,
      '--unit',
      unit,
      '--output=cat',
      '--no-pager',
      '--lines',
      String(lines),
      ...(follow ? ['--follow'] : []),
    ],
  };
}

function background({ program, dataDir, logFile }: InstallPlaces): ClientSupervisor {
  let failed = false;
  const stop = async (): Promise<void> => {
    const { pid } = (await askStatus(dataDir)) ?? {};
    if (pid === undefined) return;
    process.kill(pid, 'SIGTERM');
    for (const until = performance.now() + STOP_MS_MAX; performance.now() < until; await sleep(POLL_MS)) {
      if (!isAlive(pid)) return;
    }
    process.kill(pid, 'SIGKILL');
  };
  return {
    words: 'a process in the background; after a restart of the machine: orrery-device start',
    prepare: async () => false,
    restart: async () => {
      await stop();
      const { size } = await stat(logFile).catch(() => ({ size: 0 }));
      if (size > LOG_BYTES_MAX) await rename(logFile, `${logFile}.1`);
      const log = await open(logFile, 'a', 0o600);
      const path = [process.env['PATH'], ...USUAL_PATH].join(':');
      const env = { PATH: path, HOME: homedir(), LANG: process.env['LANG'], TZ: process.env['TZ'] };
      const child = spawn(program, ['run'], { cwd: '/', env, detached: true, stdio: ['ignore', log.fd, log.fd] });
      failed = false;
      child.once('error', () => (failed = true));
      child.once('exit', () => (failed = true));
      child.unref();
      await log.close();
    },
    hasFailed: async () => failed,
    remove: stop,
    logs: (lines, follow) => ['tail', '-n', String(lines), ...(follow ? ['-f'] : []), logFile],
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
