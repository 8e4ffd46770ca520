import type { NatsConnection } from '@nats-io/transport-node';
import { resultFileOf } from '#libs/attempt';
import { ArtifactError, readArtifact } from '#libs/messaging';
import { FileList, parseJson, type TaskResult } from '#proto';
import type { RecordedCommand } from './recorded-commands.js';

/** A list has at most 100 paths. */
const LIST_BYTES_MAX = 1024 * 1024;

/** The commands with all files that they left: where a result names some of them, those of its list. A list that is gone is left alone. */
export function withFileLists(
  nc: NatsConnection,
  commands: readonly RecordedCommand[],
): Promise<readonly RecordedCommand[]> {
  return Promise.all(
    commands.map(async (command) => {
      const { result } = command;
      const left = result === null ? undefined : await listOf(nc, result);
      if (result === null || left === undefined) return command;
      const { fileList: _, ...rest } = result;
      const others = (rest.files ?? []).filter(({ path }) => path === undefined);
      return { ...command, result: { ...rest, files: [...left.map(resultFileOf), ...others] } };
    }),
  );
}

async function listOf(nc: NatsConnection, { fileList }: TaskResult): Promise<FileList | undefined> {
  if (fileList === undefined || fileList.artifact.bytes > LIST_BYTES_MAX) return undefined;
  try {
    const pieces: Uint8Array[] = [];
    for await (const piece of readArtifact(nc, fileList.artifact.sha256)) pieces.push(piece);
    return FileList.safeParse(parseJson(Buffer.concat(pieces))).data;
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    return undefined;
  }
}

/** What is to be said of files that nobody can name any more. */
export function fileListNote({ result }: Pick<RecordedCommand, 'result'>): string | undefined {
  const { fileList, files = [] } = result ?? {};
  if (fileList === undefined) return undefined;
  const named = files.filter(({ path }) => path !== undefined).length;
  return `of ${fileList.files} files that it left ${named} are named: the list of all, SHA-256 ${fileList.artifact.sha256}, cannot be read`;
}
