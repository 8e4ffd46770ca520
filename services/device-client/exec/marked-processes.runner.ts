import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../faults/index.js';

/** In the environment of a command and of everything it starts. */
export const MARK_VARIABLE = 'ORRERY_COMMAND';

/** Numbers of processes are given in order: of a young command only those after its own can be its descendants. */
const YOUNG_MS = 2_000;
/** A process may start another one while it is looked for. */
const ROUNDS_MAX = 5;
const KILLED_WAIT_MS = 1_000;
const POLL_MS = 5;

export interface MarkedCommand {
  readonly mark: string;
  /** The number of its first process. */
  readonly pid: number;
  readonly startedMs: number;
}

/**
 * Kills what a command has left behind outside of its process group: a process that calls `setsid` leaves the group, but keeps the
 * environment. Not found are processes that cleared it, those of another user when the client is not root, and those that
 * somebody else started for the command (cron, systemd, a container engine); a sandbox with processes of its own ends the
 * first two kinds as well.
 */
export async function endMarked(command: MarkedCommand, nowMs: number): Promise<void> {
  if (process.platform !== 'linux') return;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const found = await marked(command, nowMs);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
    await gone(found);
  }
}

/** Waits until the kernel has ended them; not for one that hangs in it. */
async function gone(pids: readonly number[]): Promise<void> {
  for (let waitedMs = 0; waitedMs < KILLED_WAIT_MS; waitedMs += POLL_MS) {
    const living = await Promise.all(pids.map(isAlive));
    if (!living.includes(true)) return;
    await sleep(POLL_MS);
  }
}

async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  return stat !== '' && state !== 'Z' && state !== 'X';
}

async function marked({ mark, pid: first, startedMs }: MarkedCommand, nowMs: number): Promise<number[]> {
  const last = nowMs - startedMs < YOUNG_MS ? await lastPid() : undefined;
  // Nothing was started since: most commands are one process, or a shell that becomes one.
  if (last === first) return [];
  const mayBe = (pid: number): boolean => {
    if (last === undefined) return true;
    // After the highest number the lowest comes again.
    return last > first ? pid > first && pid <= last : pid > first || pid <= last;
  };
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(mayBe);
  const wanted = Buffer.from(`${MARK_VARIABLE}=${mark}`);
  const isMarked = async (pid: number): Promise<boolean> => {
    const environment = await readFile(`/proc/${pid}/environ`).catch(() => undefined);
    return environment?.includes(wanted) ?? false;
  };
  const found = await Promise.all(pids.map(async (pid) => ((await isMarked(pid)) ? [pid] : [])));
  return found.flat();
}

/** The number that was given to a process last; undefined where the system does not say. */
async function lastPid(): Promise<number | undefined> {
  const text = await readFile('/proc/loadavg', 'utf8').catch(() => '');
  const number = Number(text.trim().split(' ').at(-1));
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH' && errorCode(error) !== 'EPERM') throw error;
  }
}
