import { AdbFault } from './adb-fault.js';

/** What a command on a device has come to. */
export interface ShellResult {
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly exitCode: number;
}

const HEAD_BYTES = 5;
const STDOUT = 1;
const STDERR = 2;
const EXIT = 3;
/** More is never shown to anybody. */
const STDERR_BYTES_MAX = 16 * 1024;

/** Puts the packets of the second version of adb's shell together: an id, a length of four bytes, and so many bytes. */
export class ShellPackets {
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];
  readonly #stdoutBytesMax: number;
  #stdoutBytes = 0;
  #stderrBytes = 0;
  #pending: Buffer = Buffer.alloc(0);

  constructor(stdoutBytesMax: number) {
    this.#stdoutBytesMax = stdoutBytesMax;
  }

  /** The result, as soon as the command has ended. */
  push(chunk: Buffer): ShellResult | undefined {
    let rest = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (rest.length >= HEAD_BYTES) {
      const length = rest.readUInt32LE(1);
      if (length > this.#stdoutBytesMax + STDERR_BYTES_MAX) throw this.#tooMuch();
      if (rest.length < HEAD_BYTES + length) break;
      const payload = rest.subarray(HEAD_BYTES, HEAD_BYTES + length);
      const id = rest.readUInt8(0);
      rest = rest.subarray(HEAD_BYTES + length);
      if (id === EXIT) return this.#ended(payload);
      this.#keep(id, payload);
    }
    this.#pending = rest;
    return undefined;
  }

  #keep(id: number, payload: Buffer): void {
    if (id === STDOUT) {
      this.#stdoutBytes += payload.length;
      if (this.#stdoutBytes > this.#stdoutBytesMax) throw this.#tooMuch();
      this.#stdout.push(payload);
    } else if (id === STDERR && this.#stderrBytes < STDERR_BYTES_MAX) {
      this.#stderrBytes += payload.length;
      this.#stderr.push(payload);
    }
  }

  #ended(payload: Buffer): ShellResult {
    const stderr = Buffer.concat(this.#stderr).subarray(0, STDERR_BYTES_MAX).toString('utf8');
    return { stdout: Buffer.concat(this.#stdout), stderr, exitCode: payload.at(0) ?? 0 };
  }

  #tooMuch(): AdbFault {
    return new AdbFault('TOO_MUCH', `the command wrote more than ${this.#stdoutBytesMax} bytes`);
  }
}
