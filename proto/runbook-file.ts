import { z } from 'zod';
import { PlannedCall, LineType, ResourceFloor, TaskInput } from './constellation.js';
import { LineId, TaskId } from './ids.js';
import { LIMITS } from './limits.js';
import { RunbookName, RunbookParameter } from './runbooks.js';

/** Bounds of one runbook, beside those of every constellation. */
export const RUNBOOK_LIMITS = {
  parametersMax: 32,
  matchesMax: 50,
  matchCharsMax: 300,
  /** Placeholders of one pattern of goals. */
  placeholdersMax: 8,
  /** A value of a parameter. */
  valueCharsMax: 20_000,
} as const;

/** A text that may hold placeholders: `{{ p.days }}`. */
const Text = (charsMax: number) => z.string().min(1).max(charsMax);
const Texts = z.union([z.array(Text(200)).max(32), Text(200)], {
  error: 'must be a list of texts, or one placeholder that is a list: "{{ p.tags | list }}"',
});
/** A number, or one placeholder that is one. */
const NumberOrText = z.union([z.number(), Text(200)], { error: 'must be a number or one placeholder' });

/** A selector before its placeholders have values. */
const SelectorTemplate = z.strictObject({
  os: Text(200).optional(),
  capabilities: Texts.optional(),
  tags: Texts.optional(),
  resources: ResourceFloor.optional(),
  where: Text(LIMITS.conditionCharsMax).optional(),
});

/** Patterns and places before their placeholders have values, which are names or parts of names. */
const FileInputTemplate = z.union(
  [TaskId, z.strictObject({ from: TaskId, file: Text(400).optional(), to: Text(800).optional() })],
  'files are taken of a task by its id, or by {"from": id, "file": a pattern, "to": a place}',
);
const TaskFilesTemplate = z.strictObject({
  in: z.array(FileInputTemplate).min(1).max(LIMITS.filesMax).optional(),
  out: z.array(Text(400)).min(1).max(LIMITS.filePatternsMax).optional(),
});

/** A task of the vocabulary of ToolTask, whose texts may hold placeholders. */
export const RunbookTask = z
  .strictObject({
    task_id: TaskId,
    name: Text(400),
    description: z.string().max(20_000).default(''),
    tips: z.array(z.string().max(2_000)).max(50).optional(),
    target_device_id: Text(200).optional(),
    target: SelectorTemplate.optional(),
    /** Once on every device that satisfies `target` when the task starts, wave by wave. */
    waves: z
      .strictObject({
        size: NumberOrText.optional(),
        pause_seconds: NumberOrText.optional(),
        max_failures: NumberOrText.optional(),
      })
      .optional(),
    /** One task for every device that satisfies it when the plan is made: `<task_id>-<device id>`. */
    for_each: SelectorTemplate.optional(),
    command: PlannedCall.optional(),
    inputs: z.array(TaskInput).max(100).optional(),
    files: TaskFilesTemplate.optional(),
    verify: z
      .strictObject({ command: PlannedCall.optional(), condition: Text(LIMITS.conditionCharsMax).optional() })
      .optional(),
    review: z.boolean().optional(),
    replaces: z.array(TaskId).min(1).max(100).optional(),
    timeout_seconds: NumberOrText.optional(),
    deadline_seconds: NumberOrText.optional(),
    attempts: NumberOrText.optional(),
    priority: z.int().optional(),
    idempotent: z.boolean().optional(),
  })
  .refine(
    ({ target_device_id: device, target, for_each: each }) =>
      [device, target, each].filter((one) => one !== undefined).length === 1,
    { error: 'needs exactly one of target_device_id, target and for_each' },
  )
  .refine(({ target, waves }) => waves === undefined || target !== undefined, {
    path: ['waves'],
    error: 'waves go over the devices of target; give target a selector, or leave waves out',
  });
export type RunbookTask = z.infer<typeof RunbookTask>;

export const RunbookDependency = z.strictObject({
  dependency_id: LineId,
  from_task_id: TaskId,
  to_task_id: TaskId,
  type: LineType.optional(),
  condition: Text(LIMITS.conditionCharsMax).optional(),
  condition_description: z.string().max(2_000).optional(),
});
export type RunbookDependency = z.infer<typeof RunbookDependency>;

/** A reviewed plan with parameters, as somebody writes it: `prompts/runbooks/<name>.yaml`. */
export const RunbookFile = z.strictObject({
  name: RunbookName,
  title: z.string().min(1).max(200),
  description: z.string().min(1).max(2_000),
  /** Goals that it is used for: words and `{parameter}`. */
  matches: z.array(z.string().min(1).max(RUNBOOK_LIMITS.matchCharsMax)).max(RUNBOOK_LIMITS.matchesMax).default([]),
  parameters: z.array(RunbookParameter).max(RUNBOOK_LIMITS.parametersMax).default([]),
  constellation: z.strictObject({
    tasks: z.array(RunbookTask).min(1).max(LIMITS.tasksMax),
    dependencies: z.array(RunbookDependency).max(LIMITS.linesMax).default([]),
  }),
});
export type RunbookFile = z.infer<typeof RunbookFile>;
