import { z } from 'zod';
import { Json } from './ids.js';
import { Note } from './model.js';

const said = {
  observation: z.string().max(20_000).default(''),
  thought: z.string().max(20_000),
  /** What is still to be done, in order. */
  plan: z.array(z.string().max(2_000)).max(50).default([]),
  /** For people. */
  comment: z.string().max(4_000).default(''),
  /** Facts worth keeping: they stay in the agent's memory and are shared with the agents of the run. */
  notes: z.array(Note).max(20).default([]),
  /** The textual result of the task; needed with FINISH and FAIL. */
  result: z.string().max(200_000).default(''),
} as const;

const call = {
  /** Name of a tool; empty for no call. */
  function: z.string().max(128).default(''),
  arguments: z.record(z.string(), Json).default({}),
} as const;

/** States of the LinuxAgent. */
export const LinuxAgentStatus = z.enum(['CONTINUE', 'FINISH', 'FAIL']);
export type LinuxAgentStatus = z.infer<typeof LinuxAgentStatus>;

/** What the model of a LinuxAgent answers in one step: one object, one action. */
export const LinuxAgentReply = z
  .strictObject({ ...said, action: z.strictObject({ ...call, status: LinuxAgentStatus }) })
  .superRefine(({ action, result }, context) => {
    const { status } = action;
    if (status === 'CONTINUE' && action.function === '') {
      const message = 'CONTINUE needs a function to call; use FINISH or FAIL when there is nothing left to call';
      context.addIssue({ code: 'custom', path: ['action', 'function'], message });
    }
    if (status !== 'CONTINUE' && result === '') {
      context.addIssue({ code: 'custom', path: ['result'], message: `${status} needs a result` });
    }
  });
export type LinuxAgentReply = z.infer<typeof LinuxAgentReply>;
