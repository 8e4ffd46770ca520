import { basename } from 'node:path';
import {
  FILE_ENDS,
  isWorkspaceTool,
  type Json,
  LIMITS,
  parseWith,
  type ResultFile,
  sentenceOf,
  WORKSPACE_IN,
  WorkspaceInInput,
  WorkspaceOutInput,
  type WorkspaceFile,
} from '#proto';
import { ToolFailure } from '#libs/mcp';
import { errorCode } from '../faults/index.js';
import { diskFailure, type FileErrand } from '../files/index.js';
import { FileProblem } from './file-problem.js';
import { WorkspaceIn, type WorkspaceInOptions } from './workspace-in.client.js';
import { WorkspaceOut, type WorkspaceOutOptions } from './workspace-out.client.js';

export type MoveEnd =
  | { readonly kind: 'moved'; readonly result: Json; readonly files: readonly ResultFile[] }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  /** Nobody wants it any more. */
  | { readonly kind: 'aborted' };

export type WorkspaceToolsOptions = WorkspaceInOptions & WorkspaceOutOptions;

/**
 * Both tools of the system that move files of a workspace. They may be run again after a crash: what is stored is not sent again, what is there
 * is not fetched again.
 */
export class WorkspaceTools {
  readonly #out: WorkspaceOut;
  readonly #in: WorkspaceIn;

  constructor(options: WorkspaceToolsOptions) {
    this.#out = new WorkspaceOut(options);
    this.#in = new WorkspaceIn(options);
  }

  /** Never rejects. `workspace`: where it is; it is there. */
  async call(
    tool: string,
    args: Readonly<Record<string, Json>>,
    errand: FileErrand,
    workspace: string,
  ): Promise<MoveEnd> {
    try {
      return await this.#called(tool, args, errand, workspace);
    } catch (error) {
      if (errand.signal.aborted) return { kind: 'aborted' };
      if (error instanceof FileProblem) return { kind: 'failed', code: error.code, message: error.message };
      if (error instanceof ToolFailure) return { kind: 'failed', code: FILE_ENDS.tooLarge, message: error.message };
      if (errorCode(error) === 'ENOSPC')
        return { kind: 'failed', code: FILE_ENDS.diskFull, message: diskFailure(error).message };
      return { kind: 'failed', code: FILE_ENDS.unavailable, message: diskFailure(error).message };
    }
  }

  async #called(
    tool: string,
    args: Readonly<Record<string, Json>>,
    errand: FileErrand,
    workspace: string,
  ): Promise<MoveEnd> {
    if (tool === WORKSPACE_IN) {
      const input = parseWith(WorkspaceInInput, args);
      if (!input.ok) return invalid(input.issues.map(sentenceOf));
      return { kind: 'moved', result: { ...(await this.#in.run(workspace, input.value, errand)) }, files: [] };
    }
    const input = parseWith(WorkspaceOutInput, args);
    if (!isWorkspaceTool(tool) || !input.ok) return invalid(input.ok ? [] : input.issues.map(sentenceOf));
    const { files, skipped } = await this.#out.run(workspace, input.value, errand);
    const listed = files.slice(0, LIMITS.resultFilesMax).map(resultFileOf);
    return { kind: 'moved', result: { files: files.map((file) => ({ ...file })), skipped }, files: listed };
  }
}

const invalid = (sentences: readonly string[]): MoveEnd => ({
  kind: 'failed',
  code: 'INVALID_COMMAND',
  message: sentences.join('; '),
});

/** Nobody has said what is in it. */
const ANY_TYPE = 'application/octet-stream';

const resultFileOf = ({ path, sha256, bytes, mode }: WorkspaceFile): ResultFile => ({
  name: basename(path),
  mediaType: ANY_TYPE,
  artifact: { sha256, bytes },
  path,
  mode,
});
