import {
  type AttemptFiles,
  type AttemptKey,
  FileList,
  INPUT_UNAVAILABLE,
  type TaskResult,
  type WorkspaceFile,
} from '#proto';
import { Ends, leftFiles, type LeftFiles, workspaceFilesOf, type FilesOfSource } from '#libs/attempt';
import { ArtifactError } from '#libs/messaging';
import { type Artifacts, type InputSources, readSource } from './inputs.adapter.js';

/** What the attempts have left whose files are taken. Throws Ends when the list of them is gone. */
export function readFileSources(
  key: AttemptKey,
  taken: NonNullable<AttemptFiles['in']>,
  { attempts, artifacts }: InputSources,
): Promise<FilesOfSource[]> {
  return Promise.all(
    taken.map(async (one) => {
      const { result } = await readSource(key, one, attempts);
      return { taken: one, left: result === null ? [] : await listOf(result, artifacts) };
    }),
  );
}

async function listOf(result: TaskResult, artifacts: Artifacts): Promise<WorkspaceFile[]> {
  if (result.fileList === undefined) return workspaceFilesOf(result);
  try {
    const json = new TextDecoder().decode(await artifacts.get(result.fileList.artifact.sha256));
    return FileList.parse(JSON.parse(json));
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    const message = `the list of the files that it takes cannot be read: ${error.message}`;
    throw new Ends({ kind: 'failed', code: INPUT_UNAVAILABLE, message });
  }
}

/** What an event names of what a task has left; the list of many is stored before the event names it. */
export async function storedFiles(files: readonly WorkspaceFile[], artifacts: Artifacts): Promise<LeftFiles> {
  if (files.length === 0) return {};
  const named = leftFiles(files);
  if (named.length === files.length) return { files: named };
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const artifact = await artifacts.put(new TextEncoder().encode(JSON.stringify(files)));
  return { files: named, fileList: { files: files.length, bytes, artifact } };
}

/** How much is stored of a content; undefined when nothing is. */
export async function storedBytes(sha256: string, artifacts: Artifacts): Promise<number | undefined> {
  try {
    return await artifacts.size(sha256);
  } catch (error) {
    if (error instanceof ArtifactError) return undefined;
    throw error;
  }
}
