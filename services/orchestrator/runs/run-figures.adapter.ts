import { FailureOutcome, RunOutcome, type RunEvent, type RunLabels } from '#proto';
import { findTask, type Graph, type Run, sourceOf } from '#libs/constellation';
import type { Metrics } from '#libs/platform';

/** From what a test system takes to a night of waiting for a person or a device. */
const RUN_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];
const TASK_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400];
const QUEUE_SECONDS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600];

/** Whoever asks for runs can think of as many values as he likes: of each label so many are told apart by one process, the rest is one. */
const LABEL_VALUES_MAX = 100;
/** No value of a label can be this. */
const OTHER_VALUES = '(other)';

/** What a commit made of a run; `events` are its facts. */
export interface RunChanged {
  readonly before: Run;
  readonly after: Run;
  readonly events: readonly RunEvent[];
  /** When it was decided, in milliseconds since the epoch. */
  readonly now: number;
}

export type RunFigures = (changed: RunChanged) => void;

/**
 * How runs and tasks go, out of the facts that this replica stores: what another one has stored is counted there. `labelKeys` are the
 * labels of requests by which ends of runs are told apart.
 */
export function runFigures(metrics: Metrics, labelKeys: readonly string[] = []): RunFigures {
  const begun = metrics.counter('runs_begun_total', 'Runs that were taken, forks included');
  const ended = metrics.counter('runs_ended_total', 'Ends of runs; one that is opened again ends again', [
    'status',
    'outcome',
  ]);
  const runSeconds = metrics.histogram('run_seconds', 'Time of a run from its request, or fork, to its end', {
    labelNames: ['status'],
    buckets: RUN_SECONDS,
  });
  const queueSeconds = metrics.histogram(
    'task_queue_seconds',
    'Time of a task from when it was ready to its start: waiting for a device, a slot or a pause',
    { buckets: QUEUE_SECONDS },
  );
  const taskSeconds = metrics.histogram('task_seconds', 'Time of an attempt from its start to its end', {
    labelNames: ['outcome'],
    buckets: TASK_SECONDS,
  });
  // From 0 on: a rate does not see a series begin.
  for (const outcome of RunOutcome.options) ended.inc({ status: 'COMPLETED', outcome }, 0);
  for (const status of ['FAILED', 'CANCELLED']) ended.inc({ status, outcome: 'none' }, 0);
  for (const outcome of ['completed', ...FailureOutcome.options]) taskSeconds.zero({ outcome });
  /** When a plan became what it is, of those that became so here. */
  const madeAt = new WeakMap<Graph, number>();

  const labelled = endsByLabel(metrics, labelKeys);
  const runEnded = ({ after }: RunChanged): void => {
    const { phase: status, outcome, endedAt, request } = after;
    if (endedAt === null || request === null) return;
    ended.inc({ status, outcome: outcome ?? 'none' });
    labelled(request.labels ?? {}, { status, outcome: outcome ?? 'none' });
    runSeconds.observe({ status }, secondsBetween(request.requestedAt, endedAt));
  };
  const attemptEnded = ({ after }: RunChanged, taskId: string, outcome: string, at: string): void => {
    const startedAt = findTask(after, taskId)?.startedAt;
    if (typeof startedAt === 'string') taskSeconds.observe({ outcome }, secondsBetween(startedAt, at));
  };

  return (changed) => {
    const { before, after, events, now } = changed;
    if (after.graph !== before.graph) madeAt.set(after.graph, now);
    for (const { type, data } of events) {
      if (type === 'RUN_REQUESTED' || type === 'RUN_FORKED') begun.inc();
      else if (type === 'TASK_STARTED') {
        const readyAt = Math.max(madeAt.get(after.graph) ?? 0, readySince(changed, data.taskId));
        queueSeconds.observe(Math.max(0, Date.parse(data.startedAt) - readyAt) / 1_000);
      } else if (type === 'TASK_COMPLETED') attemptEnded(changed, data.taskId, 'completed', data.completedAt);
      else if (type === 'TASK_FAILED') {
        if (data.attempt > 0) attemptEnded(changed, data.taskId, data.error.outcome, data.failedAt);
      } else if (type === 'RUN_COMPLETED' || type === 'RUN_FAILED' || type === 'RUN_CANCELLED') runEnded(changed);
    }
  };
}

/** Counts ends of runs by the values of these labels of theirs. */
function endsByLabel(metrics: Metrics, keys: readonly string[]) {
  const ended = metrics.counter(
    'labelled_runs_ended_total',
    'Ends of runs by the labels that ORRERY_METRICS_LABELS names; a run counts for each of them that it has',
    ['label', 'value', 'status', 'outcome'],
  );
  const known = new Map(keys.map((key) => [key, new Set<string>()]));
  return (labels: RunLabels, how: { readonly status: string; readonly outcome: string }): void => {
    for (const [label, values] of known) {
      const value = labels[label];
      if (value === undefined) continue;
      if (values.size < LABEL_VALUES_MAX) values.add(value);
      ended.inc({ label, value: values.has(value) ? value : OTHER_VALUES, ...how });
    }
  };
}

/** Since when nothing of the plan held the task back: its run, the tasks that it followed on, the pause before its next try. */
function readySince({ before, after }: RunChanged, taskId: string): number {
  const { graph, tasks, request } = after;
  const index = graph.taskIndex.get(taskId);
  const earlier = index === undefined ? [] : graph.linesInto.at(index).map((line) => tasks.at(sourceOf(graph, line)));
  const instants = [
    request?.requestedAt,
    findTask(before, taskId)?.notBefore,
    ...earlier.map(({ endedAt }) => endedAt),
  ].filter((instant) => typeof instant === 'string');
  return Math.max(...instants.map((instant) => Date.parse(instant)));
}

function secondsBetween(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from)) / 1_000;
}
