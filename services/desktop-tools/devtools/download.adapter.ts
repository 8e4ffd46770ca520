import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { DesktopFault, pause } from '../faults/index.js';
import { NO_DOWNLOADS } from './browsers.runner.js';
import type { DevToolsEvent, DevToolsPipe } from './devtools-pipe.client.js';
import { downloadNameOf, numberedName } from './download-name.js';
import { stagingDirectory } from './left-downloads.adapter.js';

/** A file that was fetched. */
export interface Downloaded {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

export const DOWNLOAD_LIMITS = { bytesMax: 100 * 1024 * 1024, beginMs: 15_000, wholeMs: 5 * 60_000 } as const;
const LOOK_MS = 50;
const NAMES_MAX = 100;
const PRIVATE = 0o600;

const Begun = z.object({ guid: z.string().regex(/^[0-9A-Za-z-]{1,64}$/u), suggestedFilename: z.string() });
const Progress = z.object({ guid: z.string(), totalBytes: z.number(), receivedBytes: z.number(), state: z.string() });

/** What an act brings, into a directory and under a name of its own there: one file, no larger than files may be. */
export async function download(
  pipe: DevToolsPipe,
  { directory, signal }: { readonly directory: string; readonly signal: AbortSignal },
  act: () => Promise<void>,
): Promise<Downloaded> {
  const staging = await stagingDirectory();
  const watch = new DownloadWatch(pipe, staging);
  try {
    await pipe.ask({
      method: 'Browser.setDownloadBehavior',
      params: { behavior: 'allowAndName', downloadPath: staging, eventsEnabled: true },
      gives: z.unknown(),
    });
    await act();
    const { guid, name } = await watch.whole(signal);
    return await kept(join(staging, guid), directory, downloadNameOf(name));
  } finally {
    watch.end();
    await pipe.ask(NO_DOWNLOADS).catch(() => undefined);
    await rm(staging, { recursive: true, force: true });
  }
}

/** Looks after one download: it is given up when it is too large, too slow, or not wanted any more. */
class DownloadWatch {
  readonly #pipe: DevToolsPipe;
  readonly #staging: string;
  readonly #unheard: () => void;
  #begun: { readonly guid: string; readonly name: string } | undefined;
  #bytes = 0;
  #state = 'inProgress';

  constructor(pipe: DevToolsPipe, staging: string) {
    this.#pipe = pipe;
    this.#staging = staging;
    this.#unheard = pipe.hear((event) => this.#hear(event));
  }

  async whole(signal: AbortSignal): Promise<{ readonly guid: string; readonly name: string }> {
    const began = performance.now();
    for (;;) {
      const waitedMs = performance.now() - began;
      const begun = this.#begun;
      const size = Math.max(this.#bytes, await sizeOf(this.#staging));
      if (size > DOWNLOAD_LIMITS.bytesMax)
        throw new DesktopFault(
          'OUTSIDE',
          `the file has more than ${DOWNLOAD_LIMITS.bytesMax} bytes; nothing of it is kept`,
        );
      if (begun !== undefined && this.#state === 'completed') return begun;
      if (this.#state !== 'inProgress') throw new DesktopFault('NOT_FOUND', 'the download was broken off');
      if (begun === undefined && waitedMs > DOWNLOAD_LIMITS.beginMs)
        throw new DesktopFault('NOT_FOUND', 'it was clicked on, and no file has come of it');
      if (signal.aborted || this.#pipe.isOver || waitedMs > DOWNLOAD_LIMITS.wholeMs)
        throw new DesktopFault('NOT_RESPONDING', 'the file has not come in time; nothing of it is kept');
      await pause(LOOK_MS);
    }
  }

  end(): void {
    this.#unheard();
    if (this.#begun !== undefined && this.#state === 'inProgress') this.#cancel(this.#begun.guid);
  }

  #hear({ method, params, sessionId }: DevToolsEvent): void {
    if (sessionId !== undefined) return;
    if (method === 'Browser.downloadWillBegin') {
      const { success, data } = Begun.safeParse(params);
      if (!success) return;
      // One click, one file.
      if (this.#begun === undefined) this.#begun = { guid: data.guid, name: data.suggestedFilename };
      else this.#cancel(data.guid);
    }
    if (method !== 'Browser.downloadProgress') return;
    const { success, data } = Progress.safeParse(params);
    if (!success || data.guid !== this.#begun?.guid) return;
    this.#bytes = Math.max(data.totalBytes, data.receivedBytes);
    this.#state = data.state;
  }

  #cancel(guid: string): void {
    void this.#pipe
      .ask({ method: 'Browser.cancelDownload', params: { guid }, gives: z.unknown() })
      .catch(() => undefined);
  }
}

async function sizeOf(directory: string): Promise<number> {
  const names = await readdir(directory);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(directory, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Copies it, and gives it its name when it is whole: no link there is followed, no file written over, and nothing half stands under a name. */
async function kept(from: string, directory: string, wanted: string): Promise<Downloaded> {
  const part = join(directory, `.${randomUUID()}.part`);
  try {
    const told = await copied(from, part);
    return { name: await named(part, directory, wanted), ...told };
  } finally {
    await rm(part, { force: true });
  }
}

async function copied(from: string, to: string): Promise<Omit<Downloaded, 'name'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  };
  await pipeline(createReadStream(from), counted, createWriteStream(to, { flags: 'wx', mode: PRIVATE }));
  return { bytes, sha256: hash.digest('hex') };
}

/** The first name that nothing has yet. */
async function named(part: string, directory: string, wanted: string): Promise<string> {
  for (let number = 1; number <= NAMES_MAX; number++) {
    const name = numberedName(wanted, number);
    try {
      await link(part, join(directory, name));
      return name;
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error;
    }
  }
  throw new DesktopFault('OUTSIDE', `the directory of the run has ${NAMES_MAX} files of the name ${wanted} already`);
}
