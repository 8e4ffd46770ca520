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

const SCHEMAS = {
  /** What the planner came to for one try of a round. Recorded before, or with, the proposal that follows from it. */
  ROUND_PLANNED: z.strictObject({
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
  }),
  /** No plan could be made: the round ends without one. */
  ROUND_FAILED: z.strictObject({
    ...round,
    ...asked,
    error: z.strictObject({ code: z.string().max(64), message: z.string().max(2_000) }),
    used: Usage,
  }),
  /** What is put to the orchestrator, which judges it. */
  PLAN_PROPOSED: z.strictObject({ proposal: Proposal, source: PlanSource, used: Usage }),
  /** A finished run was judged; the orchestrator adds it to the run's history. */
  RUN_EVALUATED: z.strictObject({ ...asked, evaluation: Evaluation, used: Usage }),
  /** A finished run was made into an example. */
  RUN_SUMMARISED: z.strictObject({ ...asked, exampleId: z.string().max(64), example: ExampleReply }),
} as const;
export type RoundPlanned = z.infer<(typeof SCHEMAS)['ROUND_PLANNED']>;
export type RoundFailed = z.infer<(typeof SCHEMAS)['ROUND_FAILED']>;

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
