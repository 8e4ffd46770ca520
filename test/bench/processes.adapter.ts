import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { arch, cpus, loadavg, release, totalmem } from 'node:os';

/** Of /proc/<pid>/stat; Linux has had 100 on every architecture we run on. */
const TICKS_PER_SECOND = 100;
/** Fields after the command name, which may hold spaces: the parent is the 4th of the whole line, utime the 14th. */
const PARENT = 1;
const UTIME = 11;
const MIB = 1024 * 1024;

/** Processor time of a process; with `children` also of those it has waited for. */
export function cpuSeconds(pid: number, { children }: { children: boolean }): number {
  const ticks = statOf(pid).slice(UTIME, UTIME + (children ? 4 : 2));
  return ticks.reduce((sum, field) => sum + Number(field), 0) / TICKS_PER_SECOND;
}

/** Every process that runs now with its parent. */
export function parents(): ReadonlyMap<number, number> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/u.test(name));
  const known = pids.map((name): [number, number] => [Number(name), parentOf(Number(name))]);
  return new Map(known);
}

/** The process and all that came from it and run now. */
export function familyOf(pid: number, parentByPid: ReadonlyMap<number, number>): number[] {
  const children = [...parentByPid].filter(([, parent]) => parent === pid);
  return [pid, ...children.flatMap(([child]) => familyOf(child, parentByPid))];
}

/** Processor time of a process and of all that came from it. One that ends just now is in its parent's figure a moment later. */
export function familyCpuSeconds(pid: number, parentByPid: ReadonlyMap<number, number>): number {
  const seconds = familyOf(pid, parentByPid).map((member) => unlessGone(() => cpuSeconds(member, { children: true })));
  return seconds.reduce<number>((sum, one) => sum + (one ?? 0), 0);
}

/** The largest resident set a process has had. */
export function rssBytesMax(pid: number): number {
  const line = /^VmHWM:\s+(?<kib>\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.groups?.['kib'] ?? Number.NaN) * 1024;
}

function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function parentOf(pid: number): number {
  return unlessGone(() => Number(statOf(pid)[PARENT])) ?? 0;
}

/** Undefined when the process that was asked about has ended meanwhile. */
export function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** Runnable processes, averaged over the last minute: more than there are cores means that times are not ours alone. */
export function loadAverage(): number {
  return loadavg()[0] ?? Number.NaN;
}

const FILE_SYSTEMS = new Map([
  [0xef53, 'ext4'],
  [0x01021994, 'tmpfs'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x794c7630, 'overlay'],
]);

/** Where the figures come from: without it they mean nothing. */
export function machine(directory: string): Readonly<Record<string, string>> {
  const [cpu] = cpus();
  const { type } = statfsSync(directory);
  return {
    date: new Date().toISOString(),
    cpu: `${cpus().length} x ${cpu?.model.trim() ?? 'unknown'}`,
    memory: `${Math.round(totalmem() / MIB)} MiB`,
    kernel: `${release()} ${arch()}`,
    fileSystem: FILE_SYSTEMS.get(type) ?? `0x${type.toString(16)}`,
    node: process.version,
  };
}
