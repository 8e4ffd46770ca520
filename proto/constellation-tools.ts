import { z } from 'zod';
import {
  PlannedCall,
  LINE_TYPES,
  LineType,
  ResourceFloor,
  Selector,
  TaskBoard,
  TaskInput,
  TaskStatus,
  Verification,
} from './constellation.js';
import { FailuresMax, WaveSize } from './fan-out.js';
import { DeviceId, LineId, RunId, TaskId } from './ids.js';
import { LIMITS } from './limits.js';
import { TaskFiles } from './task-files.js';

/**
 * The vocabulary in which models and MCP hosts speak of a constellation (paper section 5.3, table 1). It is the one of the wire in
 * other clothes: libs/constellation turns a call into an Edit and a run into a snapshot.
 */
const taskFields = {
  name: z.string().min(1).max(200),
  description: z
    .string()
    .max(20_000)
    .describe(
      'everything that the agent of the device needs to know: it sees nothing else but the tips and the inputs',
    ),
  tips: z.array(z.string().max(2_000)).max(50).describe('hints; one of them says what the textual result must contain'),
  target_device_id: DeviceId.describe('this device and no other; instead of target'),
  target: Selector.describe('any device that satisfies this; instead of target_device_id'),
  waves: z
    .strictObject({
      size: WaveSize.optional().describe(
        'devices at a time, or a part of them such as "10%"; all at once when left out',
      ),
      pause_seconds: z
        .number()
        .min(0)
        .max(LIMITS.timeoutMsMax / 1000)
        .optional()
        .describe('between two waves'),
      max_failures: FailuresMax.optional().describe(
        'so many devices may fail, then no other one begins; 0 when left out',
      ),
    })
    .describe(
      'the task runs once on each device that satisfies target when it starts, wave by wave; its result has devices, completed, failed, not_started and results; without it the task runs on one of them',
    ),
  command: PlannedCall.describe('one exact tool call instead of an agent; the command policy judges it'),
  inputs: z
    .array(TaskInput)
    .max(100)
    .describe(
      'predecessors whose results the task is given, each as its id or with one field of its result; all of them when left out',
    ),
  files: TaskFiles.describe(
    'files, all below the workspace, a directory that the run has on each device: `out` are patterns of what the task leaves there (reports/*.csv; one ending in ? may match nothing), `in` are predecessors whose files lie there when it begins',
  ),
  board: TaskBoard.describe(
    'what it puts on the board of the run when it completes, by name: its whole result, or a field of it such as stdout',
  ),
  verify: Verification.describe('what must hold when the task says that it is done'),
  replaces: z
    .array(TaskId)
    .min(1)
    .max(100)
    .describe(
      'tasks that failed or were skipped and whose work this one does in their place; it is held to their verify, and when it is done they count as recovered',
    ),
  review: z.boolean().describe('true: you will be asked to look at the result before its successors start'),
  timeout_seconds: z
    .number()
    .min(1)
    .max(LIMITS.timeoutMsMax / 1000)
    .describe('of each try, from its start'),
  deadline_seconds: z
    .number()
    .min(1)
    .max(LIMITS.timeoutMsMax / 1000)
    .describe('from now until it must have ended, waiting for a device and all tries together; then it fails'),
  attempts: z.int().min(1).max(LIMITS.attemptsMax).describe('tries in all when it fails'),
  priority: z.int().min(-100).max(100).describe('higher starts first'),
  idempotent: z.boolean().describe('true: may be done again when nobody knows whether it was done'),
} as const;

const optionalOf = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape).partial().shape;

const { name, description, ...optionalFields } = taskFields;

/** A TaskStar as tools take it: exactly one of `target_device_id` and `target`, which is checked when it becomes an edit. */
export const ToolTask = z.strictObject({
  task_id: TaskId,
  name,
  description,
  ...optionalOf(optionalFields),
});
export type ToolTask = z.infer<typeof ToolTask>;

const dependencyFields = {
  type: LineType.describe(
    Object.entries(LINE_TYPES)
      .map(([type, words]) => `${type}: ${words}`)
      .join('; '),
  ),
  condition: z
    .string()
    .min(1)
    .max(LIMITS.conditionCharsMax)
    .describe('CEL over `status` and `result` of the first task, e.g. result.exit_code == 0'),
  condition_description: z.string().max(2_000).describe('for people; decides nothing'),
} as const;

/** A TaskStarLine as tools take it. `type` is `success-only` when left out, `conditional` when there is a condition. */
export const ToolDependency = z.strictObject({
  dependency_id: LineId,
  from_task_id: TaskId,
  to_task_id: TaskId,
  ...optionalOf(dependencyFields),
});
export type ToolDependency = z.infer<typeof ToolDependency>;

/** What build_constellation takes: a whole plan. */
export const ToolConstellation = z.strictObject({
  name: z.string().min(1).max(200).optional(),
  tasks: z.array(ToolTask).min(1).max(LIMITS.tasksMax),
  dependencies: z.array(ToolDependency).max(LIMITS.linesMax).default([]),
});
export type ToolConstellation = z.infer<typeof ToolConstellation>;

/** Input of each of the seven tools, by name. An absent field of an update stays as it is, null removes it. */
export const CONSTELLATION_TOOLS = {
  add_task: {
    about: 'Add a new task. The same task once more changes nothing.',
    input: ToolTask,
  },
  remove_task: {
    about: 'Remove a task that has not started, with all its dependencies.',
    input: z.strictObject({ task_id: TaskId }),
  },
  update_task: {
    about: 'Change fields of a task that has not started.',
    input: z.strictObject({
      task_id: TaskId,
      ...optionalOf({
        ...taskFields,
        command: taskFields.command.nullable(),
        inputs: taskFields.inputs.nullable(),
        files: taskFields.files.nullable(),
        board: taskFields.board.nullable(),
        verify: taskFields.verify.nullable(),
        replaces: taskFields.replaces.nullable(),
        timeout_seconds: taskFields.timeout_seconds.nullable(),
        deadline_seconds: taskFields.deadline_seconds.nullable(),
        attempts: taskFields.attempts.nullable(),
        waves: taskFields.waves.nullable(),
      }),
    }),
  },
  add_dependency: {
    about: 'Let one task wait for another one, which may have ended already.',
    input: ToolDependency,
  },
  remove_dependency: {
    about: 'Remove a dependency whose second task has not started.',
    input: z.strictObject({ dependency_id: LineId }),
  },
  update_dependency: {
    about: 'Change when a dependency is satisfied, or its description.',
    input: z.strictObject({
      dependency_id: LineId,
      ...optionalOf({
        type: dependencyFields.type,
        condition: dependencyFields.condition.nullable(),
        condition_description: dependencyFields.condition_description.nullable(),
      }),
    }),
  },
  build_constellation: {
    about:
      'Add or replace many tasks and dependencies at once; with clear_existing, what has not started and is not named goes.',
    input: z.strictObject({ config: ToolConstellation, clear_existing: z.boolean().default(true) }),
  },
} as const;
export type ConstellationTool = keyof typeof CONSTELLATION_TOOLS;
export const CONSTELLATION_TOOL_NAMES = Object.keys(CONSTELLATION_TOOLS) as ConstellationTool[];

/** The schema of its arguments is a parameter of its own, or every call would have those of all tools as its type. */
const call = <T extends ConstellationTool, I extends z.ZodType>(tool: T, { input }: { readonly input: I }) =>
  z.strictObject({ tool: z.literal(tool), arguments: input });

/** One call of one of the seven tools, as a model writes it. */
export const ConstellationToolCall = z.discriminatedUnion('tool', [
  call('add_task', CONSTELLATION_TOOLS.add_task),
  call('remove_task', CONSTELLATION_TOOLS.remove_task),
  call('update_task', CONSTELLATION_TOOLS.update_task),
  call('add_dependency', CONSTELLATION_TOOLS.add_dependency),
  call('remove_dependency', CONSTELLATION_TOOLS.remove_dependency),
  call('update_dependency', CONSTELLATION_TOOLS.update_dependency),
  call('build_constellation', CONSTELLATION_TOOLS.build_constellation),
]);
export type ConstellationToolCall = z.infer<typeof ConstellationToolCall>;

/** What each tool answers: the whole constellation as it stands after the call, all of it of one event. */
export const ConstellationSnapshot = z.strictObject({
  run_id: RunId,
  name: z.string(),
  status: z.string(),
  revision: z.int().min(0),
  /** Last event of the run that is contained. */
  sequence: z.int().min(0),
  tasks: z.array(
    z.strictObject({
      task_id: TaskId,
      name: z.string(),
      description: z.string(),
      tips: z.array(z.string()),
      target_device_id: DeviceId.optional(),
      target: z
        .strictObject({
          os: z.string().optional(),
          capabilities: z.array(z.string()).optional(),
          tags: z.array(z.string()).optional(),
          resources: ResourceFloor.optional(),
          where: z.string().optional(),
        })
        .optional(),
      command: PlannedCall.optional(),
      inputs: z.array(TaskInput).optional(),
      files: TaskFiles.optional(),
      board: TaskBoard.optional(),
      verify: Verification.optional(),
      review: z.boolean().optional(),
      deadline_seconds: z.number().optional(),
      replaces: z.array(TaskId).optional(),
      waves: taskFields.waves.optional(),
      /** Of a task on several devices, from its begin on: how far it is. Its devices are no tasks of their own here. */
      progress: z.string().optional(),
      /** What did its work in its place. */
      recovered_by: TaskId.optional(),
      status: TaskStatus,
      attempts: z.int().min(0),
      device_id: DeviceId.nullable(),
      /** Excerpt of what it answered; text of others. */
      result: z.string().nullable(),
      /** What it left for others: paths, sizes and hashes, the first of many. */
      files_left: z.array(z.string()).optional(),
      error: z.string().nullable(),
      modifiable: z.boolean(),
    }),
  ),
  dependencies: z.array(
    z.strictObject({
      dependency_id: LineId,
      from_task_id: TaskId,
      to_task_id: TaskId,
      type: LineType,
      condition: z.string().optional(),
      condition_description: z.string().optional(),
      satisfied: z.boolean().nullable(),
      modifiable: z.boolean(),
    }),
  ),
});
export type ConstellationSnapshot = z.infer<typeof ConstellationSnapshot>;
