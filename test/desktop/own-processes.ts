import { readdir, readFile, readlink } from 'node:fs/promises';

interface Facts {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly program: string;
  /** It has the mark in its environment or its arguments, or works in a directory of that name. */
  readonly isMarked: boolean;
}

/**
 * Everything that a desktop has started, found by what cannot be taken off: a directory that all of it was given, the sessions that
 * its programs began, and who started whom. Browsers write over their environments, and what a bus starts is nobody's child.
 */
export class OwnProcesses {
  readonly #mark: string;
  /** Sessions that were seen to be of it: what was started in one stays in it when whoever started it has ended. */
  readonly #sessions = new Set<number>();

  constructor(mark: string) {
    this.#mark = mark;
  }

  /** Those that run now, of one program or of all. */
  async list(program?: string): Promise<number[]> {
    const all = (await Promise.all((await pids()).map((pid) => this.#factsOf(pid)))).flat();
    const own = new Map(all.filter((one) => this.#isOwn(one)).map((one) => [one.pid, one]));
    for (let size = -1; size !== own.size;) {
      size = own.size;
      for (const one of all) if (own.has(one.parent) && one.pid !== process.pid) own.set(one.pid, one);
    }
    const here = all.find(({ pid }) => pid === process.pid)?.session;
    for (const { session } of own.values()) if (session !== here) this.#sessions.add(session);
    return [...own.values()].flatMap((one) => (program === undefined || one.program === program ? [one.pid] : []));
  }

  /** Ends all of it, also what is started meanwhile: it goes on until nothing is left. */
  async end(): Promise<void> {
    for (let left = await this.list(); left.length > 0; left = await this.list()) for (const pid of left) kill(pid);
  }

  #isOwn({ pid, session, isMarked }: Facts): boolean {
    return pid !== process.pid && (isMarked || this.#sessions.has(session));
  }

  /** Nothing for one that is over, or has just ended. */
  async #factsOf(pid: number): Promise<Facts[]> {
    const [stat, environment, words, place] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ''),
      readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''),
      readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => ''),
      readlink(`/proc/${pid}/cwd`).catch(() => ''),
    ]);
    const [, program = '', state, parent, , session] = /^\d+ \((.*)\) (\S) (\d+) (\d+) (\d+)/su.exec(stat) ?? [];
    if (state === undefined || state === 'Z') return [];
    const isMarked = [environment, words, place].some((text) => text.includes(this.#mark));
    return [{ pid, parent: Number(parent), session: Number(session), program, isMarked }];
  }
}

const pids = async (): Promise<number[]> => (await readdir('/proc')).filter((name) => /^\d+$/u.test(name)).map(Number);

/** Nothing is wrong when it is gone already. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone by itself
  }
}
