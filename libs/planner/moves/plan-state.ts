import {
  NO_USAGE,
  unknownFact,
  type EditId,
  type Evaluation,
  type ExampleReply,
  type PlanCommit,
  type PlanSource,
  type Proposal,
  type RecordedPlanEvent,
  type RoundFailed,
  type RoundPlanned,
  type Usage,
} from '#proto';
import { plus } from '#libs/constellation';

/** What the planner came to for one try of a round. */
export interface PlanTry {
  readonly editId: EditId;
  readonly try: number;
  /** How it was planned, with the model's reply; null when that is not recorded. */
  readonly planned: RoundPlanned | null;
  /** What was put to the orchestrator; null when nothing was, yet. */
  readonly proposal: Proposal | null;
  readonly source: PlanSource | null;
  /** Why there is no proposal and will be none; null when there may be one. */
  readonly failed: RoundFailed | null;
}

/** All that the planner has recorded about a run: its memory of what models said, so that none is asked twice. */
export interface PlanState {
  /** In the order in which they were made. */
  readonly tries: readonly PlanTry[];
  /** The last judgement, and the commit of the run whose end was judged: an end that was taken back is another one. */
  readonly evaluation: { readonly of: string | null; readonly evaluation: Evaluation } | null;
  readonly example: { readonly exampleId: string; readonly example: ExampleReply } | null;
  /** By everything recorded here together. */
  readonly used: Usage;
}

export const NO_PLAN: PlanState = { tries: [], evaluation: null, example: null, used: NO_USAGE };

/** The plan of a run as its commits tell it, in their order. */
export function foldPlan(commits: readonly PlanCommit[]): PlanState {
  return commits.reduce(evolvePlan, NO_PLAN);
}

/** Folds one commit of a plan chain into its state. */
export function evolvePlan(plan: PlanState, { events, causes }: Pick<PlanCommit, 'events' | 'causes'>): PlanState {
  return events.reduce((before, event) => apply(before, event, causes), plan);
}

/** The try with this number of a round; undefined when nothing was recorded of it. */
export function tryOf({ tries }: PlanState, editId: EditId, number: number): PlanTry | undefined {
  return tries.find((one) => one.editId === editId && one.try === number);
}

/**
 * Rounds for which a model was really asked, whatever came of it: all tries of one are one. While none can be reached none is asked:
 * who waits for an endpoint to come back has not used anything up.
 */
export function roundsAsked({ tries }: PlanState): ReadonlySet<EditId> {
  const asked = ({ planned, failed }: PlanTry) => (planned?.calls.length ?? 0) + (failed?.used.llmCalls ?? 0) > 0;
  return new Set(tries.filter(asked).map(({ editId }) => editId));
}

function apply(plan: PlanState, event: RecordedPlanEvent, causes: PlanCommit['causes']): PlanState {
  switch (event.type) {
    case 'ROUND_PLANNED':
      return withTry(plan, event.data, { planned: event.data, source: event.data.source });
    case 'ROUND_FAILED':
      return spent(withTry(plan, event.data, { failed: event.data }), event.data.used);
    case 'PLAN_PROPOSED': {
      const { proposal, source, used } = event.data;
      const { editId, try: number } = proposal;
      const proposed = editId === null ? plan : withTry(plan, { editId, try: number }, { proposal, source });
      return spent(proposed, used);
    }
    case 'RUN_EVALUATED': {
      const { evaluation, used } = event.data;
      const of = causes.find(({ kind }) => kind === 'run')?.id ?? null;
      return spent({ ...plan, evaluation: { of, evaluation } }, used);
    }
    case 'RUN_SUMMARISED':
      return { ...plan, example: { exampleId: event.data.exampleId, example: event.data.example } };
    default:
      return unknownFact(event); // an unknown fact stops the replay: upcast it, never skip it
  }
}

function withTry(
  plan: PlanState,
  { editId, try: number }: { readonly editId: EditId; readonly try: number },
  told: Partial<PlanTry>,
): PlanState {
  const before = tryOf(plan, editId, number);
  if (before !== undefined) {
    return { ...plan, tries: plan.tries.map((one) => (one === before ? { ...before, ...told } : one)) };
  }
  const nothing = { editId, try: number, planned: null, proposal: null, source: null, failed: null };
  return { ...plan, tries: [...plan.tries, { ...nothing, ...told }] };
}

function spent(plan: PlanState, more: Usage): PlanState {
  return { ...plan, used: plus(plan.used, more) };
}
