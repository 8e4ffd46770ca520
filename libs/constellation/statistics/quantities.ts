import { MeasureName, RatioName, type DistributionName } from '#proto';

/** What a number counts, or what it is measured in. */
export type FigureUnit = 'ms' | 'usd' | 'ratio' | 'count';

/** Where figures that belong together are shown. */
export const FIGURE_SECTIONS = ['success', 'evolution', 'parallelism', 'latency', 'planning and use'] as const;
export type FigureSection = (typeof FIGURE_SECTIONS)[number];

interface Words {
  readonly section: FigureSection;
  /** A few words for the head of a line. */
  readonly says: string;
  /** Of one run. */
  readonly formula: string;
  readonly unit: FigureUnit;
  /** Where the paper has it. */
  readonly paper?: string;
}

export interface RatioWords extends Words {
  readonly numerator: MeasureName;
  /** Added up; none is 1, for the run itself. */
  readonly denominator: readonly MeasureName[];
}

/** One row for each: a name without a row does not compile. */
export const MEASURES: Readonly<Record<MeasureName, Words>> = {
  succeeded: {
    section: 'success',
    says: 'requests that succeeded',
    formula: '1 when the run has the outcome `succeeded`, else 0; its mean is the success rate',
    unit: 'count',
    paper: 'figure 20',
  },
  judgedSucceeded: {
    section: 'success',
    says: 'requests judged as done',
    formula: '1 when the evaluation says that it is complete, 0 when not; none where nobody has judged, or was unsure',
    unit: 'count',
    paper: 'figure 20',
  },
  subtasksStarted: {
    section: 'success',
    says: 'subtasks that were started',
    formula: 'tasks with at least one attempt',
    unit: 'count',
  },
  subtasksCompleted: {
    section: 'success',
    says: 'subtasks completed',
    formula: 'tasks that are COMPLETED at the end',
    unit: 'count',
    paper: 'figure 20',
  },
  subtasksFailed: {
    section: 'success',
    says: 'subtasks failed',
    formula: 'tasks that are FAILED at the end, those that another one recovered included',
    unit: 'count',
  },
  subtasksSkipped: {
    section: 'success',
    says: 'subtasks skipped',
    formula: 'tasks that are SKIPPED at the end',
    unit: 'count',
  },
  subtasksCancelled: {
    section: 'success',
    says: 'subtasks cancelled',
    formula: 'tasks that are CANCELLED at the end',
    unit: 'count',
  },
  subtasksTried: {
    section: 'success',
    says: 'subtasks tried',
    formula: 'subtasksCompleted + subtasksFailed',
    unit: 'count',
    paper: 'figure 20',
  },
  subtasksJudged: {
    section: 'success',
    says: 'subtasks judged',
    formula: 'subtasks of which the evaluation says yes or no; none where nobody has judged',
    unit: 'count',
  },
  subtasksJudgedSucceeded: {
    section: 'success',
    says: 'subtasks judged as done',
    formula: 'those of which it says yes',
    unit: 'count',
    paper: 'figure 20',
  },
  attempts: { section: 'success', says: 'attempts', formula: 'attempts at tasks that were started', unit: 'count' },
  attemptsCompleted: {
    section: 'success',
    says: 'attempts that completed',
    formula: 'attempts that ended with a result',
    unit: 'count',
  },
  devices: {
    section: 'parallelism',
    says: 'devices',
    formula: 'different devices with an attempt',
    unit: 'count',
    paper: 'figure 19',
  },
  tasksAtFirst: {
    section: 'evolution',
    says: 'tasks at first',
    formula: 'tasks of the constellation as it was created, or taken over by a fork',
    unit: 'count',
    paper: 'figure 21',
  },
  tasksAtLast: {
    section: 'evolution',
    says: 'tasks at last',
    formula: 'tasks of the constellation when the run ended',
    unit: 'count',
    paper: 'figure 21',
  },
  dependenciesAtFirst: {
    section: 'evolution',
    says: 'dependencies at first',
    formula: 'lines, likewise',
    unit: 'count',
    paper: 'figure 21',
  },
  dependenciesAtLast: {
    section: 'evolution',
    says: 'dependencies at last',
    formula: 'lines, likewise',
    unit: 'count',
    paper: 'figure 21',
  },
  addedTasks: changes('tasks added', 'tasks that edits added'),
  removedTasks: changes('tasks removed', 'tasks that edits removed'),
  modifiedTasks: changes('tasks modified', 'tasks that edits changed'),
  addedDependencies: changes('dependencies added', 'lines that edits added'),
  removedDependencies: changes('dependencies removed', 'lines that edits removed'),
  modifiedDependencies: changes('dependencies modified', 'lines that edits changed'),
  changes: changes('modifications', 'all six together'),
  edits: {
    section: 'evolution',
    says: 'edits',
    formula: 'proposals that were applied after the creation, also those that changed nothing',
    unit: 'count',
    paper: 'table 3',
  },
  rounds: {
    section: 'planning and use',
    says: 'rounds',
    formula: 'edit rounds that were opened, that of the creation included',
    unit: 'count',
  },
  roundsAbandoned: {
    section: 'planning and use',
    says: 'rounds given up',
    formula: 'rounds in which nothing was applied in time',
    unit: 'count',
  },
  proposals: { section: 'planning and use', says: 'proposals', formula: 'proposals that were judged', unit: 'count' },
  proposalsRejected: {
    section: 'planning and use',
    says: 'proposals refused',
    formula: 'those of them that were refused',
    unit: 'count',
  },
  maxWidth: {
    section: 'parallelism',
    says: 'max parallel width',
    formula: 'most tasks that the constellation, as it was at the end, allows to run at once: its largest antichain',
    unit: 'count',
    paper: 'table 4',
  },
  peakConcurrency: {
    section: 'parallelism',
    says: 'tasks at once, at the peak',
    formula: 'most tasks that were RUNNING at once',
    unit: 'count',
    paper: 'section 10.6',
  },
  criticalPathMs: {
    section: 'parallelism',
    says: 'critical path length (L)',
    formula:
      'the longest chain of the constellation, a task weighing what its last attempt worked; none where nothing was tried',
    unit: 'ms',
    paper: 'table 4',
  },
  workMs: {
    section: 'parallelism',
    says: 'total execution time (W)',
    formula: 'what all attempts worked, without what they waited for people; none where nothing was tried',
    unit: 'ms',
    paper: 'table 4, figure 22',
  },
  endToEndMs: {
    section: 'latency',
    says: 'end-to-end latency',
    formula: 'from the request, or the fork, to the last end',
    unit: 'ms',
    paper: 'figure 22',
  },
  orchestrationMs: {
    section: 'latency',
    says: 'orchestration time',
    formula: 'time in which an edit round was open, the creation included',
    unit: 'ms',
    paper: 'figure 22',
  },
  creationMs: {
    section: 'latency',
    says: 'creation',
    formula: 'time of the creation alone; none of a run that came with its constellation',
    unit: 'ms',
    paper: 'figure 22',
  },
  editingMs: {
    section: 'latency',
    says: 'all editing rounds',
    formula: 'the times of all rounds after the creation added up',
    unit: 'ms',
  },
  editingRounds: {
    section: 'planning and use',
    says: 'editing rounds',
    formula: 'rounds after the creation',
    unit: 'count',
  },
  waitedMs: {
    section: 'latency',
    says: 'waited for people',
    formula: 'what attempts waited for approvals and answers: neither in W nor in L',
    unit: 'ms',
  },
  pausedMs: { section: 'latency', says: 'paused', formula: 'time in which the run was paused', unit: 'ms' },
  llmCalls: {
    section: 'planning and use',
    says: 'model calls',
    formula: 'of the planner and of agents',
    unit: 'count',
  },
  commands: {
    section: 'planning and use',
    says: 'commands of agents',
    formula: 'commands that agents gave to devices',
    unit: 'count',
  },
  tokens: {
    section: 'planning and use',
    says: 'tokens',
    formula: 'of the planner and of agents, asked and answered',
    unit: 'count',
  },
  costUsd: { section: 'planning and use', says: 'cost', formula: 'as the prices of the models say', unit: 'usd' },
};

function changes(says: string, formula: string): Words {
  return { section: 'evolution', says, formula, unit: 'count', paper: 'table 3 (per request)' };
}

/** One row for each: a name without a row does not compile. */
export const RATIOS: Readonly<Record<RatioName, RatioWords>> = {
  requestSuccessRatio: {
    section: 'success',
    says: 'task success rate (TSR)',
    formula: 'succeeded / 1',
    unit: 'ratio',
    paper: 'figure 20',
    numerator: 'succeeded',
    denominator: [],
  },
  judgedRequestSuccessRatio: {
    section: 'success',
    says: 'the same as judged',
    formula: 'judgedSucceeded / 1',
    unit: 'ratio',
    paper: 'figure 20',
    numerator: 'judgedSucceeded',
    denominator: [],
  },
  subtaskSuccessRatio: {
    section: 'success',
    says: 'subtask completion rate (SCR)',
    formula: 'subtasksCompleted / subtasksTried',
    unit: 'ratio',
    paper: 'figure 20',
    numerator: 'subtasksCompleted',
    denominator: ['subtasksTried'],
  },
  judgedSubtaskSuccessRatio: {
    section: 'success',
    says: 'the same as judged',
    formula: 'subtasksJudgedSucceeded / subtasksJudged',
    unit: 'ratio',
    paper: 'figure 20',
    numerator: 'subtasksJudgedSucceeded',
    denominator: ['subtasksJudged'],
  },
  attemptSuccessRatio: {
    section: 'success',
    says: 'attempts that completed',
    formula: 'attemptsCompleted / attempts',
    unit: 'ratio',
    numerator: 'attemptsCompleted',
    denominator: ['attempts'],
  },
  addedTasksPerEdit: perEdit('tasks added per edit', 'addedTasks'),
  removedTasksPerEdit: perEdit('tasks removed per edit', 'removedTasks'),
  modifiedTasksPerEdit: perEdit('tasks modified per edit', 'modifiedTasks'),
  addedDependenciesPerEdit: perEdit('dependencies added per edit', 'addedDependencies'),
  removedDependenciesPerEdit: perEdit('dependencies removed per edit', 'removedDependencies'),
  modifiedDependenciesPerEdit: perEdit('dependencies modified per edit', 'modifiedDependencies'),
  changesPerEdit: perEdit('modifications per edit', 'changes'),
  taskGrowthRatio: {
    section: 'evolution',
    says: 'tasks at last by those at first',
    formula: 'tasksAtLast / tasksAtFirst',
    unit: 'ratio',
    paper: 'figure 21',
    numerator: 'tasksAtLast',
    denominator: ['tasksAtFirst'],
  },
  dependencyGrowthRatio: {
    section: 'evolution',
    says: 'the same of dependencies',
    formula: 'dependenciesAtLast / dependenciesAtFirst',
    unit: 'ratio',
    paper: 'figure 21',
    numerator: 'dependenciesAtLast',
    denominator: ['dependenciesAtFirst'],
  },
  parallelismRatio: {
    section: 'parallelism',
    says: 'parallelism (P = W / L)',
    formula: 'workMs / criticalPathMs',
    unit: 'ratio',
    paper: 'table 4',
    numerator: 'workMs',
    denominator: ['criticalPathMs'],
  },
  sequentialRatio: {
    section: 'latency',
    says: 'latency by all work in a row',
    formula: 'endToEndMs / (orchestrationMs + workMs); what is missing to 1 was saved by doing things at once',
    unit: 'ratio',
    paper: 'figure 22, section 10.7',
    numerator: 'endToEndMs',
    denominator: ['orchestrationMs', 'workMs'],
  },
  orchestrationRatio: {
    section: 'latency',
    says: 'orchestration by latency',
    formula: 'orchestrationMs / endToEndMs',
    unit: 'ratio',
    paper: 'figure 22',
    numerator: 'orchestrationMs',
    denominator: ['endToEndMs'],
  },
  subtaskMs: {
    section: 'latency',
    says: 'time of a subtask',
    formula: 'workMs / subtasksStarted: all attempts at it',
    unit: 'ms',
    paper: 'figure 22',
    numerator: 'workMs',
    denominator: ['subtasksStarted'],
  },
  editMs: {
    section: 'latency',
    says: 'time of an editing round',
    formula: 'editingMs / editingRounds',
    unit: 'ms',
    paper: 'figure 22',
    numerator: 'editingMs',
    denominator: ['editingRounds'],
  },
};

function perEdit(says: string, numerator: MeasureName): RatioWords {
  return {
    section: 'evolution',
    says,
    formula: `${numerator} / edits`,
    unit: 'count',
    paper: 'table 3 (per edit)',
    numerator,
    denominator: ['edits'],
  };
}

/** In the order in which they are listed. */
export const MEASURE_NAMES: readonly MeasureName[] = MeasureName.options;
export const RATIO_NAMES: readonly RatioName[] = RatioName.options;

/** The words of what is shown as a histogram. */
export function wordsOfDistribution(name: DistributionName): Words {
  const ratio = RatioName.options.find((one) => one === name);
  return ratio === undefined ? MEASURES[name as MeasureName] : RATIOS[ratio];
}
