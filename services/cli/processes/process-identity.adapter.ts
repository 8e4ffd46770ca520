import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** A process and when it began: a pid alone may belong to another program by now. */
export const ProcessIdentity = z.object({ pid: z.int().min(1), began: z.string().min(1) });
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

const STAT_STATE = 0;
const STAT_START_TIME = 19;
const POLL_MS = 25;

export function identityOf(pid: number): ProcessIdentity | undefined {
  const began = beganAt(pid);
  return began === undefined ? undefined : { pid, began };
}

export function isSameAlive({ pid, began }: ProcessIdentity): boolean {
  return beganAt(pid) === began;
}

/** Undefined for a process that is gone; one that nobody has reaped yet counts as gone. */
function beganAt(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
      return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/u, '');
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[STAT_STATE] === 'Z' ? undefined : fields[STAT_START_TIME];
  } catch {
    return undefined;
  }
}

/** Asks it to end, waits, then insists. Safe on a process that is gone. */
export async function endProcess(identity: ProcessIdentity, waitMs: number): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!isSameAlive(identity)) return;
    try {
      process.kill(identity.pid, signal);
    } catch {
      return;
    }
    if (await isGoneWithin(identity, waitMs)) return;
  }
}

async function isGoneWithin(identity: ProcessIdentity, waitMs: number): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (isSameAlive(identity)) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}
