import { link, mkdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { failure, errorCode } from '../terminal/index.js';
import type { Home } from '../home/index.js';
import { identityOf, isSameAlive, ProcessIdentity } from './process-identity.adapter.js';

/** A launcher that takes over a stale lock does it within this time, or died while doing it. */
const TAKEOVER_MS_MAX = 10_000;

/** The supervisor that runs on this home, if one does. */
export async function supervisorOf({ lockFile }: Home): Promise<ProcessIdentity | undefined> {
  try {
    const holder = ProcessIdentity.parse(JSON.parse(await readFile(lockFile, 'utf8')));
    return isSameAlive(holder) ? holder : undefined;
  } catch {
    return undefined;
  }
}

/** One supervisor per home: two would run two servers on one store. The lock is made whole, by a link, or not at all. */
export async function lockHome(home: Home, pid: number, now: number): Promise<() => Promise<void>> {
  const own = `${home.lockFile}.${pid}`;
  await writeFile(own, JSON.stringify(identityOf(pid)), { mode: 0o600 });
  try {
    if (!(await linked(own, home.lockFile))) await takeOver(home, own, now);
  } finally {
    await rm(own, { force: true });
  }
  return () => rm(home.lockFile, { force: true });
}

async function linked(own: string, lockFile: string): Promise<boolean> {
  try {
    await link(own, lockFile);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Only one may remove a lock whose holder is gone, and looks again when it may: else it could remove a new one. */
async function takeOver(home: Home, own: string, now: number): Promise<void> {
  const guard = `${home.lockFile}.takeover`;
  await makeGuard(home, guard, now);
  try {
    const holder = await supervisorOf(home);
    if (holder !== undefined) throw inUse(home, holder.pid);
    await rm(home.lockFile, { force: true });
    if (!(await linked(own, home.lockFile))) throw inUse(home);
  } finally {
    await rmdir(guard).catch(() => {});
  }
}

async function makeGuard(home: Home, guard: string, now: number): Promise<void> {
  const before = await stat(guard).catch(() => undefined);
  if (before !== undefined && now - before.mtimeMs > TAKEOVER_MS_MAX) await rmdir(guard).catch(() => {});
  try {
    await mkdir(guard);
  } catch (cause) {
    throw failure(`Another orrery is just starting on ${home.root}.`, cause);
  }
}

function inUse(home: Home, pid?: number): Error {
  const who = pid === undefined ? '' : ` (process ${pid})`;
  return failure(
    `A system is already running in ${home.root}${who}; stop it with "orrery down", or set another ORRERY_HOME.`,
  );
}
