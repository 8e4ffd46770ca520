import { z } from 'zod';
import { ApprovalView } from './approvals.js';
import { ShownEntry } from './board.js';
import { Budget, Usage } from './budget.js';
import { ConversationItem } from './conversation.js';
import { LineType, RunOutcome, RunStatus, TaskStatus } from './constellation.js';
import { EditTrigger, EditViolation } from './edits.js';
import { FanOutView } from './fan-out.js';
import { FinalAnswer } from './final-answer.js';
import { Evaluation } from './planner-replies.js';
import { DeviceId, EditId, Instant, LineId, RequestId, RunId, TaskId } from './ids.js';
import { RunLabels } from './labels.js';
import { LockPolicy } from './request.js';
import { TaskError, TaskResult } from './result.js';
import { RunNote } from './run-note.js';

/** Why a run is not terminal and what wakes it. */
export const WaitingFor = z.strictObject({
  reason: z.enum(['running_tasks', 'planner', 'device', 'backoff', 'paused', 'approval', 'budget', 'next_wave']),
  detail: z.string(),
  /** Whose word changes it: the end of an attempt, a proposal, the fleet, the clock, a person. Of an older answer only the clock is sure. */
  wokenBy: z.enum(['attempt', 'proposal', 'fleet', 'timer', 'operator']).default('timer'),
  /** When the clock changes it if nothing else does before. */
  wakesAt: Instant.nullable(),
});
export type WaitingFor = z.infer<typeof WaitingFor>;

export const TaskView = z.strictObject({
  id: TaskId,
  name: z.string(),
  status: TaskStatus,
  attempts: z.int().min(0),
  device: DeviceId.nullable(),
  result: TaskResult.nullable(),
  error: TaskError.nullable(),
  reason: z.string().nullable(),
  /** It is kept from starting, and from being skipped, by an edit that is open or owed. */
  held: z.boolean().default(false),
  /** It did not deliver, and this task did in its place. */
  recoveredBy: TaskId.nullable().default(null),
  startedAt: Instant.nullable(),
  endedAt: Instant.nullable(),
  /** Of a task that runs on several devices, from its begin on. */
  fanOut: FanOutView.optional(),
  /** The task of which this is one device, and its wave. */
  part: z.strictObject({ of: TaskId, wave: z.int().min(1) }).optional(),
});
export type TaskView = z.infer<typeof TaskView>;

/** The edit round that is open. */
export const EditingView = z.strictObject({
  editId: EditId,
  mode: z.enum(['creation', 'editing']),
  triggers: z.array(EditTrigger),
  /** Proposals that were judged and refused. */
  tries: z.int().min(0),
  violations: z.array(EditViolation),
  lockPolicy: LockPolicy,
  openedAt: Instant,
  deadlineAt: Instant,
});
export type EditingView = z.infer<typeof EditingView>;

export const LineView = z.strictObject({
  id: LineId,
  from: TaskId,
  to: TaskId,
  type: LineType,
  condition: z.string().nullable(),
  satisfied: z.boolean().nullable(),
  reason: z.string().nullable(),
});
export type LineView = z.infer<typeof LineView>;

/** A run at a sequence: what `orrery show --json` prints and `GET /v1/runs/:id` answers, from the log or from Postgres alike. */
export const RunView = z.strictObject({
  runId: RunId,
  requestId: RequestId,
  name: z.string(),
  status: RunStatus,
  outcome: RunOutcome.nullable(),
  reason: z.string().nullable(),
  sequence: z.int().min(0),
  revision: z.int().min(0),
  requestedAt: Instant,
  endedAt: Instant.nullable(),
  /** Who asked, as the credential said. */
  requestedBy: z.string(),
  /** Which exact commands the policy judges before they run, and why; absent where none is. */
  judging: z.string().optional(),
  waitingFor: WaitingFor.nullable(),
  editing: EditingView.nullable().default(null),
  /** Where it was forked from. */
  parent: z
    .strictObject({ runId: RunId, sequence: z.int().min(1) })
    .nullable()
    .default(null),
  tasks: z.array(TaskView),
  lines: z.array(LineView),
  /** In the order in which they were asked; the oldest decided ones are left out of a long list. */
  approvals: z.array(ApprovalView).default([]),
  /** Used up so far by attempts and rounds that have ended. */
  used: Usage.optional(),
  budget: Budget.optional(),
  goal: z.string().nullable().optional(),
  /** Of a goal that has ended. */
  answer: FinalAnswer.nullable().optional(),
  evaluation: Evaluation.nullable().optional(),
  /** In the order in which they were added; null when there are none. */
  notes: z.array(RunNote).nullable().optional(),
  /** As it was asked; null when there are none. */
  labels: RunLabels.nullable().optional(),
  /** What was said, in order: where the run is read from its log. */
  conversation: z.array(ConversationItem).optional(),
  /** What stands on its board, without the values: where the run is read from its log. */
  board: z.array(ShownEntry.omit({ value: true })).optional(),
});
export type RunView = z.infer<typeof RunView>;

export const RunSummary = z.strictObject({
  runId: RunId,
  requestId: RequestId,
  name: z.string(),
  status: RunStatus,
  outcome: RunOutcome.nullable(),
  sequence: z.int().min(0),
  tasks: z.int().min(0),
  requestedAt: Instant,
  endedAt: Instant.nullable(),
  /** Who asked, as the credential said. */
  requestedBy: z.string().optional(),
  labels: RunLabels.optional(),
  /** Used up so far by attempts and rounds that have ended; absent where it was never kept. */
  used: Usage.optional(),
});
export type RunSummary = z.infer<typeof RunSummary>;

/** Of the query `runs`. */
export const RunsAnswer = z.strictObject({ runs: z.array(RunSummary), more: z.literal(true).optional() });
