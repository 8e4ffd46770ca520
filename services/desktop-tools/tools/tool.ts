import { z, type ZodObject } from 'zod';
import type { Caller, HostedTool } from '#libs/mcp';
import { ATTEMPT_META, AttemptKey, ON_META, RUN_DIRECTORY_META, SECRET_META, SeenOn } from '#proto';
import { DesktopFault } from '../faults/index.js';

/** A tool with its types, as one of many. */
export const toolOf = <Input extends ZodObject, Output extends ZodObject>(
  tool: HostedTool<Input, Output>,
): HostedTool => ({
  ...tool,
  run: (args, signal, caller) => tool.run(tool.input.parse(args), signal, caller),
});

export const RectShape = z.array(z.int()).length(4);

/** A window or control as a target. What is not of UFO's shape stands beside what is. */
export const TargetShape = z.object({
  kind: z.enum(['window', 'control']),
  name: z.string(),
  id: z.string(),
  type: z.string(),
  rect: RectShape.nullable(),
  state: z.array(z.string()).optional(),
  value: z.string().optional(),
  application: z.string().optional(),
  listed: z.boolean().optional(),
  terminal: z.boolean().optional(),
});
export type TargetShape = z.infer<typeof TargetShape>;

/** The same by the names of fields. */
export const InfoShape = z.object({
  label: z.string(),
  control_text: z.string(),
  control_type: z.string(),
  control_rect: RectShape,
  application: z.string().optional(),
  listed: z.boolean().optional(),
  terminal: z.boolean().optional(),
  responding: z.boolean().optional(),
  state: z.array(z.string()).optional(),
  value: z.string().optional(),
});
export type InfoShape = z.infer<typeof InfoShape>;

export const ListShape = <T extends z.ZodType>(item: T) =>
  z.object({
    result: z.array(item),
    /** What an agent says that it saw. */
    listing: z.string(),
    window: z
      .object({
        application: z.string(),
        window: z.string(),
        /** Of a dialog for files, where its run has a directory here: a path in there may be set as a whole unasked. */
        run_directory: z.string().optional(),
      })
      .optional(),
    /** There is more than is listed. */
    more: z.boolean().optional(),
    /** The program tells nothing of its controls: there are only pictures. */
    pictures_only: z.boolean().optional(),
  });

export const TextShape = z.object({ result: z.string() });
export const ActedShape = z.object({
  result: z.string(),
  settled: z.boolean(),
  /** Another window has come to the front. */
  changed: z.boolean(),
});

export const FieldList = z.array(z.string().max(64)).max(32).optional();
export const Id = z.string().max(32);
export const Name = z.string().max(1_024);

/** What the agent of a call saw, which was judged; undefined: it says nothing of it. */
export function seenOnDesk({ meta }: Caller): SeenOn | undefined {
  if (meta[ON_META] === undefined) return undefined;
  const parsed = SeenOn.safeParse(meta[ON_META]);
  if (parsed.success) return parsed.data;
  throw new DesktopFault('MISMATCH', 'what was seen is not said in a way that can be compared');
}

/** The attempt that a call is of; undefined: it says none. */
export const callersAttempt = ({ meta }: Caller): AttemptKey | undefined =>
  AttemptKey.safeParse(meta[ATTEMPT_META]).data;

/** The directory of the run that a call is of; undefined: its commands have none. */
export function runDirectoryOf({ meta }: Caller): string | undefined {
  const directory = meta[RUN_DIRECTORY_META];
  return typeof directory === 'string' ? directory : undefined;
}

/** The value of the secret that a call names; undefined: there is none with it. */
export function secretOf({ meta }: Caller): string | undefined {
  const value = meta[SECRET_META];
  return typeof value === 'string' ? value : undefined;
}
