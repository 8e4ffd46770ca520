import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../faults/index.js';

/** Between the request to end and the order to end. */
export const KILL_GRACE_MS = 2_000;
/** After SIGKILL only a process in the kernel's hands remains; nobody waits longer for it. */
const KILLED_WAIT_MS = 1_000;
const POLL_MS_MIN = 5;
const POLL_MS_MAX = 100;

/** All processes that a command started and that did not leave its process group on purpose. */
export class ProcessGroup {
  constructor(readonly id: number) {}

  /** Ends every member: asks, waits, insists. Resolves when none is left. */
  async end(graceMs = KILL_GRACE_MS): Promise<void> {
    if (!this.signal('SIGTERM')) return;
    if (await this.#goneWithin(graceMs)) return;
    this.signal('SIGKILL');
    await this.#goneWithin(KILLED_WAIT_MS);
  }

  /** False when the group has no member. */
  signal(name: NodeJS.Signals | 0): boolean {
    try {
      process.kill(-this.id, name);
      return true;
    } catch (error) {
      // EPERM: members that changed their user; they cannot be signalled, but they are there.
      return errorCode(error) === 'EPERM';
    }
  }

  async #goneWithin(waitMs: number): Promise<boolean> {
    const deadline = performance.now() + waitMs;
    for (let pollMs = POLL_MS_MIN; ; pollMs = Math.min(POLL_MS_MAX, pollMs * 2)) {
      if (!(await this.#hasLiveMember())) return true;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return false;
      await sleep(Math.min(pollMs, leftMs));
    }
  }

  /** Where nobody reaps orphans (pid 1 of a small container) a dead member stays as a zombie, which a signal still finds. */
  async #hasLiveMember(): Promise<boolean> {
    if (!this.signal(0)) return false;
    const entries = await readdir('/proc').catch(() => undefined);
    if (entries === undefined) return true;
    const members = await Promise.all(
      entries.filter((name) => /^\d+$/.test(name)).map((pid) => this.#isLiveMember(pid)),
    );
    return members.includes(true);
  }

  async #isLiveMember(pid: string): Promise<boolean> {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // `pid (name) state parent group ...`; the name may hold anything, brackets included.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === String(this.id) && state !== 'Z' && state !== 'X';
  }
}
