import type { FileHandle } from 'node:fs/promises';
import type { FileSink } from '#libs/aip';
import type { FilePlace } from './file-places.adapter.js';

export interface FileTargetOptions {
  readonly place: Pick<FilePlace, 'openTemporary' | 'take' | 'remove'>;
  readonly mode: number;
  readonly overwrite: boolean;
  readonly taken: (bytes: number) => void;
  readonly failed: (error: unknown) => void;
}

/** A file on its way to the disk, under a name that nobody looks for until it is whole. */
export class FileTarget implements FileSink {
  readonly #options: FileTargetOptions;
  readonly #handle: FileHandle;
  readonly #temporary: string;
  /** Writes go one after the other. */
  #tail: Promise<void> = Promise.resolve();
  #bytes = 0;
  #failed = false;
  #committing: Promise<void> | undefined;

  private constructor(options: FileTargetOptions, handle: FileHandle, temporary: string) {
    this.#options = options;
    this.#handle = handle;
    this.#temporary = temporary;
  }

  static async open(options: FileTargetOptions): Promise<FileTarget> {
    const { handle, name } = await options.place.openTemporary();
    return new FileTarget(options, handle, name);
  }

  write(data: Uint8Array): void {
    this.#tail = this.#tail.then(() => this.#write(data));
  }

  commit(): Promise<void> {
    this.#committing ??= this.#commit();
    return this.#committing;
  }

  async discard(): Promise<void> {
    if (this.#committing !== undefined) {
      await this.#committing.catch(() => undefined);
      return;
    }
    this.#failed = true;
    await this.#tail;
    await this.#remove();
  }

  /** Never rejects. */
  async #write(data: Uint8Array): Promise<void> {
    if (this.#failed) return;
    try {
      await this.#handle.writeFile(data);
      this.#bytes += data.length;
      if (!this.#failed) this.#options.taken(this.#bytes);
    } catch (error) {
      if (this.#failed) return;
      this.#failed = true;
      this.#options.failed(error);
    }
  }

  async #commit(): Promise<void> {
    const { place, mode, overwrite } = this.#options;
    await this.#tail;
    try {
      await this.#handle.chmod(mode);
      await this.#handle.sync();
      await place.take(this.#temporary, overwrite);
      await this.#handle.close();
    } catch (error) {
      await this.#remove();
      throw error;
    }
  }

  /** Never rejects: what cannot be removed is a name that nobody looks for. */
  async #remove(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await this.#options.place.remove(this.#temporary).catch(() => undefined);
  }
}
