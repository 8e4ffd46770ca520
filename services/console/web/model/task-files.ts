import type { ResultFile, RunView, Sha256, TaskResult, TaskView } from '#proto';

/** A file that a task has left, or that one of its tools has answered with. */
export interface TaskFile {
  readonly taskId: string;
  readonly taskName: string;
  /** Where it lies in the workspace, or else its name. */
  readonly path: string;
  readonly file: ResultFile;
}

/** Tasks that have left more files than their results name: how many, and where the list of all is. */
export interface LongFileList {
  readonly taskId: string;
  readonly files: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** The files of all tasks, also of those that failed, in the order of the plan. */
export function filesOfRun({ tasks }: Pick<RunView, 'tasks'>): {
  readonly files: readonly TaskFile[];
  readonly more: readonly LongFileList[];
} {
  return {
    files: tasks.flatMap((task) =>
      (resultOf(task)?.files ?? []).map((file) => ({
        taskId: task.id,
        taskName: task.name,
        path: file.path ?? file.name,
        file,
      })),
    ),
    more: tasks.flatMap((task) => longListOf(task.id, resultOf(task)) ?? []),
  };
}

/** Whether it is a picture that is kept no longer: nobody can fetch it. */
export const isDropped = ({ artifact }: ResultFile, dropped: ReadonlySet<Sha256>): boolean =>
  artifact !== undefined && dropped.has(artifact.sha256);

/** Undefined where the result names all that was left. */
export function longListOf(taskId: string, result: Pick<TaskResult, 'fileList'> | undefined): LongFileList | undefined {
  const list = result?.fileList;
  return list && { taskId, files: list.files, bytes: list.bytes, sha256: list.artifact.sha256 };
}

/** What is said when nobody has looked at what is in a file. */
const UNKNOWN_TYPE = 'application/octet-stream';

/** Of what kind a file is and what may be done with it, as far as somebody knows. */
export function fileKind({ mediaType, mode }: Pick<ResultFile, 'mediaType' | 'mode'>, ...more: string[]): string {
  return [mediaType === UNKNOWN_TYPE ? '' : mediaType, mode === undefined ? '' : `mode ${mode}`, ...more]
    .filter((text) => text !== '')
    .join(' · ');
}

const resultOf = ({ result, error }: TaskView) => result ?? error?.output;
