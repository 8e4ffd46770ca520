import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describeCase, planCase, runCase, shrinkCase, type FuzzCase } from './fuzz-case.js';
import type { Generator } from './generator.js';
import type { Target } from './subject.js';
import { Tally } from './tally.js';

export interface CampaignOptions {
  readonly target: Target;
  readonly generator: Generator;
  readonly seed: number;
  readonly frames: number;
  /** It ends with so many; absent: as many as teach something. */
  readonly failuresMax?: number;
}

export interface CampaignResult {
  readonly tally: Tally;
  readonly cases: number;
  /** Each shrunk and described. */
  readonly failures: readonly string[];
  /** The longest that a single frame would keep everybody else waiting, in processor time, and where. */
  readonly frameMsMax: number;
  readonly slowest: string;
  /** The longest that the event loop was held up around a case, what makes its frames and other programs included. */
  readonly loopMsMax: number;
  readonly heapGrownBytes: number;
  readonly seconds: number;
}

/** More failures than these teach nothing new. */
const FAILURES_MAX = 5;
const NS_PER_MS = 1e6;

/** Runs cases until so many frames were given, with a rest for the event loop after each. */
export async function campaign({
  target,
  generator,
  seed,
  frames,
  failuresMax = FAILURES_MAX,
}: CampaignOptions): Promise<CampaignResult> {
  const tally = new Tally();
  const failures: string[] = [];
  const delays = monitorEventLoopDelay({ resolution: 1 });
  const heapBefore = liveHeapBytes();
  const began = performance.now();
  let [frameMsMax, slowest, number] = [0, '', 0];
  for (; tally.frames < frames && failures.length < failuresMax; number++) {
    delays.enable();
    const planned = planCase({ seed, number }, target, generator);
    const { failure, verdicts, stepMsMax } = runCase(planned);
    tally.add(verdicts);
    if (stepMsMax > frameMsMax) [frameMsMax, slowest] = [stepMsMax, nameOf(planned)];
    if (failure !== null) failures.push(describeCase(shrinkCase(planned, failure), failure));
    await new Promise((resolve) => setImmediate(resolve));
    delays.disable();
  }
  return {
    tally,
    cases: number,
    failures,
    frameMsMax,
    slowest,
    loopMsMax: delays.max / NS_PER_MS,
    heapGrownBytes: liveHeapBytes() - heapBefore,
    seconds: (performance.now() - began) / 1_000,
  };
}

const nameOf = ({ target, number, stage }: FuzzCase): string => `case ${number} of ${target.name} (${stage})`;

/** What is alive: everything else is collected first. */
function liveHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}

const MIB = 1024 * 1024;

/** For people: what was tried and what it cost. */
export function summaryOf(result: CampaignResult, { target, seed }: Pick<CampaignOptions, 'target' | 'seed'>): string {
  const { tally, cases, frameMsMax, slowest, loopMsMax, heapGrownBytes, seconds } = result;
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  return [
    `${target.name}: ${tally.frames} frames in ${cases} cases, seed ${seed}, ${seconds.toFixed(1)} s; ` +
      `${percent(tally.structuredShare)} mutated frames, ${percent(tally.messageShare)} pass JSON and schema`,
    `longest frame ${frameMsMax.toFixed(1)} ms (${slowest}), longest hold-up of the event loop ` +
      `${loopMsMax.toFixed(1)} ms, heap grown by ${(heapGrownBytes / MIB).toFixed(1)} MiB`,
    String(tally),
  ].join('\n');
}
