import { z } from 'zod';
import {
  CreationReply,
  EditingReply,
  Evaluation,
  ExampleReply,
  Json,
  LinuxAgentReply,
  ScreenAppReply,
  ScreenHostReply,
} from '#proto';

export const PROMPT_LIMITS = {
  fileBytesMax: 256 * 1024,
  filesMax: 500,
  /** Nodes that aliases of one YAML document may stand for. */
  aliasesMax: 50,
} as const;

const Part = z.string().min(1);
const PART_NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** Texts by the name of the part. */
const Parts = z.record(z.string(), Part).superRefine((parts, context) => {
  const names = Object.keys(parts);
  if (names.length === 0) context.addIssue({ code: 'custom', message: 'needs at least one part' });
  for (const name of names.filter((one) => !PART_NAME.test(one))) {
    const message = 'the name of a part must be lower-case letters, digits and "_"';
    context.addIssue({ code: 'custom', path: [name], message });
  }
});

/** A file of templates: what stands under `visual` and `nonvisual` is for such models, under `any` for both. */
export const TemplateFile = z
  .strictObject({ visual: Parts.optional(), nonvisual: Parts.optional(), any: Parts.optional() })
  .refine((file) => Object.keys(file).length > 0, 'needs visual, nonvisual or any');
export type TemplateFile = z.infer<typeof TemplateFile>;

const Example = z.strictObject({
  /** For people who read the file. */
  name: z.string().min(1),
  request: z.string().min(1),
  /** What earlier steps have shown. */
  seen: z.string().min(1).optional(),
  response: z.record(z.string(), Json),
  /** Of a reply that should not be given: why not. */
  wrong: z.string().min(1).optional(),
});

/** What the responses of a file of examples may be. */
const REPLIES = {
  LinuxAgentReply,
  CreationReply,
  EditingReply,
  Evaluation,
  ExampleReply,
  ScreenAppReply,
  ScreenHostReply,
} as const;
const REPLY_NAMES = Object.keys(REPLIES) as (keyof typeof REPLIES)[];

/** A file of examples. `reply` names the schema that every response must fit. */
export const ExamplesFile = z
  .strictObject({ reply: z.enum([...REPLY_NAMES, 'free']), examples: z.array(Example).min(1).max(50) })
  .superRefine(({ reply, examples }, context) => {
    if (reply === 'free') return;
    for (const [index, { response }] of examples.entries()) {
      for (const issue of REPLIES[reply].safeParse(response).error?.issues ?? []) {
        context.addIssue({
          code: 'custom',
          path: ['examples', index, 'response', ...issue.path],
          message: issue.message,
        });
      }
    }
  });
