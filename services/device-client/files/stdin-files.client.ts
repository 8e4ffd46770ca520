import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rm, statfs, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { mayPass, type FileFailure } from '#libs/aip';
import { INPUT_UNAVAILABLE, type StdinPart } from '#proto';
import { diskFailure, type FileErrand, type FileLink, type OpenSink } from './file-link.client.js';
import { OrderedSink, type SinkEvents } from './ordered-sink.js';
import { OUTPUT_LIMITS } from '../output/index.js';

export interface StdinFilesOptions {
  /** Where the process of the tools finds them. */
  readonly dir: string;
  readonly link: Pick<FileLink, 'fetch'>;
}

/** A file with everything that a command reads; or why there is none. */
export type StdinFile =
  | { readonly kind: 'file'; readonly name: string }
  | { readonly kind: 'unavailable'; readonly code: string; readonly message: string }
  /** Nobody wants it any more. */
  | { readonly kind: 'aborted' };

const NAME_BYTES = 16;

/** Puts what a command reads into one file, in order, every piece checked before the command begins. */
export class StdinFiles {
  readonly #options: StdinFilesOptions;

  constructor(options: StdinFilesOptions) {
    this.#options = options;
  }

  /** What is in the directory belongs to commands that never began. */
  async clear(): Promise<void> {
    await rm(this.#options.dir, { recursive: true, force: true });
    await mkdir(this.#options.dir, { recursive: true, mode: 0o700 });
  }

  /** Waits for a connection and for the store as long as somebody wants the file. Never rejects. */
  async collect(parts: readonly StdinPart[], errand: FileErrand): Promise<StdinFile> {
    const name = randomBytes(NAME_BYTES).toString('hex');
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    const bytes = parts.reduce((sum, part) => sum + sizeOf(part), 0);
    let handle: FileHandle | undefined;
    try {
      const full = await this.#isTooFull(bytes);
      if (full) return unavailable(bytes, 'the disk of the device has no room for it');
      handle = await open(join(this.#options.dir, name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      const failure = await this.#fill(handle, parts, errand);
      if (failure === null) return { kind: 'file', name };
      await this.remove(name);
      return errand.signal.aborted ? { kind: 'aborted' } : unavailable(bytes, failure.message);
    } catch (error) {
      await this.remove(name);
      return unavailable(bytes, diskFailure(error).message);
    } finally {
      await handle?.close().catch(() => undefined);
    }
  }

  /** Mostly gone already: the process of the tools takes the name away when it opens the file. */
  async remove(name: string): Promise<void> {
    await unlink(join(this.#options.dir, name)).catch(() => undefined);
  }

  async #isTooFull(bytes: number): Promise<boolean> {
    const { bavail, bsize } = await statfs(this.#options.dir);
    return bavail * bsize - bytes < OUTPUT_LIMITS.freeBytesMin;
  }

  async #fill(handle: FileHandle, parts: readonly StdinPart[], errand: FileErrand): Promise<FileFailure | null> {
    let at = 0;
    for (const part of parts) {
      if ('text' in part) await handle.write(part.text, at, 'utf8');
      else {
        const start = at;
        const openSink: OpenSink = (events) => Promise.resolve(new PieceSink({ handle, start, ...events }));
        const failure = await this.#fetch(part.artifact, openSink, errand);
        if (failure !== null) return failure;
      }
      at += sizeOf(part);
    }
    return null;
  }

  /** That it cannot be had now is no reason to go without it. */
  async #fetch(artifact: Parameters<FileLink['fetch']>[0], openSink: OpenSink, errand: FileErrand) {
    for (;;) {
      const failure = await this.#options.link.fetch(artifact, openSink, errand);
      if (failure === null || errand.signal.aborted || !mayPass(failure)) return failure;
    }
  }
}

const sizeOf = (part: StdinPart): number => ('text' in part ? Buffer.byteLength(part.text) : part.artifact.bytes);

const unavailable = (bytes: number, why: string): StdinFile => ({
  kind: 'unavailable',
  code: INPUT_UNAVAILABLE,
  message: `the ${bytes} bytes that the command reads cannot be delivered whole: ${why}`,
});

interface PieceSinkOptions extends SinkEvents {
  readonly handle: FileHandle;
  /** Where in the file the piece begins. */
  readonly start: number;
}

/** One piece on its way to its place in the file. Another try writes over what there is of it. */
class PieceSink extends OrderedSink {
  readonly #options: PieceSinkOptions;

  constructor(options: PieceSinkOptions) {
    super(options);
    this.#options = options;
  }

  commit(): Promise<void> {
    return this.written();
  }

  protected override async put(data: Uint8Array, at: number): Promise<void> {
    const { handle, start } = this.#options;
    for (let from = 0; from < data.length;) {
      const { bytesWritten } = await handle.write(data, from, data.length - from, start + at + from);
      from += bytesWritten;
    }
  }
}
