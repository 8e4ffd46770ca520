import { z } from 'zod';

/** What a run, or one attempt of it, may use up. Absent: no bound of its own. */
export const Budget = z.strictObject({
  llmCalls: z.int().min(0).optional(),
  /** Prompt and completion together. */
  tokens: z.int().min(0).optional(),
  commands: z.int().min(0).optional(),
  /** By the price table of the service that calls the model, in US dollars. */
  costUsd: z.number().min(0).optional(),
});
export type Budget = z.infer<typeof Budget>;

/** What was used up. */
export const Usage = z.strictObject({
  llmCalls: z.int().min(0),
  tokens: z.int().min(0),
  commands: z.int().min(0),
  /** 0 where the price of a model is not known. */
  costUsd: z.number().min(0),
});
export type Usage = z.infer<typeof Usage>;

export const NO_USAGE: Usage = { llmCalls: 0, tokens: 0, commands: 0, costUsd: 0 };
