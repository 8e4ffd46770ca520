import { constants } from 'node:os';
import type { ExecLimits } from '../sandbox/index.js';

/** Said beside the result of a command: the limit at which it was ended, one sentence. */
export const LIMIT_META = 'orrery/limit';

/** What a command and everything that it has started use together. */
export interface CommandUsage {
  /** Threads, as the kernel counts them for its own limit. */
  readonly processes: number;
  /** Of those that have ended as well. */
  readonly cpuSeconds: number;
  /** To disks, by those that have ended as well. */
  readonly writtenBytes: number;
  /** Memory that is in use now, what several share once. */
  readonly residentBytes: number;
}

const MIB = 1024 * 1024;
const whole = (amount: number): string => String(Math.floor(amount));

const MEASURES = {
  processes: [({ processes }: CommandUsage) => processes, 'processes at a time'],
  cpuSeconds: [({ cpuSeconds }: CommandUsage) => cpuSeconds, 'seconds of processor time'],
  writtenMb: [({ writtenBytes }: CommandUsage) => writtenBytes / MIB, 'MiB written'],
  residentMb: [({ residentBytes }: CommandUsage) => residentBytes / MIB, 'MiB of memory'],
} as const;

/** The first limit that is reached, in one sentence; undefined: none. */
export function limitReached(usage: CommandUsage, limits: ExecLimits): string | undefined {
  for (const name of Object.keys(MEASURES) as (keyof typeof MEASURES)[]) {
    const [measure, what] = MEASURES[name];
    const [used, limit] = [measure(usage), limits[name]];
    if (limit !== undefined && used >= limit)
      return `the device ended it at a limit: ${whole(used)} ${what}, where exec.limits.${name} is ${limit}`;
  }
  return undefined;
}

/** The same of one that the kernel has ended; `code`: as a shell reports it. */
export function limitOfExit(code: number, { cpuSeconds, fileMb }: ExecLimits): string | undefined {
  if (code === 128 + constants.signals.SIGXFSZ && fileMb !== undefined)
    return `the kernel ended it at a limit: a file of ${fileMb} MiB, which is exec.limits.fileMb`;
  if (code === 128 + constants.signals.SIGXCPU && cpuSeconds !== undefined)
    return `the kernel ended it at a limit: ${cpuSeconds} seconds of processor time, which is exec.limits.cpuSeconds`;
  return undefined;
}
