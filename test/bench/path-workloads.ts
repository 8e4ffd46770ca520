import { chain, fan } from './plans.js';
import { gapsOf } from './statistics.js';
import type { Plan, Work } from './target.js';
import type { Aim, Measured, Repetition, Workload } from './workload.js';

export const PATH_DEVICES = 8;
const CHAIN = 50;
const WIDE = 598;
const DIAMONDS = 150;
const WARM_UP_TASKS = 300;

const median = ({ spread }: Measured): number => spread.median;
const untilTheEnd = ({ beganAt, endedAt }: Repetition): number[] => [endedAt - beganAt];
const RATE: Aim = {
  what: `rate over ${PATH_DEVICES} devices`,
  limit: 300,
  unit: 'tasks/s',
  atLeast: true,
  value: ({ tasksPerSecond }) => tasksPerSecond,
};
const TOOL: Readonly<Record<Work, string>> = {
  nothing: 'no-op tool',
  true: 'EXEC_CLI `true`',
  echo: 'EXEC_CLI `echo`',
};

/** One step after the other on one device. */
export function stepChain(work: Work): Plan {
  return { ...chain(CHAIN), name: `steps-${CHAIN}`, work, oneDevice: true };
}

/** The first one of a table warms the services up. */
export const PATH_WORKLOADS: readonly Workload[] = [
  steps('nothing', 1_000),
  steps('true', WARM_UP_TASKS),
  {
    name: 'echo',
    measure: 'diamond of four EXEC_CLI `echo`, submit to end',
    plans: [diamond('echo')],
    repetitions: 20,
    warmUpTasks: WARM_UP_TASKS,
    values: untilTheEnd,
    floor: ({ elapsedMs }) => elapsedMs,
    aims: [{ what: 'diamond', limit: 100, unit: 'ms', value: median }],
  },
  wide('nothing'),
  wide('true'),
  many('nothing'),
  many('true'),
];

function steps(work: Work, warmUpTasks: number): Workload {
  return {
    name: `steps-${work}`,
    measure: `one step of a chain of ${CHAIN} on one device, ${TOOL[work]}`,
    plans: [stepChain(work)],
    repetitions: 5,
    warmUpTasks,
    values: ({ executions: [only = []] }) => gapsOf(only.map(({ at }) => at)),
    floor: ({ elapsedMs }) => elapsedMs / CHAIN,
    aims: [{ what: 'step', limit: 10, unit: 'ms', value: median }],
  };
}

function wide(work: Work): Workload {
  const plan: Plan = { ...fan(WIDE), name: 'wide', work };
  return {
    name: `wide-${work}`,
    measure: `one constellation of ${plan.tasks.length} tasks, ${TOOL[work]}, submit to end`,
    plans: [plan],
    repetitions: 5,
    warmUpTasks: WARM_UP_TASKS,
    values: untilTheEnd,
    floor: ({ elapsedMs }) => elapsedMs,
    aims: [RATE],
  };
}

function many(work: Work): Workload {
  const plans = Array.from({ length: DIAMONDS }, () => diamond(work));
  return {
    name: `many-${work}`,
    measure: `${DIAMONDS} diamonds of 4 tasks at once, ${TOOL[work]}`,
    plans,
    repetitions: 5,
    warmUpTasks: WARM_UP_TASKS,
    values: untilTheEnd,
    floor: ({ elapsedMs }) => elapsedMs,
    aims: [RATE],
  };
}

/** One task, two at once, one that waits for both. */
function diamond(work: Work): Plan {
  return { ...fan(2), name: `diamond-${work}`, work };
}
