import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rm, statfs, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../faults/index.js';
import type { HeadTail } from './head-tail.js';
import { OUTPUT_LIMITS, type OutputFile, type OutputFiles } from './output-files.js';

const NAME_BYTES = 16;
const SLOW = 'the disk of the device is slower than the command';

export interface SpoolOptions {
  /** The directory for outputs. */
  readonly dir: string;
  /** The first bytes of a longer output are kept. */
  readonly bytesMax: number;
}

/** What lets a stream wait while the disk is slower than the command. */
export interface Valve {
  pause(): void;
  resume(): void;
}

/**
 * The whole of one output on the disk, begun when memory does not hold it any more. Nothing that goes wrong here is the
 * command's business: then there is no file, and a reason.
 */
export class OutputSpool {
  readonly #options: SpoolOptions;
  readonly #valve: Valve;
  readonly #name = randomBytes(NAME_BYTES).toString('hex');
  readonly #hash = createHash('sha256');
  #handle: FileHandle | undefined;
  #tail: Promise<void> | undefined;
  #pending = 0;
  #bytes = 0;
  #checkedAt = -Infinity;
  #cut = false;
  #error: string | undefined;
  #stalled: NodeJS.Timeout | undefined;
  #ending = false;
  #taken = false;

  constructor(options: SpoolOptions, valve: Valve) {
    this.#options = options;
    this.#valve = valve;
  }

  /** Before `kept` takes the chunk: as soon as it could not hold it all, everything goes to the disk, too. */
  before(kept: HeadTail, chunk: Buffer): void {
    if (this.#tail !== undefined) return this.#write(chunk);
    if (kept.holds(chunk.length)) return;
    this.#begin(kept);
    this.#write(chunk);
  }

  /** All of `kept` to the disk, because its text does not fit where it is sent. */
  async takeWhole(kept: HeadTail): Promise<void> {
    if (this.#tail === undefined && kept.bytes > 0) this.#begin(kept);
    await this.#tail;
  }

  /** The command has ended: what is left of its output is not held up any more. */
  hurry(): void {
    this.#ending = true;
    this.#open();
  }

  /** What became of it; undefined when memory held it all. The file is the caller's from now on. */
  async take(): Promise<OutputFile | undefined> {
    this.#taken = true;
    return this.#end();
  }

  /** Nobody will ask for it. */
  async discard(): Promise<void> {
    if (this.#taken) return;
    await this.#end();
    await this.#remove();
  }

  async #end(): Promise<OutputFile | undefined> {
    this.hurry();
    if (this.#tail === undefined) return undefined;
    await this.#drained(this.#tail);
    await this.#close();
    if (this.#error !== undefined) return { file: null, error: this.#error };
    const file = { name: this.#name, sha256: this.#hash.digest('hex'), bytes: this.#bytes };
    return { file, error: this.#cut ? `only its first ${this.#bytes} bytes` : null };
  }

  /** No longer than a disk may hold up a command. */
  async #drained(tail: Promise<void>): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#error ??= SLOW;
      resolve();
    }, OUTPUT_LIMITS.stalledMsMax);
    await Promise.race([tail, late]);
    clearTimeout(timer);
  }

  #begin(kept: HeadTail): void {
    this.#tail = this.#create();
    for (const part of kept.parts()) this.#write(part);
  }

  #write(chunk: Buffer): void {
    if (this.#error !== undefined || this.#cut) return;
    // The chunk is its stream's, and stays as it is.
    this.#pending += chunk.length;
    this.#tail = this.#tail?.then(() => this.#append(chunk));
    if (this.#pending > OUTPUT_LIMITS.pendingBytesMax) this.#shut();
  }

  /** Never rejects. */
  async #create(): Promise<void> {
    const { dir } = this.#options;
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    try {
      this.#handle = await open(join(dir, this.#name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    } catch (error) {
      await this.#fail(reasonOf(error));
    }
  }

  /** Never rejects. */
  async #append(chunk: Buffer): Promise<void> {
    try {
      if (this.#error === undefined && this.#handle !== undefined) await this.#store(this.#handle, chunk);
    } catch (error) {
      await this.#fail(reasonOf(error));
    }
    this.#pending -= chunk.length;
    if (this.#pending <= OUTPUT_LIMITS.pendingBytesMax) this.#open();
  }

  async #store(handle: FileHandle, chunk: Buffer): Promise<void> {
    const part = chunk.subarray(0, this.#options.bytesMax - this.#bytes);
    if (part.length < chunk.length) this.#cut = true;
    if (part.length === 0) return;
    if (this.#bytes - this.#checkedAt >= OUTPUT_LIMITS.lookEveryBytes) {
      this.#checkedAt = this.#bytes;
      const { bavail, bsize } = await statfs(this.#options.dir);
      if (bavail * bsize < OUTPUT_LIMITS.freeBytesMin) return this.#fail('the disk of the device is nearly full');
    }
    await handle.writeFile(part);
    this.#hash.update(part);
    this.#bytes += part.length;
  }

  async #fail(reason: string): Promise<void> {
    this.#error ??= reason;
    this.#open();
    await this.#close();
    await this.#remove();
  }

  #shut(): void {
    if (this.#stalled !== undefined || this.#ending) return;
    this.#valve.pause();
    this.#stalled = setTimeout(() => {
      this.#error ??= SLOW;
      this.#open();
    }, OUTPUT_LIMITS.stalledMsMax);
  }

  #open(): void {
    if (this.#stalled === undefined) return;
    clearTimeout(this.#stalled);
    this.#stalled = undefined;
    this.#valve.resume();
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    // A write that hangs would let its end wait, too.
    const closed = handle?.close().catch(() => undefined);
    if (this.#error !== SLOW) await closed;
    if (this.#error !== undefined) await this.#remove();
  }

  async #remove(): Promise<void> {
    await unlink(join(this.#options.dir, this.#name)).catch(() => undefined);
  }
}

/** Makes the directory for outputs anew: what is in it belongs to commands that nobody knows any more. */
export async function clearOutputs({ dir }: Pick<SpoolOptions, 'dir'>): Promise<void> {
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true, mode: 0o700 });
}

/** Files that nobody wants any more. */
export async function removeOutputs(options: Pick<SpoolOptions, 'dir'> | undefined, files: OutputFiles): Promise<void> {
  for (const output of [files.stdout, files.stderr]) {
    const name = output?.file?.name;
    if (options !== undefined && name !== undefined) await unlink(join(options.dir, name)).catch(() => undefined);
  }
}

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  return code === 'ENOSPC'
    ? 'no space is left on the disk of the device'
    : `the disk of the device: ${code ?? 'error'}`;
}
