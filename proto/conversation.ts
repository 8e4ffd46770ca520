import { z } from 'zod';
import { ApprovalId } from './approvals.js';
import { EditId, Instant, RunId } from './ids.js';

/** Who speaks: a person or a program outside by name, the planner of the run, an agent on a device, the system itself. */
export const Speaking = z.enum(['person', 'program', 'planner', 'agent', 'system']);
export type Speaking = z.infer<typeof Speaking>;

/**
 * What was said in a run, an item at a time. `goal`: what was asked. `words`: one more thing. `question` and `answer`: of an agent, and
 * of whom it asked. `round`: the planner is asked, and why. `plan`: what it answered. `silence`: it came to no answer. `end`: how the run
 * ended, with its final answer. `reopened`: the end was taken back.
 */
export const ConversationItem = z.strictObject({
  kind: z.enum(['goal', 'words', 'question', 'answer', 'round', 'plan', 'silence', 'end', 'reopened']),
  /** The event that says it. */
  sequence: z.int().min(1),
  at: Instant,
  who: Speaking,
  by: z.string(),
  text: z.string(),
  /** A model wrote the text. */
  model: z.literal(true).optional(),
  /** A program said it with what a person has given it. */
  delegated: z.literal(true).optional(),
  /** Of words: the number that they have in the run. */
  number: z.int().min(1).optional(),
  /** The round that it belongs to. */
  editId: EditId.optional(),
  /** The question that it belongs to. */
  approvalId: ApprovalId.optional(),
});
export type ConversationItem = z.infer<typeof ConversationItem>;

/** All of it, in order: `GET /v1/runs/:id/conversation`. */
export const RunConversation = z.strictObject({ runId: RunId, conversation: z.array(ConversationItem) });
export type RunConversation = z.infer<typeof RunConversation>;
