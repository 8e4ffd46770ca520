import type { FileHandle } from 'node:fs/promises';
import { FILE_ABORTS, mayPass } from '#libs/aip';
import {
  FILE_ENDS,
  LIMITS,
  type ArtifactRef,
  type WorkspaceFile,
  type WorkspaceOutInput,
  type WorkspaceOutResult,
} from '#proto';
import { FILE_TOOL_LIMITS, fileSourceOf, type FileErrand, type FileLink, measuredFile } from '../files/index.js';
import type { SecretStore } from '../secrets/index.js';
import { changed, FileProblem, named, refusedFile, tooLarge, tooMuch } from './file-problem.js';
import { foundFiles } from './found-files.adapter.js';
import { openFileBeneath } from './open-beneath.adapter.js';

export interface WorkspaceOutOptions {
  readonly link: Pick<FileLink, 'store'>;
  /** No file with one of them is given away. */
  readonly secrets?: Pick<SecretStore, 'refresh'> | undefined;
}

const PERMISSIONS = 0o777;

/** Stores what a task has made. Nothing of it is written down here: who asks again gets it again, and the store has it already. */
export class WorkspaceOut {
  readonly #options: WorkspaceOutOptions;

  constructor(options: WorkspaceOutOptions) {
    this.#options = options;
  }

  /** Throws FileProblem, what the disk says, and the reason of the signal. */
  async run(workspace: string, { patterns }: WorkspaceOutInput, errand: FileErrand): Promise<WorkspaceOutResult> {
    const { paths, skipped } = await foundFiles(workspace, patterns, errand.signal);
    await this.#mustFit(workspace, paths);
    const files: WorkspaceFile[] = [];
    let bytes = 0;
    for (const path of paths) {
      const file = await this.#store(workspace, path, errand);
      files.push(file);
      bytes += file.bytes;
      if (bytes > LIMITS.filesBytesMax) throw tooMuch(bytes);
    }
    return { files, skipped };
  }

  /** Before the first byte leaves: as they are now. */
  async #mustFit(workspace: string, paths: readonly string[]): Promise<void> {
    let all = 0;
    for (const path of paths) {
      const handle = await openFileBeneath(workspace, path);
      const size = await sizeOf(handle);
      if (size > LIMITS.fileBytesMax) throw tooLarge(path, size);
      all += size;
    }
    if (all > LIMITS.filesBytesMax) throw tooMuch(all);
  }

  async #store(workspace: string, path: string, errand: FileErrand): Promise<WorkspaceFile> {
    const handle = await openFileBeneath(workspace, path);
    try {
      for (let readings = 1; ; readings++) {
        const artifact = await this.#measured(handle, path, errand.signal);
        const { mode } = await handle.stat();
        if (await this.#stored(handle, artifact, { path, errand })) {
          return { path, ...artifact, mode: (mode & PERMISSIONS).toString(8).padStart(3, '0') };
        }
        if (readings === FILE_TOOL_LIMITS.readingsMax) throw changed(path);
      }
    } finally {
      await handle.close();
    }
  }

  async #measured(handle: FileHandle, path: string, signal: AbortSignal): Promise<ArtifactRef> {
    const redactor = await this.#options.secrets?.refresh();
    const { artifact, hasSecret } = await measuredFile(handle, signal, redactor);
    if (hasSecret) throw refusedFile(path, 'contains a secret of this device, and does not leave it');
    return artifact;
  }

  /** False: it is not what it was. What may pass passes, as long as somebody wants the file. */
  async #stored(
    handle: FileHandle,
    artifact: ArtifactRef,
    { path, errand }: { readonly path: string; readonly errand: FileErrand },
  ): Promise<boolean> {
    for (;;) {
      const failure = await this.#options.link.store(artifact, () => fileSourceOf(handle), errand);
      if (failure === null) return true;
      errand.signal.throwIfAborted();
      if (CHANGED.has(failure.code)) return false;
      if (!mayPass(failure)) {
        throw new FileProblem(FILE_ENDS.unavailable, `${named(path)} cannot be stored: ${failure.message}`);
      }
    }
  }
}

async function sizeOf(handle: FileHandle): Promise<number> {
  try {
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

/** What a sender learns of a file that was written to meanwhile. */
const CHANGED: ReadonlySet<string> = new Set([FILE_ABORTS.wrongChecksum, FILE_ABORTS.changed]);
