import { z } from 'zod';
import { VERB_FIELDS } from '#libs/messaging';

/** What a person says about an approval, as the body of `POST /v1/approvals`: the fields of the verb and which one it is. */
export const ApprovalWord = z.discriminatedUnion('decision', [
  z.strictObject({ decision: z.literal('approve'), ...VERB_FIELDS.APPROVE.shape }),
  z.strictObject({ decision: z.literal('reject'), ...VERB_FIELDS.REJECT.shape }),
  z.strictObject({ decision: z.literal('answer'), ...VERB_FIELDS.ANSWER.shape }),
]);
export type ApprovalWord = z.infer<typeof ApprovalWord>;

export const VERB_OF = { approve: 'APPROVE', reject: 'REJECT', answer: 'ANSWER' } as const;
