import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../faults/index.js';

/** Between the request to end and the order to end. */
export const KILL_GRACE_MS = 2_000;
/** After SIGKILL only a process in the kernel's hands remains; nobody waits longer for it. */
const KILLED_WAIT_MS = 1_000;
const POLL_MS_MIN = 1;
const POLL_MS_MAX = 100;
const ROUND_MS_MAX = 250;
/** What is ending anyway is gone sooner than all processes of the machine are looked at. */
const LOOK_AFTER_POLL_MS = 4;

/**
 * All processes that a command started and that did not leave its process group on purpose. Behind a wall the first one is the wall:
 * with it everything ends at once, so it is not asked to; a command behind it ends as one without.
 */
export class ProcessGroup {
  readonly #isWalled: boolean;

  constructor(
    readonly id: number,
    isWalled = false,
  ) {
    this.#isWalled = isWalled;
  }

  /** Ends every member: asks, waits, insists. Resolves when none is left. */
  async end(graceMs = KILL_GRACE_MS): Promise<void> {
    if (!(this.#isWalled ? await this.#askBehindWall() : this.signal('SIGTERM'))) return;
    if (await this.#goneWithin(graceMs)) return;
    this.signal('SIGKILL');
    await this.#goneWithin(KILLED_WAIT_MS);
  }

  /** False when the group has no member. */
  signal(name: NodeJS.Signals | 0): boolean {
    return signalTo(-this.id, name);
  }

  /** False when the group has no member. */
  async #askBehindWall(): Promise<boolean> {
    if (!this.signal(0)) return false;
    // Without its wall a command is being killed by the kernel.
    if (!signalTo(this.id, 0)) return true;
    for (const pid of await this.#members()) if (pid !== this.id) signalTo(pid, 'SIGTERM');
    return true;
  }

  /** A machine that stands still takes little time from what is to end: a round of looking and waiting counts for no more than its limit. */
  async #goneWithin(waitMs: number): Promise<boolean> {
    let [leftMs, began] = [waitMs, performance.now()];
    for (let pollMs = POLL_MS_MIN; ; pollMs = Math.min(POLL_MS_MAX, pollMs * 2)) {
      if (!this.signal(0)) return true;
      if (pollMs > LOOK_AFTER_POLL_MS && (await this.#members()).length === 0) return true;
      if (leftMs <= 0) return false;
      await sleep(Math.min(pollMs, leftMs));
      const ended = performance.now();
      leftMs -= Math.min(ended - began, ROUND_MS_MAX);
      began = ended;
    }
  }

  /**
   * Those that live: where nobody reaps orphans (pid 1 of a small container) a dead member stays as a zombie, which a signal still
   * finds. Without a list of processes the first one stands for all.
   */
  async #members(): Promise<number[]> {
    const entries = await readdir('/proc').catch(() => undefined);
    if (entries === undefined) return [this.id];
    const pids = entries.filter((name) => /^\d+$/.test(name)).map(Number);
    const members = await Promise.all(pids.map(async (pid) => ((await this.#isLiveMember(pid)) ? [pid] : [])));
    return members.flat();
  }

  async #isLiveMember(pid: number): Promise<boolean> {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // `pid (name) state parent group ...`; the name may hold anything, brackets included.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === String(this.id) && state !== 'Z' && state !== 'X';
  }
}

/** False when nobody is there. */
function signalTo(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    // EPERM: of one that changed its user; it cannot be signalled, but it is there.
    return errorCode(error) === 'EPERM';
  }
}
