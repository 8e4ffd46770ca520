import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

const LOG_BYTES_MAX = 16 * 1024 * 1024;

/** Appends to a log that never takes more than twice the cap: the older half lies beside it as `<file>.1`. */
export class CappedLog {
  readonly #file: string;
  readonly #bytesMax: number;
  #fd: number;
  #bytes: number;
  #closed = false;

  constructor(file: string, bytesMax = LOG_BYTES_MAX) {
    this.#file = file;
    this.#bytesMax = bytesMax;
    this.#fd = openSync(file, 'a', 0o600);
    this.#bytes = fstatSync(this.#fd).size;
  }

  /** What cannot be written (a full disk) is lost: a log must not end the system. */
  write(chunk: Uint8Array): void {
    if (this.#closed) return;
    try {
      if (this.#bytes + chunk.length > this.#bytesMax && this.#bytes > 0) this.#rotate();
      this.#bytes += writeSync(this.#fd, chunk);
    } catch {
      // nothing sensible can be done here
    }
  }

  close(): void {
    this.#closed = true;
    closeSync(this.#fd);
  }

  #rotate(): void {
    closeSync(this.#fd);
    renameSync(this.#file, `${this.#file}.1`);
    this.#fd = openSync(this.#file, 'a', 0o600);
    this.#bytes = 0;
  }
}
