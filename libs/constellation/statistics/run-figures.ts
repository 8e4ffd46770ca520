import type { MeasureName, RecordedRunEvent, RunCommit, RunEventData } from '#proto';
import { addUsage } from '#proto';
import { metricsOf, type RunMetrics } from '../views/index.js';

/** What one run that has ended came to. */
export interface MeasuredRun {
  /** Null: the run has none of it. */
  readonly values: Readonly<Record<MeasureName, number | null>>;
  /** Those of them that are null because something ended before it began, by the clocks that recorded it. */
  readonly skewed: readonly MeasureName[];
}

type Values = MeasuredRun['values'];

/** Null while the run has not ended, or when its end was taken back. Out of the facts of the run alone, as its report has them. */
export function runFiguresOf(commits: readonly RunCommit[]): MeasuredRun | null {
  const metrics = metricsOf(commits);
  const ending = endingOf(commits);
  if (metrics === null || ending === null) return null;
  const values: Values = {
    ...successOf(ending),
    ...triedOf(metrics),
    ...evolutionOf(metrics),
    ...timesOf(metrics),
    ...usedIn(metrics),
  };
  const skewed = skewedIn(metrics);
  return { values: { ...values, ...Object.fromEntries(skewed.map((name) => [name, null])) }, skewed };
}

interface Ending {
  readonly succeeded: boolean;
  readonly counts: RunEventData<'RUN_COMPLETED'>['counts'];
  /** The last one; null of a run that nobody has judged. */
  readonly evaluation: Evaluation | null;
}

type Evaluation = Extract<RunEventData<'RUN_ANNOTATED'>, { kind: 'evaluation' }>['evaluation'];

/** How the run ended, and what was said about it since; null while it is open. */
function endingOf(commits: readonly RunCommit[]): Ending | null {
  let ending: Ending | null = null;
  for (const { events } of commits) for (const event of events) ending = afterwards(ending, event);
  return ending;
}

function afterwards(ending: Ending | null, event: RecordedRunEvent): Ending | null {
  switch (event.type) {
    case 'RUN_COMPLETED':
      return { succeeded: event.data.outcome === 'succeeded', counts: event.data.counts, evaluation: null };
    case 'RUN_FAILED':
    case 'RUN_CANCELLED':
      return { succeeded: false, counts: event.data.counts, evaluation: null };
    case 'RUN_REOPENED':
      return null;
    case 'RUN_ANNOTATED':
      if (ending === null || event.data.kind !== 'evaluation') return ending;
      return { ...ending, evaluation: event.data.evaluation };
    default:
      return ending;
  }
}

function successOf({ succeeded, counts, evaluation }: Ending) {
  const judged = evaluation?.subtasks?.filter((subtask) => subtask.evaluation !== 'unsure') ?? null;
  return {
    succeeded: succeeded ? 1 : 0,
    judgedSucceeded:
      evaluation === null || evaluation.complete === 'unsure' ? null : Number(evaluation.complete === 'yes'),
    subtasksCompleted: counts.completed,
    subtasksFailed: counts.failed,
    subtasksSkipped: counts.skipped,
    subtasksCancelled: counts.cancelled,
    subtasksTried: counts.completed + counts.failed,
    subtasksJudged: judged === null ? null : judged.length,
    subtasksJudgedSucceeded: judged === null ? null : judged.filter((subtask) => subtask.evaluation === 'yes').length,
  };
}

function triedOf({ attempts }: RunMetrics) {
  return {
    subtasksStarted: new Set(attempts.map(({ taskId }) => taskId)).size,
    attempts: attempts.length,
    attemptsCompleted: attempts.filter(({ outcome }) => outcome === 'completed').length,
    devices: new Set(attempts.map(({ deviceId }) => deviceId)).size,
  };
}

function evolutionOf({ initial, final, edits }: RunMetrics) {
  const { total: changes, ...byType } = edits.changes;
  return {
    tasksAtFirst: initial.tasks,
    tasksAtLast: final.tasks,
    dependenciesAtFirst: initial.lines,
    dependenciesAtLast: final.lines,
    ...byType,
    changes,
    edits: edits.applied,
    rounds: edits.rounds,
    roundsAbandoned: edits.abandoned,
    proposals: edits.proposals,
    proposalsRejected: edits.rejected,
  };
}

function timesOf(metrics: RunMetrics) {
  const { attempts, rounds } = metrics;
  // An attempt or a round without an end has no time, and then neither has the sum of them.
  const isTimed = attempts.length > 0 && attempts.every(({ workedMs }) => workedMs !== null);
  const areTimed = rounds.every(({ ms }) => ms !== null);
  const editing = rounds.filter(({ mode }) => mode === 'editing');
  const hasCreation = rounds.some(({ mode }) => mode === 'creation');
  return {
    maxWidth: metrics.maxWidth,
    peakConcurrency: metrics.peakConcurrency,
    criticalPathMs: isTimed ? metrics.criticalPathMs : null,
    workMs: isTimed ? metrics.totalWorkMs : null,
    waitedMs: attempts.length === 0 || isTimed ? metrics.waitedMs : null,
    endToEndMs: metrics.endToEndMs,
    orchestrationMs: areTimed ? metrics.orchestrationMs : null,
    creationMs: areTimed && hasCreation ? metrics.creationMs : null,
    editingMs: areTimed ? editing.reduce((sum, { ms }) => sum + (ms ?? 0), 0) : null,
    editingRounds: editing.length,
    pausedMs: metrics.pausedMs,
  };
}

/** All that the planner and the agents say that they used. */
function usedIn({ attempts, rounds }: RunMetrics) {
  const used = [...rounds, ...attempts].flatMap((one) => (one.used === null ? [] : [one.used]));
  return addUsage(...used);
}

function skewedIn({ skewed }: RunMetrics): MeasureName[] {
  return [
    ...(skewed.run ? (['endToEndMs'] as const) : []),
    ...(skewed.attempts > 0 ? (['criticalPathMs', 'workMs', 'waitedMs'] as const) : []),
    ...(skewed.rounds > 0 ? (['orchestrationMs', 'creationMs', 'editingMs'] as const) : []),
    ...(skewed.pauses > 0 ? (['pausedMs'] as const) : []),
  ];
}
