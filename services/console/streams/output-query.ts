import { z } from 'zod';
import { CONTEXT_LINES_MAX, matcherOf, type OutputWish } from '#libs/output';
import { FilePath, TaskId } from '#proto';
import { numberIn, RefusedError, valid, type SaidInAddress } from '../http/index.js';

const Flag = z.enum(['true', 'false']);

/** What stands behind the `?` of an address of outputs. Without a `format` they are followed while they are written. */
const OutputQuery = z.strictObject({
  format: z.enum(['text', 'json']).optional(),
  task: TaskId.optional(),
  attempt: z.int().min(1).optional(),
  /** `2`, or `2.0` for one command of it. */
  step: z
    .string()
    .regex(/^\d{1,4}(\.\d{1,4})?$/u, { error: 'must be a number, or two with a dot: 2 or 2.0' })
    .optional(),
  failed: Flag.optional(),
  stream: z.enum(['stdout', 'stderr', 'result', 'answer']).optional(),
  /** The name of a file that a tool answered with, or the path of one that a task left. */
  artifact: FilePath.optional(),
  grep: z.string().min(1).max(250).optional(),
  fixed: Flag.optional(),
  ignoreCase: Flag.optional(),
  context: z.int().min(0).max(CONTEXT_LINES_MAX).optional(),
});
type OutputQuery = z.infer<typeof OutputQuery>;

/** Which outputs are asked for. Throws RefusedError. */
export function outputQueryIn(
  said: SaidInAddress,
): Pick<OutputQuery, 'format' | 'artifact'> & { readonly wish: OutputWish } {
  const query = valid(OutputQuery, {
    ...said,
    ...numberIn('attempt', said['attempt']),
    ...numberIn('context', said['context']),
  });
  const { format, artifact, task, step, attempt, failed, stream, ...more } = query;
  const shown = Object.entries({ format, stream, ...more }).find(([, value]) => value !== undefined);
  if (artifact !== undefined && shown !== undefined) throw refused(`${shown[0]} is not for a file: leave it out`);
  const part = Object.entries({ step, attempt, failed, stream, ...more }).find(([, value]) => value !== undefined);
  if (format === undefined && artifact === undefined && part !== undefined) {
    throw refused(`${part[0]} is for what is recorded: say format=text or format=json with it`);
  }
  const [turn, index] = step?.split('.').map(Number) ?? [];
  const streams = stream === undefined ? undefined : [stream];
  const wish = { taskId: task, attempt, step: turn, index, failed: failed === 'true', streams, search: searchOf(more) };
  return { format, artifact, wish };
}

function searchOf({
  grep,
  fixed,
  ignoreCase,
  context,
}: Pick<OutputQuery, 'grep' | 'fixed' | 'ignoreCase' | 'context'>): OutputWish['search'] {
  if (grep === undefined) return undefined;
  const search = {
    pattern: grep,
    fixed: fixed === 'true',
    ignoreCase: ignoreCase === 'true',
    before: context,
    after: context,
  };
  try {
    matcherOf(search);
  } catch (error) {
    throw refused(`grep: ${error instanceof Error ? error.message : String(error)}; with fixed=true it is a text`);
  }
  return search;
}

const refused = (message: string): RefusedError => new RefusedError({ code: 'INVALID_REQUEST', message });
