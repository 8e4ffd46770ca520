import { z } from 'zod';
import { type ApprovalId, type RunVerb, VERB_DECISIONS, VERB_FIELDS } from '#proto';

/** The verbs about an approval, by the word that stands for each. */
export const VERB_OF: ReadonlyMap<string, RunVerb> = new Map(
  VERB_DECISIONS.map(({ decision, verb }) => [decision, verb]),
);

const [first, ...others] = VERB_DECISIONS.map(({ decision, verb }) =>
  z.strictObject({ decision: z.literal(decision), ...VERB_FIELDS[verb].shape }),
);
if (first === undefined) throw new Error('no verb is about an approval');

/** What a person says about an approval, as the body of `POST /v1/approvals`: the fields of the verb and which one it is. */
export const ApprovalWord = z.discriminatedUnion('decision', [first, ...others]) as unknown as z.ZodType<{
  readonly decision: string;
  readonly approvalId: ApprovalId;
}>;
