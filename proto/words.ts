import { z } from 'zod';
import { Actor } from './actors.js';
import { Instant } from './ids.js';
import { LIMITS } from './limits.js';

/** What somebody says to a run: as long as a goal may be, kept as it was said, and shown with nothing hidden in it. */
export const WordsText = z
  .string()
  .min(1)
  .max(LIMITS.wordsCharsMax)
  .refine((text) => text.trim() !== '', 'there must be something in it');

/** One more thing that somebody wants of a run. They count from 1 in it. */
export const SaidWords = z.strictObject({
  number: z.int().min(1),
  by: Actor,
  text: WordsText,
  saidAt: Instant,
  /** A program said it with what `by` has given it: nobody knows whether he has read it. */
  delegated: z.literal(true).optional(),
});
export type SaidWords = z.infer<typeof SaidWords>;
