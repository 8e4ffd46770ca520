import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import type { CommandUsage } from './command-limits.js';

/** Of proc_pid_stat(5), whatever the machine is. */
const TICKS_PER_SECOND = 100;
const KIB = 1024;

/**
 * Measures a command: its first process and what descends from it. Behind a wall that is everything, since orphans there become
 * children of its first process; otherwise also what is in its group. What ended children used is with those who waited for
 * them: a program that waits for none (SIGCHLD ignored) hides what its children wrote, and their time as far as nobody saw it.
 */
export class CommandMeter {
  readonly #pid: number;
  readonly #cores = cpus().length;
  #cpu = { total: 0, seen: 0, atMs: 0 };
  #written = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** `memoryAbove`: below so many bytes, counted coarsely, nobody asks how many exactly. */
  async read(nowMs: number, memoryAbove: number): Promise<CommandUsage> {
    const members = membersOf(this.#pid, processes());
    this.#count(members.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND, nowMs);
    let [written, resident] = [0, 0];
    for (const { pid } of members) {
      written += await numberIn(`/proc/${pid}/io`, /^write_bytes: (?<value>\d+)/mu);
      resident += KIB * (await numberIn(`/proc/${pid}/status`, /^VmRSS:\s+(?<value>\d+)/mu));
    }
    this.#written = Math.max(this.#written, written);
    return {
      processes: members.reduce((sum, { threads }) => sum + threads, 0),
      cpuSeconds: this.#cpu.total,
      writtenBytes: this.#written,
      residentBytes: resident < memoryAbove ? resident : await sharedOnce(members),
    };
  }

  /** Children that end while everything is read can be seen twice or not at all: no more is added than there was time. */
  #count(seen: number, atMs: number): void {
    const possible = ((atMs - this.#cpu.atMs) / 1_000) * this.#cores;
    const added = Math.min(Math.max(0, seen - this.#cpu.seen), possible);
    this.#cpu = { total: Math.max(this.#cpu.total + added, 0), seen, atMs };
  }
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly threads: number;
  /** Processor time, its own and of the children that it has waited for. */
  readonly ticks: number;
}

/**
 * Older ones first: of a child that ends meanwhile less is seen, and never more. Each is read at once: what the kernel has at hand takes a
 * fifth of the time that handing it to a thread and back would, and a machine has hundreds of processes.
 */
function processes(): Process[] {
  const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return names.map((name) => processOf(Number(name))).filter((one) => one !== undefined);
}

function processOf(pid: number): Process | undefined {
  const stat = statOf(pid);
  // `pid (name) state parent group ...`; the name may hold anything, brackets included.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent, group] = fields;
  if (parent === undefined || group === undefined) return undefined;
  const ticks = fields.slice(11, 15).reduce((sum, one) => sum + one, 0);
  return { pid, parent, group, ticks, threads: fields[17] ?? 1 };
}

/** Empty when it has ended meanwhile. */
function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}

function membersOf(first: number, all: readonly Process[]): Process[] {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const members = new Map(
    all.filter(({ pid, group }) => pid === first || group === first).map((one) => [one.pid, one]),
  );
  for (const { pid } of members.values()) for (const child of children.get(pid) ?? []) members.set(child.pid, child);
  return [...members.values()].sort((a, b) => a.pid - b.pid);
}

async function sharedOnce(members: readonly Process[]): Promise<number> {
  let bytes = 0;
  for (const { pid } of members)
    bytes += KIB * (await numberIn(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(?<value>\d+)/mu));
  return bytes;
}

/** 0 where it is not there, or not ours to read. */
async function numberIn(path: string, pattern: RegExp): Promise<number> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return Number(pattern.exec(text)?.groups?.['value'] ?? 0);
}
