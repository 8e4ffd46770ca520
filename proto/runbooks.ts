import { z } from 'zod';
import { Instant, Json, Sha256 } from './ids.js';
import { ToolConstellation } from './constellation-tools.js';

export const RunbookName = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be lower-case letters, digits and "-"');
export type RunbookName = z.infer<typeof RunbookName>;

export const RunbookParameter = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be lower-case letters, digits and "_"'),
  description: z.string().min(1).max(500),
  type: z.enum(['string', 'integer', 'number', 'boolean', 'device']).default('string'),
  required: z.boolean().default(false),
  default: z.union([z.string(), z.number(), z.boolean()]).optional(),
  /** A regular expression for the whole text: characters, classes, groups, `|`, `? * + {n,m}`; run without backtracking. */
  pattern: z.string().max(200).optional(),
  enum: z.array(z.string().max(200)).max(50).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
});
export type RunbookParameter = z.infer<typeof RunbookParameter>;

/** A runbook as it is listed. */
export const RunbookInfo = z.strictObject({
  name: RunbookName,
  title: z.string(),
  description: z.string(),
  parameters: z.array(RunbookParameter),
  /** Goals that it is used for, as people write them. */
  matches: z.array(z.string()),
  hash: Sha256,
  source: z.enum(['shipped', 'operator']),
});
export type RunbookInfo = z.infer<typeof RunbookInfo>;

/** How a goal would be planned. */
export const GoalMatch = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('runbook'), name: RunbookName, parameters: z.record(z.string(), Json) }),
  z.strictObject({ kind: z.literal('model') }),
  /** `message`: one sentence: what is missing and what can be done. */
  z.strictObject({ kind: z.literal('none'), message: z.string() }),
]);
export type GoalMatch = z.infer<typeof GoalMatch>;

/** What somebody did by hand, step by step, for the planner to learn from. */
export const Demonstration = z.strictObject({
  name: z.string().min(1).max(200),
  request: z.string().min(1).max(4_000),
  steps: z
    .array(
      z.strictObject({
        device: z.string().max(64).optional(),
        description: z.string().min(1).max(2_000),
        command: z.string().max(4_000).optional(),
        result: z.string().max(4_000).optional(),
      }),
    )
    .min(1)
    .max(100),
});
export type Demonstration = z.infer<typeof Demonstration>;

/** An example that the planner has learnt. */
export const Experience = z.strictObject({
  id: z.string().min(1).max(64),
  kind: z.enum(['experience', 'demonstration']),
  request: z.string(),
  tips: z.array(z.string()),
  constellation: ToolConstellation,
  /** The run, or the name of the demonstration, that it was made of. */
  source: z.string().max(200),
  learntBy: z.string().max(200),
  learntAt: Instant,
});
export type Experience = z.infer<typeof Experience>;
