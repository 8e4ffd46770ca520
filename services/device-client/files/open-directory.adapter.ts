import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Linux names what a handle is open on; elsewhere the name from before is all there is. */
export const HANDLES = process.platform === 'linux' ? '/proc/self/fd' : undefined;

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** A directory that stays the same, whatever happens to its name. */
export class OpenDirectory {
  readonly #handle: FileHandle;
  readonly path: string;

  constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.path = path;
  }

  /** A name in it, for calls that take a path. */
  child(name: string): string {
    return join(HANDLES === undefined ? this.path : `${HANDLES}/${this.#handle.fd}`, name);
  }

  async giveTo(owner: FileOwner | undefined): Promise<void> {
    if (owner !== undefined) await this.#handle.chown(owner.uid, owner.gid);
  }

  async sync(): Promise<void> {
    await this.#handle.sync();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
