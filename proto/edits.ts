import { z } from 'zod';
import {
  PlannedCall,
  LineType,
  RecordedConstellation,
  RecordedLine,
  RetryPolicy,
  Target,
  TaskBoard,
  TaskConstellation,
  TaskInput,
  TaskStar,
  TaskStarLine,
  Verification,
} from './constellation.js';
import { ForEach } from './fan-out.js';
import { EditId, LineId, TaskId } from './ids.js';
import { LIMITS } from './limits.js';
import { TaskFiles } from './task-files.js';

/** What is to change of a task; an absent field stays as it is, null removes what may be absent. */
export const TaskChange = z
  .strictObject({
    name: z.string().min(1).max(200),
    description: z.string().max(20_000),
    tips: z.array(z.string().max(2_000)).max(50),
    target: Target,
    command: PlannedCall.nullable(),
    timeoutMs: z.int().min(100).max(LIMITS.timeoutMsMax).nullable(),
    deadlineMs: z.int().min(100).max(LIMITS.timeoutMsMax).nullable(),
    retry: RetryPolicy.nullable(),
    priority: z.int().min(-100).max(100),
    idempotent: z.boolean(),
    verify: Verification.nullable(),
    review: z.boolean(),
    replaces: z.array(TaskId).min(1).max(100).nullable(),
    inputs: z.array(TaskInput).max(100).nullable(),
    files: TaskFiles.nullable(),
    board: TaskBoard.nullable(),
    forEach: ForEach.nullable(),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'at least one field of the task must change');
export type TaskChange = z.infer<typeof TaskChange>;

/** What is to change of a line: `condition` goes with the type `conditional`, null removes it. */
export const LineChange = z
  .strictObject({
    type: LineType,
    condition: z.string().min(1).max(LIMITS.conditionCharsMax).nullable(),
    description: z.string().max(2_000).nullable(),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'at least one field of the line must change');
export type LineChange = z.infer<typeof LineChange>;

const editWith = (line: typeof TaskStarLine, constellation: typeof TaskConstellation) =>
  z.discriminatedUnion('tool', [
    z.strictObject({ tool: z.literal('add_task'), task: TaskStar }),
    /** Its lines go with it. */
    z.strictObject({ tool: z.literal('remove_task'), taskId: TaskId }),
    z.strictObject({ tool: z.literal('update_task'), taskId: TaskId, change: TaskChange }),
    z.strictObject({ tool: z.literal('add_dependency'), line }),
    z.strictObject({ tool: z.literal('remove_dependency'), lineId: LineId }),
    z.strictObject({ tool: z.literal('update_dependency'), lineId: LineId, change: LineChange }),
    /** With `clear`, what has not started and is not named is removed; without, tasks and lines are only added or replaced. */
    z.strictObject({
      tool: z.literal('build_constellation'),
      constellation,
      clear: z.boolean().default(true),
    }),
  ]);

/** The seven primitives of the Constellation MCP server (paper section 5.3, table 1). Each is idempotent. */
export const Edit = editWith(TaskStarLine, TaskConstellation);
export type Edit = z.infer<typeof Edit>;
/** The same in an event. */
export const RecordedEdit = editWith(RecordedLine, RecordedConstellation);

/** Why a primitive, or the batch as a whole, was not applied. `message` says what would be valid. */
export const EditViolation = z.strictObject({
  code: z.enum([
    'UNKNOWN_TASK',
    'UNKNOWN_LINE',
    'DUPLICATE_ID',
    /** The id belonged to a task or line that was removed: an id is never used twice in a run. */
    'ID_USED',
    'I2_ACYCLIC',
    'I3_ONLY_PENDING',
    'INVALID_CONDITION',
    'INVALID_INPUT',
    'NO_DEVICE',
    'UNKNOWN_TOOL',
    'NO_COMMAND',
    'INVALID_ARGUMENTS',
    'TOO_LARGE',
    'STALE_REVISION',
    /** A model may have written it, and it would run on a device that the plan was not made for. */
    'OUT_OF_SCOPE',
  ]),
  /** Path inside of the proposal, e.g. `edits[2].task.target`. */
  path: z.string(),
  message: z.string(),
});
export type EditViolation = z.infer<typeof EditViolation>;

/** What made an edit round necessary. */
export const EditTrigger = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('goal') }),
  z.strictObject({ kind: z.literal('task'), taskId: TaskId, attempt: z.int().min(0) }),
  /** A ready task that no connected device could take for a while. */
  z.strictObject({ kind: z.literal('device'), taskId: TaskId }),
  z.strictObject({ kind: z.literal('end-of-plan') }),
  /** Somebody has said something to the run: the words with this number. */
  z.strictObject({ kind: z.literal('words'), number: z.int().min(1) }),
]);
export type EditTrigger = z.infer<typeof EditTrigger>;

/** What the planner thought; shown, never interpreted. */
export const EditTrace = z.strictObject({
  observation: z.string().max(20_000).optional(),
  thought: z.string().max(20_000).optional(),
  result: z.string().max(20_000).optional(),
});
export type EditTrace = z.infer<typeof EditTrace>;

/** State of the planner after a proposal (paper figure 5). */
export const PlannerState = z.enum(['CONTINUE', 'FINISH', 'FAIL']);
export type PlannerState = z.infer<typeof PlannerState>;

/** What a plan comes from: a model, a reviewed runbook, or the rules of the planner alone. */
export const PlanSource = z.enum(['model', 'runbook', 'rule']);
export type PlanSource = z.infer<typeof PlanSource>;

/** A batch of edits, applied all or nothing to the current constellation. */
export const Proposal = z.strictObject({
  /** The round it answers; null when nobody asked: then it is an operator's edit. */
  editId: EditId.nullable().default(null),
  /** Counts the proposals of a round from 1; a number that was judged is not judged again. */
  try: z.int().min(1).default(1),
  /** The revision it was made for; null takes whatever the revision is. */
  baseRevision: z.int().min(0).nullable().default(null),
  state: PlannerState.default('CONTINUE'),
  edits: z.array(Edit).max(LIMITS.editsMax).default([]),
  trace: EditTrace.optional(),
  /** Of a plan that begins: where later edits of a model may run things besides the targets of its tasks. */
  spare: z.array(Target).max(50).optional(),
  /** With FINISH and FAIL: the reply to the requester, and the tasks it rests on. */
  answer: z
    .strictObject({ text: z.string().max(LIMITS.answerCharsMax), evidence: z.array(TaskId).max(LIMITS.tasksMax) })
    .optional(),
});
export type Proposal = z.infer<typeof Proposal>;
