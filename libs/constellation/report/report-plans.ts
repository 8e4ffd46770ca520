import type { EditId, Instant, ModelCall, PlanCommit, PlanEvent, RunId } from '#proto';
import { more, REPORT_LIMITS } from './report-limits.js';
import { cell, duration, span, table } from './report-text.js';

/** One step of the planner, flat: a row of a projection as well as a line of a report. What was said stands in the log. */
export interface PlanStep {
  readonly runId: RunId;
  /** Of its commit, and its place in it. */
  readonly number: number;
  readonly index: number;
  readonly kind: PlanEvent['type'];
  readonly editId: EditId | null;
  readonly try: number | null;
  /** What it comes from: `model`, `rule`, or the name of a runbook. */
  readonly source: string;
  /** CONTINUE, FINISH or FAIL of a proposal, the error's code of a round that failed, `complete` of an evaluation. */
  readonly outcome: string | null;
  readonly model: string | null;
  readonly calls: number;
  /** Replies that could not be used, and what was wrong with them: the first ones. */
  readonly refused: number;
  readonly problems: readonly string[];
  readonly tokens: number;
  readonly costUsd: number;
  readonly durationMs: number;
  readonly at: Instant;
}

const PROBLEMS_MAX = 20;
const PROBLEM_CHARS_MAX = 500;

/** The steps that commits of PLANS tell of, in their order. */
export function planStepsOf(commits: readonly PlanCommit[]): PlanStep[] {
  return commits.flatMap(({ runId, number, at, events }) =>
    events.map((event, index) => ({ runId, number, index, at, kind: event.type, ...told(event) })),
  );
}

type Told = Omit<PlanStep, 'runId' | 'number' | 'index' | 'at' | 'kind'>;

function told(event: PlanEvent): Told {
  switch (event.type) {
    case 'ROUND_PLANNED': {
      const { editId, try: count, source, runbook, calls } = event.data;
      return { editId, try: count, source: runbook?.name ?? source, outcome: null, ...spent(calls) };
    }
    case 'ROUND_FAILED': {
      const { editId, try: count, error, calls } = event.data;
      return { editId, try: count, source: calls.length > 0 ? 'model' : 'rule', outcome: error.code, ...spent(calls) };
    }
    case 'PLAN_PROPOSED': {
      const { proposal, source } = event.data;
      return { editId: proposal.editId, try: proposal.try, source, outcome: proposal.state, ...spent([]) };
    }
    case 'RUN_EVALUATED': {
      const { evaluation, calls } = event.data;
      return { editId: null, try: null, source: 'model', outcome: evaluation.complete, ...spent(calls) };
    }
    case 'RUN_SUMMARISED':
      return { editId: null, try: null, source: 'model', outcome: null, ...spent(event.data.calls) };
  }
}

function spent(
  calls: readonly ModelCall[],
): Pick<Told, 'model' | 'calls' | 'refused' | 'problems' | 'tokens' | 'costUsd' | 'durationMs'> {
  const sum = (of: (call: ModelCall) => number) => calls.reduce((total, call) => total + of(call), 0);
  return {
    model: calls.at(-1)?.model ?? null,
    calls: calls.length,
    refused: calls.filter(({ problems, error }) => problems.length > 0 || error !== null).length,
    problems: calls.flatMap(({ problems }) => problems).slice(0, PROBLEMS_MAX),
    tokens: sum(({ tokens }) => tokens.prompt + tokens.completion),
    costUsd: sum(({ costUsd }) => costUsd ?? 0),
    durationMs: sum(({ durationMs }) => durationMs),
  };
}

/** What planning took: each round's plan with its model, its tokens and its cost. */
export function plansSection(steps: readonly PlanStep[]): string {
  const asked = steps.filter(({ kind }) => kind !== 'PLAN_PROPOSED');
  if (asked.length === 0) return '';
  const proposed = new Map(
    steps.flatMap((step) => (step.kind === 'PLAN_PROPOSED' ? [[nameOf(step), step.outcome]] : [])),
  );
  const rows = asked
    .slice(0, REPORT_LIMITS.rowsMax)
    .map((step) => [
      cell(nameOf(step)),
      cell(step.source),
      step.model === null ? '-' : cell(step.model),
      step.refused === 0 ? String(step.calls) : `${step.calls}, ${step.refused} refused`,
      String(step.tokens),
      step.costUsd === 0 ? '-' : `$${step.costUsd.toFixed(4)}`,
      step.calls === 0 ? '-' : duration(step.durationMs),
      outcomeCell(step.outcome ?? proposed.get(nameOf(step)) ?? null),
    ]);
  const head = ['Step', 'By', 'Model', 'Calls', 'Tokens', 'Cost', 'Took', 'Outcome'];
  const refused = asked.flatMap((step) =>
    step.problems.map((problem) => `- ${cell(nameOf(step))}: ${span(problem, PROBLEM_CHARS_MAX)}`),
  );
  const why =
    refused.length === 0 ? [] : ['Replies that were refused:', refused.slice(0, REPORT_LIMITS.roundsMax).join('\n')];
  return ['## Planning', table(head, rows), ...more(asked.length), ...why].join('\n\n');
}

const outcomeCell = (outcome: string | null): string => (outcome === null ? '-' : cell(outcome));

function nameOf({ kind, editId, try: count }: PlanStep): string {
  if (editId !== null) return `${editId} try ${count ?? 1}`;
  return kind === 'RUN_EVALUATED' ? 'evaluation' : 'example';
}
