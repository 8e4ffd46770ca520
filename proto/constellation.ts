import { z } from 'zod';
import { BoardName, BOARD_NOTES } from './board.js';
import { ForEach } from './fan-out.js';
import { DeviceId, Json, LineId, TaskId } from './ids.js';
import { LIMITS } from './limits.js';
import { TaskFiles } from './task-files.js';

/** One exact tool call on a device, as somebody writes it. */
export const PlannedCall = z.strictObject({
  tool: z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'a tool name must be 1 to 128 letters, digits or _ . : -'),
  /** Passed to the tool as they are, but `stdin: {"from": [inputs]}`: what those predecessors answered, whole, in that order; and `{"board": name}`: what stands there when it starts. */
  arguments: z.record(z.string(), Json).default({}),
});
export type PlannedCall = z.infer<typeof PlannedCall>;

/**
 * Where on a screen a call is to act, as its agent has seen it: what is judged, what a person is shown, and what the device
 * compares with what is there. An agent fills it from what it has looked at; no model writes it.
 */
export const ScreenPlace = z.strictObject({
  /** Which agent of the attempt acts, e.g. `AppAgent`. */
  agent: z.string().min(1).max(64),
  /** The program whose window it is, as the device names it; empty before one is chosen. */
  application: z.string().max(256),
  /** The title of the window. */
  window: z.string().max(1_024),
  control: z.strictObject({ id: z.string().max(32), type: z.string().max(64), name: z.string().max(1_024) }).optional(),
  /** The listing that the id is of; empty: nothing was listed. */
  snapshot: z.string().max(64),
  /** Where the directory of the run lies, as the device has said it with the listing of a dialog for files, and of nothing else. */
  runDirectory: z.string().max(4_096).optional(),
});
export type ScreenPlace = z.infer<typeof ScreenPlace>;

/** One tool call on a device: exact, made without a model, or of an agent that has looked at a screen. */
export const CommandCall = z.strictObject({ ...PlannedCall.shape, on: ScreenPlace.optional() });
export type CommandCall = z.infer<typeof CommandCall>;

/** A place in the JSON of a result: names and positions from the outside in, separated by dots. */
export const FieldPath = z
  .string()
  .regex(
    /^[^.]{1,128}(?:\.[^.]{1,128}){0,15}$/,
    'a field is names separated by dots, such as stdout or data.items.0.name',
  )
  .describe('a field of its result, such as stdout or data.items.0.name; the text of the result when left out');

/** What a task takes of a predecessor: the text of its result, or one field of it. */
export const TaskInput = z.union(
  [TaskId, z.strictObject({ task: TaskId, field: FieldPath.optional() })],
  'an input is the id of a task, or {"task": id, "field": names separated by dots}',
);
export type TaskInput = z.infer<typeof TaskInput>;

/** The task that an input is taken from. */
export const inputTask = (input: TaskInput): TaskId => (typeof input === 'string' ? input : input.task);
/** The field of its result; undefined: the text of the whole. */
export const inputField = (input: TaskInput): string | undefined =>
  typeof input === 'string' ? undefined : input.field;

/** The argument `stdin` of a command that takes the outputs of predecessors. */
export const StdinFrom = z.strictObject({ from: z.array(TaskInput).min(1) });
export type StdinFrom = z.infer<typeof StdinFrom>;

/** The outputs that a command takes as its standard input, in their order. Most take none, and making sure of that by the schema is dear. */
export function stdinSources(command: PlannedCall | undefined): readonly TaskInput[] {
  const stdin = command?.arguments['stdin'];
  if (typeof stdin !== 'object') return [];
  const parsed = StdinFrom.safeParse(stdin);
  return parsed.success ? parsed.data.from : [];
}

/** A condition over how something ended and what it answered. */
const Condition = z.string().min(1).max(LIMITS.conditionCharsMax);

/**
 * What must hold when the work says that it is done; a FINISH without it is no success. `command` runs on the same device
 * and must succeed; `condition` is a CEL expression over `status` and `result`, of `command` where there is one, of the task
 * where there is none.
 */
export const Verification = z
  .strictObject({ command: PlannedCall.optional(), condition: Condition.optional() })
  .refine(({ command, condition }) => command !== undefined || condition !== undefined, {
    error: 'verify needs a command, a condition, or both',
  });
export type Verification = z.infer<typeof Verification>;

export const ResourceFloor = z.strictObject({
  cpuCount: z.int().min(1).optional(),
  memoryMb: z.int().min(1).optional(),
  /** Free now. */
  diskFreeMb: z.int().min(1).optional(),
  gpuCount: z.int().min(1).optional(),
  /** Of one card. */
  gpuMemoryMb: z.int().min(1).optional(),
});
export type ResourceFloor = z.infer<typeof ResourceFloor>;

/** What has to hold of a device, over what is known of it. The core reads it. */
export const Where = z
  .string()
  .min(1)
  .max(LIMITS.conditionCharsMax)
  .describe('CEL over `profile`, e.g. profile.gpu.memory_gb >= 24 && "db" in profile.roles');

const DeviceTarget = z.strictObject({ device: DeviceId });
export const Selector = z
  .strictObject({
    os: z.string().min(1).max(64).optional(),
    capabilities: z.array(z.string().min(1).max(64)).max(32).optional(),
    tags: z.array(z.string().min(1).max(64)).max(32).optional(),
    resources: ResourceFloor.optional(),
    where: Where.optional(),
  })
  .refine(
    (selector) => Object.keys(selector).length > 0,
    'a selector needs at least one of os, capabilities, tags, resources, where',
  );
export type Selector = z.infer<typeof Selector>;

/** A device by its id, or any device whose AgentProfile satisfies the selector. */
export const Target = z.union([DeviceTarget, Selector], {
  error: 'a target is {"device": "<id>"} or a selector with at least one of os, capabilities, tags, resources, where',
});
export type Target = z.infer<typeof Target>;

export const RetryPolicy = z.strictObject({
  /** Tries in all, the first one included. */
  attempts: z.int().min(1).max(LIMITS.attemptsMax),
  /** Wait before try n+1: between the half and the whole of `backoffMs * 2^(n-1)`, spread by recorded randomness. */
  backoffMs: z.int().min(0).max(LIMITS.timeoutMsMax).default(0),
  /** No wait is longer than this. */
  backoffMsMax: z.int().min(0).max(LIMITS.timeoutMsMax).optional(),
});

/** What a task writes on the board: its result, or a field of it. */
export const TaskBoardWrite = z.strictObject({
  name: BoardName.refine((name) => name !== BOARD_NOTES, `under "${BOARD_NOTES}" stands what agents have noted`),
  field: FieldPath.optional(),
});
export type TaskBoardWrite = z.infer<typeof TaskBoardWrite>;

/** All that one task writes there. */
export const TaskBoard = z
  .array(TaskBoardWrite)
  .min(1)
  .max(20)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'each name may be written once');
export type TaskBoard = z.infer<typeof TaskBoard>;

/** TaskStar: one node of the constellation (paper section 4). */
export const TaskStar = z.strictObject({
  id: TaskId,
  name: z.string().min(1).max(200),
  description: z.string().max(20_000).default(''),
  tips: z.array(z.string().max(2_000)).max(50).default([]),
  target: Target,
  /** Without one the task is left to the device's agent, which needs a model. */
  command: PlannedCall.optional(),
  /** From the start of an attempt until it is told to stop. */
  timeoutMs: z.int().min(100).max(LIMITS.timeoutMsMax).optional(),
  /** From the instant the task was added to its run until it must have ended, all tries together. */
  deadlineMs: z.int().min(100).max(LIMITS.timeoutMsMax).optional(),
  retry: RetryPolicy.optional(),
  /** Higher starts first; 0 when absent. */
  priority: z.int().min(-100).max(100).optional(),
  /** May be executed again when nobody knows whether it was executed. */
  idempotent: z.boolean().optional(),
  /** Post-condition: checked before the task is called completed. */
  verify: Verification.optional(),
  /** Predecessors whose results an agent is given, in this order; all of them when absent. */
  inputs: z.array(TaskInput).max(100).optional(),
  /** Files that it takes of predecessors, and that it leaves for others. */
  files: TaskFiles.optional(),
  /** What it puts on the board of its run when it completes, before anything that follows starts. */
  board: TaskBoard.optional(),
  /** The planner must look at its result, also when the edit policy would not ask. */
  review: z.boolean().optional(),
  /** Tasks whose work it does in their place: when it delivers and they have not, they are recovered. */
  replaces: z.array(TaskId).min(1).max(100).optional(),
  /** Once on each device that the target, a selector, means when the task starts; without it once on one of them. */
  forEach: ForEach.optional(),
});
export type TaskStar = z.infer<typeof TaskStar>;

/** When a line of each type lets its successor go on, in the words that models are told. What else a type means: `LINE_KINDS` of the core. */
export const LINE_TYPES = {
  unconditional: 'when the first has ended, whatever happened',
  'success-only': 'when the first has completed',
  'failure-only': 'when the first has failed, for good',
  conditional: 'when `condition` holds',
} as const;

export const LineType = z.enum(Object.keys(LINE_TYPES) as (keyof typeof LINE_TYPES)[]);
export type LineType = z.infer<typeof LineType>;

/** What a line without a type means; and what it meant when this was written into the log: nothing that is recorded changes. */
const UNTYPED: LineType = 'success-only';
const UNTYPED_ONCE: LineType = 'unconditional';

const lineWith = (untyped: LineType) =>
  z
    .strictObject({
      id: LineId,
      from: TaskId,
      to: TaskId,
      type: LineType.default(untyped),
      condition: Condition.optional(),
      /** For people and models; decides nothing. */
      description: z.string().max(2_000).optional(),
    })
    .refine((line) => (line.type === 'conditional') === (line.condition !== undefined), {
      path: ['condition'],
      error: 'a conditional line needs a condition, and only a conditional line may have one',
    });

/** TaskStarLine: one dependency (paper section 4). Without a type it is `success-only`. */
export const TaskStarLine = lineWith(UNTYPED);
export type TaskStarLine = z.infer<typeof TaskStarLine>;
/** The same in an event. One without a type is from when that meant `unconditional`. */
export const RecordedLine = lineWith(UNTYPED_ONCE);

const constellationWith = (line: typeof TaskStarLine) =>
  z.strictObject({
    name: z.string().min(1).max(200),
    tasks: z.array(TaskStar).min(1).max(LIMITS.tasksMax),
    lines: z.array(line).max(LIMITS.linesMax).default([]),
  });

/** TaskConstellation: the DAG as a request states it. Structure (ids, cycles, conditions) is checked by the core. */
export const TaskConstellation = constellationWith(TaskStarLine);
export type TaskConstellation = z.infer<typeof TaskConstellation>;
export const RecordedConstellation = constellationWith(RecordedLine);

export const TaskStatus = z.enum(['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED']);
export type TaskStatus = z.infer<typeof TaskStatus>;

export const RunStatus = z.enum(['PLANNING', 'RUNNING', 'PAUSED', 'WAITING', 'COMPLETED', 'FAILED', 'CANCELLED']);
export type RunStatus = z.infer<typeof RunStatus>;

export const RunOutcome = z.enum(['succeeded', 'partially_failed']);
export type RunOutcome = z.infer<typeof RunOutcome>;
