import { z } from 'zod';
import { Selector } from './constellation.js';
import { ConstellationToolCall, ToolConstellation } from './constellation-tools.js';
import { PlannerState } from './edits.js';
import { DeviceId, TaskId } from './ids.js';
import { LIMITS } from './limits.js';

const said = {
  /** What the model sees in the request, the fleet and the results. */
  observation: z.string().max(20_000).default(''),
  /** Why it plans what it plans, or leaves the plan as it is. */
  thought: z.string().max(20_000),
  state: PlannerState,
  /** The reply to the requester; needed with FINISH and FAIL. */
  result: z.string().max(LIMITS.answerCharsMax).default(''),
} as const;

/** A device, or devices, as a model names them. Exactly one of the two, which is checked when it becomes a target. */
export const ToolTarget = z.strictObject({
  target_device_id: DeviceId.optional(),
  target: Selector.optional(),
});
export type ToolTarget = z.infer<typeof ToolTarget>;

function needsResult({ state, result }: { state: PlannerState; result: string }, context: z.core.$RefinementCtx): void {
  if (state === 'CONTINUE' || result.trim() !== '') return;
  context.addIssue({ code: 'custom', path: ['result'], message: `${state} needs a result` });
}

/** Creation mode (paper section 5.1): CONTINUE with a plan, FINISH when nothing is to be done, FAIL when it cannot be done. */
export const CreationReply = z
  .strictObject({
    ...said,
    constellation: ToolConstellation.nullable(),
    /** Devices that no task is planned for, and that later edits may fall back to. */
    spare: z.array(ToolTarget).max(50).default([]),
  })
  .superRefine((reply, context) => {
    needsResult(reply, context);
    if ((reply.state === 'CONTINUE') === (reply.constellation !== null)) return;
    const message =
      reply.state === 'CONTINUE' ? 'CONTINUE needs a constellation' : `${reply.state} goes without a constellation`;
    context.addIssue({ code: 'custom', path: ['constellation'], message });
  });
export type CreationReply = z.infer<typeof CreationReply>;

/** Editing mode: what is to change, in order, all or nothing; nothing is a good answer. */
export const EditingReply = z
  .strictObject({
    ...said,
    actions: z.array(ConstellationToolCall).max(200).default([]),
    /** Tasks that `result` rests on. */
    evidence: z.array(TaskId).max(LIMITS.tasksMax).default([]),
  })
  .superRefine((reply, context) => {
    needsResult(reply, context);
  });
export type EditingReply = z.infer<typeof EditingReply>;

export const Verdict = z.enum(['yes', 'no', 'unsure']);

/** What the evaluation agent says of one task that was tried: a subtask of the paper (section 10.3). */
export const SubtaskVerdict = z.strictObject({
  task_id: TaskId,
  /** `yes` also for a truthful report that what the task asks for cannot be done. */
  evaluation: Verdict,
  reason: z.string().max(500).optional(),
});
export type SubtaskVerdict = z.infer<typeof SubtaskVerdict>;

/** What the evaluation agent says of a finished run. Runs that were judged before subtasks were have none. */
export const Evaluation = z.strictObject({
  reason: z.string().min(1).max(8_000),
  sub_scores: z
    .array(z.strictObject({ name: z.string().min(1).max(200), evaluation: Verdict }))
    .min(1)
    .max(20),
  subtasks: z.array(SubtaskVerdict).max(LIMITS.subtasksJudgedMax).optional(),
  /** Whether what was asked for can be done at all; where it cannot, `complete` is about a truthful answer that says so. */
  feasible: Verdict.optional(),
  complete: Verdict,
});
export type Evaluation = z.infer<typeof Evaluation>;

/** What a run or a demonstration is worth as an example: for requests of its kind, not for this one alone. */
export const ExampleReply = z.strictObject({
  /** The request, with what was particular to it left out. */
  request: z.string().min(1).max(4_000),
  /** What to know the next time. */
  tips: z.array(z.string().min(1).max(1_000)).max(20),
  constellation: ToolConstellation,
});
export type ExampleReply = z.infer<typeof ExampleReply>;
