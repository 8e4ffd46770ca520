import { z } from 'zod';
import { Json, Note } from '#proto';

const said = {
  observation: z.string().default(''),
  thought: z.string(),
  plan: z.array(z.string()).default([]),
  comment: z.string().default(''),
  notes: z.array(Note).default([]),
  result: z.string().default(''),
} as const;
const call = { function: z.string().default(''), arguments: z.record(z.string(), Json).default({}) } as const;

/** What the model of a HostAgent answers. With ASSIGN the arguments name an agent and say, in full, what it is to do. */
export const HostAgentReply = z.strictObject({
  ...said,
  action: z.strictObject({ ...call, status: z.enum(['CONTINUE', 'ASSIGN', 'FINISH', 'FAIL']) }),
});
export type HostAgentReply = z.infer<typeof HostAgentReply>;

/** What the model of an AppAgent answers. */
export const AppAgentReply = z.strictObject({
  ...said,
  action: z.strictObject({ ...call, status: z.enum(['CONTINUE', 'FINISH', 'FAIL']) }),
});
export type AppAgentReply = z.infer<typeof AppAgentReply>;
