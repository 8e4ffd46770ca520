import type { ExecLimits } from '../sandbox/index.js';
import { limitReached } from './command-limits.js';
import { CommandMeter } from './command-usage.adapter.js';

/** Most commands have ended before anybody looks. */
const LOOK_MS = 250;
/** Looking takes at most such a part of the time, as long as the machine answers soon. */
const REST_PER_LOOK = 10;
const REST_MS_MAX = 1_000;
const MIB = 1024 * 1024;

export interface LimitWatch {
  /** One sentence, when a limit is reached; otherwise it stays open. */
  readonly reached: Promise<string>;
  stop(): void;
}

/** Looks now and then at what a command uses, until it is over a limit or nobody wants to know any more. */
export function watchLimits(pid: number, limits: ExecLimits): LimitWatch {
  const { promise: reached, resolve } = Promise.withResolvers<string>();
  const [meter, startedMs] = [new CommandMeter(pid), performance.now()];
  const memoryAbove = (limits.residentMb ?? Number.POSITIVE_INFINITY) * MIB;
  let isOver = false;
  const look = async (): Promise<void> => {
    const began = performance.now();
    const usage = await meter.read(began - startedMs, memoryAbove).catch(() => undefined);
    const sentence = usage && limitReached(usage, limits);
    if (sentence !== undefined) resolve(sentence);
    else if (!isOver) wait(Math.min(REST_MS_MAX, Math.max(LOOK_MS, REST_PER_LOOK * (performance.now() - began))));
  };
  let timer: NodeJS.Timeout | undefined;
  const wait = (ms: number): void => {
    timer = setTimeout(() => void look(), ms);
  };
  wait(LOOK_MS);
  return {
    reached,
    stop: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
