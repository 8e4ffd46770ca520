import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a fact, not for a time: the outer limit only keeps a broken test from hanging. */
export async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 2_000; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(10);
  }
  throw new Error('it never became true');
}

/** The process id that a command wrote into a file. */
export const pidIn = (file: string): Promise<number> =>
  until(async () => {
    const text = await readFile(file, 'utf8').catch(() => '');
    return text.endsWith('\n') ? Number(text) : undefined;
  });

/** A zombie is dead: where nobody reaps orphans it would look alive for ever. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}
