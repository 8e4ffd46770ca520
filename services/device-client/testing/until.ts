import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const DEADLINE_MS = 100_000;
const POLL_MS = 10;

/** Waits for a fact, not for a time: the outer limit only keeps a broken test from hanging. */
export async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error('it never became true');
    await sleep(POLL_MS);
  }
}

/** The process id that a command wrote into a file. */
export const pidIn = (file: string): Promise<number> =>
  until(async () => {
    const text = await readFile(file, 'utf8').catch(() => '');
    return text.endsWith('\n') ? Number(text) : undefined;
  });

/** Bytes of a process: in use now (VmRSS), or at most so far (VmHWM). */
export async function memoryOf(pid: number, what: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

/** The only process that it started and that still runs. */
export async function childOf(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim());
}

/** A zombie is dead: where nobody reaps orphans it would look alive for ever. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}
