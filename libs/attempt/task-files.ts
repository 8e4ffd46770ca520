import {
  type AttemptFiles,
  FILE_ENDS,
  type FileEnd,
  filePatternOf,
  FilePath,
  landsAt,
  LIMITS,
  matchesGlob,
  type ResultFile,
  type TaskResult,
  type WorkspaceFile,
} from '#proto';

type Taken = NonNullable<AttemptFiles['in']>[number];

/** What an attempt takes of one other, and what that one left. */
export interface FilesOfSource {
  readonly taken: Taken;
  readonly left: readonly WorkspaceFile[];
}

/** What has to lie in the workspace of an attempt before it begins, or why it never can. */
export type FilesToBring =
  | { readonly kind: 'files'; readonly files: readonly WorkspaceFile[] }
  | { readonly kind: 'impossible'; readonly code: FileEnd; readonly message: string };

/** Where the files of other attempts land. The same sources give the same files, in the same order. */
export function filesToBring(sources: readonly FilesOfSource[]): FilesToBring {
  const places = new Map<string, { readonly file: WorkspaceFile; readonly of: string; readonly words: string }>();
  let bytes = 0;
  for (const { taken, left } of sources) {
    const { taskId, file: pattern, to } = taken;
    const { glob, isOptional } = filePatternOf(pattern ?? '**');
    const meant = left.filter(({ path }) => matchesGlob(path, glob));
    if (meant.length === 0 && pattern !== undefined && !isOptional)
      return impossible('missing', `"${taskId}" left no file for "${pattern}"; it left ${namesOf(left)}`);
    for (const file of meant) {
      const path = landsAt(file.path, to);
      const [of, words] = [`${taskId} ${file.path}`, `"${file.path}" of "${taskId}"`];
      const place = `${words} would land at "${path}"`;
      if (!FilePath.safeParse(path).success) return impossible('refused', `${place}, which is too long, or too deep`);
      const other = places.get(path);
      if (other === undefined) bytes += file.bytes;
      else if (other.of !== of)
        return impossible('clash', `${place}, where ${other.words} lands; "to" gives one of them another directory`);
      places.set(path, { file: { ...file, path }, of, words });
    }
  }
  const { filesMax, filesBytesMax } = LIMITS;
  if (places.size > filesMax)
    return impossible('tooMany', `its predecessors left ${places.size} files for it; at most ${filesMax} are brought`);
  if (bytes > filesBytesMax)
    return impossible('tooLarge', `the files for it have ${bytes} bytes; at most ${filesBytesMax} are brought`);
  const inside = [...places.keys()].find((path) => directoriesOf(path).some((directory) => places.has(directory)));
  if (inside !== undefined)
    return impossible('clash', `"${inside}" would land in a directory where a file of the same name lands`);
  return { kind: 'files', files: [...places.values()].map(({ file }) => file) };
}

const impossible = (end: keyof typeof FILE_ENDS, message: string): FilesToBring => ({
  kind: 'impossible',
  code: FILE_ENDS[end],
  message,
});

const NAMED_MAX = 5;

function namesOf(files: readonly WorkspaceFile[]): string {
  if (files.length === 0) return 'none';
  const more = files.length > NAMED_MAX ? ` and ${files.length - NAMED_MAX} more` : '';
  const named = files.slice(0, NAMED_MAX).map(({ path }) => path);
  return `${named.join(', ')}${more}`;
}

function directoriesOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** What a task has left for others, as its result names it. */
export type LeftFiles = Pick<TaskResult, 'files' | 'fileList'>;

/** Of what a task has left its result names so many; of more there is a list in ARTIFACTS. */
export function leftFiles(files: readonly WorkspaceFile[]): ResultFile[] {
  return files.slice(0, LIMITS.resultFilesMax).map(resultFileOf);
}

/** A file of a workspace as a result names it. Nobody has looked at what is in it. */
export const resultFileOf = ({ path, mode, sha256, bytes }: WorkspaceFile): ResultFile => ({
  name: path.slice(path.lastIndexOf('/') + 1),
  mediaType: 'application/octet-stream',
  artifact: { sha256, bytes },
  path,
  mode,
});

/** The files of a result that others can take, as far as it names them itself. */
export function workspaceFilesOf({ files = [] }: Pick<TaskResult, 'files'>): WorkspaceFile[] {
  return files.flatMap(({ path, mode, artifact }) =>
    path === undefined || mode === undefined || artifact === undefined ? [] : [{ path, mode, ...artifact }],
  );
}

/** A result with what the task has left before what its commands came back with. */
export function leaving(result: TaskResult, left: LeftFiles | undefined): TaskResult {
  if (left === undefined) return result;
  const files = [...(left.files ?? []), ...(result.files ?? [])].slice(0, LIMITS.resultFilesMax);
  const { fileList } = left;
  return { ...result, ...(files.length > 0 && { files }), ...(fileList && { fileList }) };
}
