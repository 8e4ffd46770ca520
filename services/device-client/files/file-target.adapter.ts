import type { FileHandle } from 'node:fs/promises';
import type { FilePlace } from './file-places.adapter.js';
import { OrderedSink, type SinkEvents } from './ordered-sink.js';

export interface FileTargetOptions extends SinkEvents {
  readonly place: Pick<FilePlace, 'openTemporary' | 'take' | 'remove'>;
  readonly mode: number;
  readonly overwrite: boolean;
}

/** A file on its way to the disk, under a name that nobody looks for until it is whole. */
export class FileTarget extends OrderedSink {
  readonly #options: FileTargetOptions;
  readonly #handle: FileHandle;
  readonly #temporary: string;
  #committing: Promise<void> | undefined;

  private constructor(options: FileTargetOptions, handle: FileHandle, temporary: string) {
    super(options);
    this.#options = options;
    this.#handle = handle;
    this.#temporary = temporary;
  }

  static async open(options: FileTargetOptions): Promise<FileTarget> {
    const { handle, name } = await options.place.openTemporary();
    return new FileTarget(options, handle, name);
  }

  commit(): Promise<void> {
    this.#committing ??= this.#commit();
    return this.#committing;
  }

  override async discard(): Promise<void> {
    if (this.#committing !== undefined) {
      await this.#committing.catch(() => undefined);
      return;
    }
    await super.discard();
    await this.#remove();
  }

  protected override put(data: Uint8Array): Promise<void> {
    return this.#handle.writeFile(data);
  }

  async #commit(): Promise<void> {
    const { place, mode, overwrite } = this.#options;
    await this.written();
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
