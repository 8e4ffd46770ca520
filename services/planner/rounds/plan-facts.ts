import {
  LIMITS,
  type Json,
  type ModelCall,
  type PlanEvent,
  type PlanSource,
  type RunbookUse,
  type Usage,
  usageOfCalls,
} from '#proto';
import type { ProposedPlan } from '#libs/planner';
import type { RoundOrder } from './order.js';

/** As the schema of PLANS bounds them. */
const CALLS_MAX = 64;
const TEMPLATES_MAX = 20;
const EXAMPLES_MAX = 20;
const MESSAGE_CHARS_MAX = 2_000;

/** What was asked of models for one try, as it is recorded. */
export interface ModelsAsked {
  readonly calls: readonly ModelCall[];
  readonly templates: readonly { readonly id: string; readonly hash: string }[];
  readonly examples: readonly string[];
}

export const NO_MODEL_ASKED: ModelsAsked = { calls: [], templates: [], examples: [] };

/** One after the other. */
export function together(first: ModelsAsked, then: ModelsAsked): ModelsAsked {
  const templates = new Map([...first.templates, ...then.templates].map((template) => [template.id, template]));
  return {
    calls: [...first.calls, ...then.calls],
    templates: [...templates.values()],
    examples: [...new Set([...first.examples, ...then.examples])],
  };
}

export interface Plan {
  readonly mode: 'creation' | 'editing';
  readonly source: PlanSource;
  readonly asked: ModelsAsked;
  /** The constellation that it was made for: of a reply the one that the model was shown. */
  readonly revision: number;
  /** As it was parsed; null when no model was asked. */
  readonly reply: Json;
  readonly runbook?: RunbookUse | undefined;
  readonly planned: ProposedPlan;
}

/** The facts of a plan: what was said and what follows from it, in one commit. */
export function planFacts(order: RoundOrder, plan: Plan): PlanEvent[] {
  const { mode, source, asked, revision, reply, runbook, planned } = plan;
  const round = { editId: order.editId, try: order.try };
  const examples = asked.examples.slice(0, EXAMPLES_MAX);
  return [
    {
      type: 'ROUND_PLANNED',
      data: {
        ...round,
        mode,
        source,
        ...recorded(asked),
        revision,
        reply,
        ...(runbook === undefined ? {} : { runbook }),
        ...(examples.length === 0 ? {} : { examples }),
      },
    },
    proposedFact(order, { source, planned, used: usageOfCalls(asked.calls) }),
  ];
}

/** A proposal that is made of what was recorded before: it costs nothing. */
export function proposedFact(
  { editId, try: tried }: RoundOrder,
  { source, planned, used }: { source: PlanSource; planned: ProposedPlan; used: Usage },
): PlanEvent {
  return { type: 'PLAN_PROPOSED', data: { proposal: { ...planned, editId, try: tried }, source, used } };
}

export function failedFact(
  { editId, try: tried }: RoundOrder,
  { code, message, asked }: { code: string; message: string; asked: ModelsAsked },
): PlanEvent {
  const error = { code, message: message.slice(0, MESSAGE_CHARS_MAX).toWellFormed() };
  return {
    type: 'ROUND_FAILED',
    data: { editId, try: tried, ...recorded(asked), error, used: usageOfCalls(asked.calls) },
  };
}

/** As much of it as the schema of PLANS and the size of a commit let in. */
export function recorded({ calls, templates }: Pick<ModelsAsked, 'calls' | 'templates'>): {
  calls: ModelCall[];
  templates: { id: string; hash: string }[];
} {
  return {
    calls: bounded(calls.slice(-CALLS_MAX)),
    templates: templates.slice(0, TEMPLATES_MAX).map(({ id, hash }) => ({ id, hash })),
  };
}

/** Bytes that all replies of one commit may take together: the rest of it is the plan. */
const REPLIES_BYTES_MAX = LIMITS.replyBytesMax * 2;
const HEAD_CHARS = 2_000;

/** Of replies that were refused the older ones are cut when all of them would be too much; the last one stays as it is. */
function bounded(calls: readonly ModelCall[]): ModelCall[] {
  let left = REPLIES_BYTES_MAX;
  const kept = calls.toReversed().map((call) => {
    const bytes = call.reply === null ? 0 : Buffer.byteLength(JSON.stringify(call.reply));
    left -= bytes;
    if (left >= 0 || call.reply === null) return call;
    return { ...call, reply: call.reply.slice(0, HEAD_CHARS).toWellFormed() };
  });
  return kept.toReversed();
}
