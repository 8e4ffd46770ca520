import { z } from 'zod';
import { FilePath, FilePattern } from './files.js';
import { RunId, TaskId } from './ids.js';
import { LIMITS } from './limits.js';

/** Where files land: below a directory when it ends with `/`, otherwise the path of the one file. */
const FileGoal = z.string().refine((to) => FilePath.safeParse(to.endsWith('/') ? to.slice(0, -1) : to).success, {
  error: 'files land in a directory of the workspace, such as logs/web-1/, or one file at a path, such as web-1.csv',
});

const taken = {
  /** Of its files those that this means; all of them when left out. */
  file: FilePattern.optional(),
  /** Where they land; at the paths they have when left out. */
  to: FileGoal.optional(),
} as const;

/** Files that a task takes of a predecessor: all of them, or some, to another place. */
export const FileInput = z.union(
  [TaskId, z.strictObject({ from: TaskId, ...taken })],
  'files are taken of a task by its id, or by {"from": id, "file": a pattern, "to": a directory with a / at its end, or the path of the one file}',
);
export type FileInput = z.infer<typeof FileInput>;

/** What is taken of which task, whichever way it was written. */
export const filesTaken = (input: FileInput): Exclude<FileInput, string> =>
  typeof input === 'string' ? { from: input } : input;

/** Where a file of a predecessor lands. */
export function landsAt(path: FilePath, to: string | undefined): string {
  if (to === undefined) return path;
  return to.endsWith('/') ? `${to}${path}` : to;
}

/** Files that lie in the workspace before a task begins, and that it leaves there for others. */
export const TaskFiles = z
  .strictObject({
    in: z.array(FileInput).min(1).max(LIMITS.filesMax).optional(),
    out: z.array(FilePattern).min(1).max(LIMITS.filePatternsMax).optional(),
  })
  .refine((files) => files.in !== undefined || files.out !== undefined, {
    error: 'files has in (what the task takes of predecessors), out (what it leaves for others), or both',
  });
export type TaskFiles = z.infer<typeof TaskFiles>;

/** The same of an attempt: `in` names the attempts whose files they are. */
export const AttemptFiles = z.strictObject({
  in: z
    .array(
      z.strictObject({
        taskId: TaskId,
        attempt: z.int().min(1),
        /** Of an attempt that was made in a run that this one was forked from. */
        runId: RunId.optional(),
        ...taken,
      }),
    )
    // Of a task on several devices there is one for each of them; how many files that may be is told when they are known.
    .max(LIMITS.tasksMax)
    .optional(),
  out: z.array(FilePattern).max(LIMITS.filePatternsMax).optional(),
});
export type AttemptFiles = z.infer<typeof AttemptFiles>;
