import { z } from 'zod';
import { RunStatus } from './constellation.js';
import { Instant } from './ids.js';
import { LabelSelector } from './labels.js';
import { LIMITS } from './limits.js';

/** What is measured of each run that has ended: one number, or none where the run has none. The unit is in the name of what is no count. */
export const MeasureName = z.enum([
  'succeeded',
  'judgedSucceeded',
  'subtasksStarted',
  'subtasksCompleted',
  'subtasksFailed',
  'subtasksSkipped',
  'subtasksCancelled',
  'subtasksTried',
  'subtasksJudged',
  'subtasksJudgedSucceeded',
  'attempts',
  'attemptsCompleted',
  'devices',
  'tasksAtFirst',
  'tasksAtLast',
  'dependenciesAtFirst',
  'dependenciesAtLast',
  'addedTasks',
  'removedTasks',
  'modifiedTasks',
  'addedDependencies',
  'removedDependencies',
  'modifiedDependencies',
  'changes',
  'edits',
  'rounds',
  'roundsAbandoned',
  'proposals',
  'proposalsRejected',
  'maxWidth',
  'peakConcurrency',
  'criticalPathMs',
  'workMs',
  'endToEndMs',
  'orchestrationMs',
  'creationMs',
  'editingMs',
  'editingRounds',
  'waitedMs',
  'pausedMs',
  'llmCalls',
  'commands',
  'tokens',
  'costUsd',
]);
export type MeasureName = z.infer<typeof MeasureName>;

/** Quotients of two of them. */
export const RatioName = z.enum([
  'requestSuccessRatio',
  'judgedRequestSuccessRatio',
  'subtaskSuccessRatio',
  'judgedSubtaskSuccessRatio',
  'attemptSuccessRatio',
  'addedTasksPerEdit',
  'removedTasksPerEdit',
  'modifiedTasksPerEdit',
  'addedDependenciesPerEdit',
  'removedDependenciesPerEdit',
  'modifiedDependenciesPerEdit',
  'changesPerEdit',
  'taskGrowthRatio',
  'dependencyGrowthRatio',
  'parallelismRatio',
  'sequentialRatio',
  'orchestrationRatio',
  'subtaskMs',
  'editMs',
]);
export type RatioName = z.infer<typeof RatioName>;

/** Of which the runs are counted by ranges. */
export const DistributionName = z.enum([
  'parallelismRatio',
  'tasksAtFirst',
  'tasksAtLast',
  'dependenciesAtLast',
  'devices',
  'maxWidth',
  'changes',
  'criticalPathMs',
  'workMs',
  'endToEndMs',
  'orchestrationMs',
]);
export type DistributionName = z.infer<typeof DistributionName>;

const count = z.int().min(0);

/** What every figure has: over how many runs it is, and how many it leaves out. */
const spread = {
  /** Those with a value: all that follows is of them. */
  runs: count,
  /** Those that have none, as no task of theirs ever ran. */
  without: count,
  /** Those where something ended before it began, by the clocks that recorded it. */
  skewed: count,
  median: z.number().nullable(),
  /** The nearest rank. */
  p95: z.number().nullable(),
  /** Of the sample, by n - 1. */
  standardDeviation: z.number().nullable(),
  minimum: z.number().nullable(),
  maximum: z.number().nullable(),
} as const;

export const MeasureFigures = z.strictObject({ ...spread, mean: z.number().nullable(), total: z.number() });
export type MeasureFigures = z.infer<typeof MeasureFigures>;

/** `runs` are those with both numbers and a denominator above 0; median and all others are of the ratios of the runs. */
export const RatioFigures = z.strictObject({
  ...spread,
  /** Each run counts alike. */
  meanOfRatios: z.number().nullable(),
  /** Sum by sum, of the same runs: a run counts by the size of its denominator. */
  ratioOfMeans: z.number().nullable(),
});
export type RatioFigures = z.infer<typeof RatioFigures>;

/** From here on, and below `to`; null: there is no end. */
export const FigureBin = z.strictObject({ from: z.number(), to: z.number().nullable(), runs: count });
export type FigureBin = z.infer<typeof FigureBin>;

/** Runs that match, and what each of them is: every one is in exactly one of the others. */
export const FigureRuns = z.strictObject({
  matching: count,
  /** They have ended: the figures are of them. */
  counted: count,
  /** They have not ended. */
  open: count,
  /** They have ended, and their newest facts are not measured yet. */
  behind: count,
  /** Their facts contradict each other: orrery verify says how. */
  unreadable: count,
});
export type FigureRuns = z.infer<typeof FigureRuns>;

const nothing = {
  runs: 0,
  without: 0,
  skewed: 0,
  median: null,
  p95: null,
  standardDeviation: null,
  minimum: null,
  maximum: null,
};

/** A field for each name. One that a service does not know yet is of no runs. */
function forEach<N extends string, T>(names: readonly N[], schema: z.ZodType<T>, absent: T): z.ZodType<Record<N, T>> {
  const fields = Object.fromEntries(names.map((name) => [name, schema.default(absent as never)]));
  return z.strictObject(fields) as unknown as z.ZodType<Record<N, T>>;
}

const figures = {
  runs: FigureRuns,
  measures: forEach(MeasureName.options, MeasureFigures, { ...nothing, mean: null, total: 0 }),
  ratios: forEach(RatioName.options, RatioFigures, { ...nothing, meanOfRatios: null, ratioOfMeans: null }),
  /** From the first range with a run in it to the last. */
  distributions: forEach(DistributionName.options, z.array(FigureBin), []),
} as const;
export const FiguresOfRuns = z.strictObject(figures);
export type FiguresOfRuns = z.infer<typeof FiguresOfRuns>;

const LabelKey = LabelSelector.refine((key) => !key.includes('='), 'must be the key of a label, without a value');

/** Of which runs: all has to hold that is said. */
export const FiguresRequest = z.strictObject({
  /** With all of these. */
  label: z.array(LabelSelector).min(1).max(LIMITS.labelsMax).optional(),
  /** Asked for from then on, and until then. */
  since: Instant.optional(),
  until: Instant.optional(),
  /** Who asked for them. */
  requester: z.string().min(1).max(256).optional(),
  status: z.array(RunStatus).min(1).max(RunStatus.options.length).optional(),
  /** The same figures for every value of this label besides. */
  by: LabelKey.optional(),
});
export type FiguresRequest = z.infer<typeof FiguresRequest>;

export const FiguresAnswer = z.strictObject({
  ...figures,
  /** The label whose values are the groups. */
  by: z.string().nullable(),
  /** The largest first; null: the runs without this label. */
  groups: z.array(z.strictObject({ value: z.string().nullable(), ...figures })),
  /** Smaller groups that have no figures of their own. */
  groupsLeft: count,
  /** Labels that no run at all has, and those that were perhaps meant. */
  unknownLabels: z.array(z.strictObject({ label: z.string(), meant: z.string().optional() })),
  /** Up to which message of RUNS the figures are, when that was recorded, and how many are not measured yet. */
  upTo: z.strictObject({ sequence: count, at: Instant.nullable(), behind: count }),
});
export type FiguresAnswer = z.infer<typeof FiguresAnswer>;
