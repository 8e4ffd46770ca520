import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { busOf } from './display-server.js';

const POLL_MS = 20;

/** Ends every program that was given the bus of this directory, also what is started meanwhile: it goes on until nothing is left. */
export async function endLeft(directory: string): Promise<void> {
  for (let left = await given(directory); left.length > 0; left = await given(directory)) {
    for (const pid of left) kill(pid);
    await sleep(POLL_MS);
  }
}

async function given(directory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name)).map(Number);
  const mark = `\0DBUS_SESSION_BUS_ADDRESS=${busOf(directory)}`;
  const found = await Promise.all(
    pids.map(async (pid) => {
      // Nothing for one that is over, or is not ours.
      const words = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      const end = `\0${words}`.split(mark)[1]?.at(0);
      // A bus adds to its address who it is.
      return end === '\0' || end === ',' ? [pid] : [];
    }),
  );
  return found.flat().filter((pid) => pid !== process.pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone by itself
  }
}
