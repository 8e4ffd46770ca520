import { chain, fan, layered, waves } from './plans.js';
import { gapsOf } from './statistics.js';
import type { Plan } from './target.js';
import type { Aim, Measured, Repetition, TableAim, Workload } from './workload.js';

const CHAIN = 100;
const FAN = 200;
const DIAMONDS = 500;
const SMALL_RUNS = 100;
const SWEPT = 100;
const WAVE = 10;
const SEED = 20_261_120;
const BIG = layered({ tasks: 1_000, lines: 3_000, layers: 20, seed: SEED });
const RSS_MIB_MAX = 200;
const MIB = 1024 * 1024;

const median = ({ spread }: Measured): number => spread.median;
const CPU: Aim = {
  what: 'processor time per 1,000 tasks, all processes',
  limit: 1,
  unit: 's',
  value: ({ cpuPerThousandInAll }) => cpuPerThousandInAll,
};

const untilTheEnd = ({ beganAt, endedAt }: Repetition): number[] => [endedAt - beganAt];

/** The no-op workloads: what is left is the cost of the engine and of its log. */
export const ENGINE_WORKLOADS: readonly Workload[] = [
  {
    name: 'chain',
    measure: `one step of a chain of ${CHAIN}`,
    plans: [chain(CHAIN)],
    repetitions: 5,
    values: ({ executions: [only = []] }) => gapsOf(only.map(({ at }) => at)),
    floor: ({ elapsedMs }) => elapsedMs / CHAIN,
    aims: [{ what: 'step', limit: 2.5, unit: 'ms', value: median }, CPU],
  },
  {
    name: 'fan',
    measure: `1 -> ${FAN} -> 1, submit to end`,
    plans: [fan(FAN)],
    repetitions: 7,
    values: untilTheEnd,
    floor: ({ elapsedMs }) => elapsedMs,
    aims: [{ what: 'fan', limit: 80, unit: 'ms', value: median }, CPU],
  },
  {
    name: 'diamonds',
    measure: `${DIAMONDS} diamonds of 7 tasks at once`,
    plans: Array.from({ length: DIAMONDS }, () => diamond()),
    repetitions: 3,
    values: untilTheEnd,
    floor: ({ elapsedMs }) => elapsedMs,
    aims: [
      {
        what: 'diamonds',
        limit: 1_500,
        unit: 'tasks/s',
        atLeast: true,
        value: ({ tasksPerSecond }) => tasksPerSecond,
      },
      CPU,
    ],
  },
  {
    name: 'dag',
    measure: '1,000 tasks and 3,000 lines, submit to end',
    plans: [BIG],
    repetitions: 5,
    values: untilTheEnd,
    floor: ({ elapsedMs }) => elapsedMs,
    aims: [{ what: '1,000-task DAG', limit: 400, unit: 'ms', value: median }, CPU],
  },
  {
    name: 'small',
    measure: `${SMALL_RUNS} DAGs of 10 tasks and 30 lines at once`,
    plans: Array.from({ length: SMALL_RUNS }, (_, index) =>
      layered({ tasks: 10, lines: 30, layers: 5, seed: SEED + index }),
    ),
    repetitions: 3,
    values: untilTheEnd,
    floor: ({ elapsedMs }) => elapsedMs,
    aims: [CPU],
  },
  {
    name: 'waves',
    measure: `one task over ${SWEPT} devices in waves of ${WAVE}, submit to end`,
    plans: [waves(SWEPT, WAVE)],
    repetitions: 5,
    values: untilTheEnd,
    floor: ({ elapsedMs }) => elapsedMs,
    aims: [CPU],
  },
  {
    name: 'wave',
    measure: `one task over ${SWEPT} devices at once, submit to end`,
    plans: [waves(SWEPT, SWEPT)],
    repetitions: 5,
    values: untilTheEnd,
    floor: ({ elapsedMs }) => elapsedMs,
    aims: [CPU],
  },
  {
    name: 'kill',
    measure: 'the same 1,000 tasks, kill -9 in the middle to end',
    plans: [BIG],
    repetitions: 3,
    killAfter: 500,
    values: ({ killedAt, endedAt }) => [endedAt - killedAt],
    aims: [
      { what: 'kill to end', limit: 1_500, unit: 'ms', value: median },
      { what: 'executed twice', limit: 0, unit: 'tasks', value: ({ executedTwice }) => executedTwice },
    ],
  },
];

/** Aims over the whole table. */
export const ENGINE_AIMS: readonly TableAim[] = [
  {
    what: 'orchestrator processor time per task at 1,000 tasks, of that at 10',
    limit: 1.5,
    unit: 'x',
    value: (table) => {
      const cost = (name: string) => table.find(({ workload }) => workload === name)?.cpuPerThousand['orchestrator'];
      const [big, small] = [cost('dag'), cost('small')];
      return big === undefined || small === undefined ? undefined : big / small;
    },
  },
  {
    what: 'resident set of the orchestrator',
    limit: RSS_MIB_MAX,
    unit: 'MiB',
    value: (table) =>
      table.length === 0 ? undefined : Math.max(...table.map(({ rssBytes }) => rssBytes['orchestrator'] ?? 0)) / MIB,
  },
];

/** One task, five at once, one that waits for all five. */
function diamond(): Plan {
  return { ...fan(5), name: 'diamond' };
}
