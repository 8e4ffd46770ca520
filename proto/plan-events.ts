import { z } from 'zod';
import { Usage } from './budget.js';
import { commitShape, type EventOf, recordedEvent, recordedEvents } from './commit.js';
import { PlanSource, Proposal } from './edits.js';
import { EditId, Json, RunId, Sha256 } from './ids.js';
import { ModelCall } from './model.js';
import { Evaluation, ExampleReply } from './planner-replies.js';

/** Requests to models for one plan, at most. */
const MODEL_CALLS_MAX = 64;

const asked = {
  /** All calls: the last one's reply was used, those before it were refused. Empty when no model was needed. */
  calls: z.array(ModelCall).max(MODEL_CALLS_MAX),
  templates: z.array(z.strictObject({ id: z.string().max(128), hash: Sha256 })).max(20),
} as const;

const round = { editId: EditId, try: z.int().min(1) } as const;

/** A reviewed plan that was used, and with what. */
export const RunbookUse = z.strictObject({
  name: z.string().min(1).max(64),
  hash: Sha256,
  parameters: z.record(z.string(), Json),
});
export type RunbookUse = z.infer<typeof RunbookUse>;

/** What the planner came to for one try of a round. Recorded before, or with, the proposal that follows from it. */
export const RoundPlanned = z.strictObject({
  ...round,
  mode: z.enum(['creation', 'editing']),
  source: PlanSource,
  ...asked,
  /** The constellation that it was made for. */
  revision: z.int().min(0),
  /** The reply as it was parsed; null when no model was asked. */
  reply: Json,
  runbook: RunbookUse.optional(),
  /** Examples of earlier runs that were shown. */
  examples: z.array(z.string().max(64)).max(20).optional(),
});
export type RoundPlanned = z.infer<typeof RoundPlanned>;

/** No plan could be made: the round ends without one. */
export const RoundFailed = z.strictObject({
  ...round,
  ...asked,
  error: z.strictObject({ code: z.string().max(64), message: z.string().max(2_000) }),
  used: Usage,
});
export type RoundFailed = z.infer<typeof RoundFailed>;

/** What is put to the orchestrator, which judges it. */
export const PlanProposed = z.strictObject({ proposal: Proposal, source: PlanSource, used: Usage });
export type PlanProposed = z.infer<typeof PlanProposed>;

/** A finished run was judged; the orchestrator adds it to the run's history. */
export const RunEvaluated = z.strictObject({ ...asked, evaluation: Evaluation, used: Usage });
export type RunEvaluated = z.infer<typeof RunEvaluated>;

/** A finished run was made into an example. */
export const RunSummarised = z.strictObject({ ...asked, exampleId: z.string().max(64), example: ExampleReply });
export type RunSummarised = z.infer<typeof RunSummarised>;

const SCHEMAS = {
  ROUND_PLANNED: RoundPlanned,
  ROUND_FAILED: RoundFailed,
  PLAN_PROPOSED: PlanProposed,
  RUN_EVALUATED: RunEvaluated,
  RUN_SUMMARISED: RunSummarised,
} as const;

export type PlanEventType = keyof typeof SCHEMAS;
export const PLAN_EVENT_TYPES = Object.keys(SCHEMAS) as PlanEventType[];

export const RecordedPlanEvent = recordedEvent(SCHEMAS);
export type RecordedPlanEvent = z.infer<typeof RecordedPlanEvent>;

export type PlanEvent = EventOf<typeof SCHEMAS>;

/** One message of `orrery.plan.<p>.<runId>`. */
export const PlanCommit = z.strictObject({
  ...commitShape,
  runId: RunId,
  events: recordedEvents(RecordedPlanEvent),
});
export type PlanCommit = z.infer<typeof PlanCommit>;

/** Of these the orchestrator takes notice; the rest is for who wants to know why. */
export const PLAN_INPUT_TYPES = ['PLAN_PROPOSED', 'ROUND_FAILED', 'RUN_EVALUATED'] as const satisfies PlanEventType[];
