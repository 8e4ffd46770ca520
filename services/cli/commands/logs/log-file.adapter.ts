import { open, stat, type FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../../terminal/index.js';

const READ_BYTES = 64 * 1024;
const LOOK_EVERY_MS = 200;
/** A line without an end is given out when it has so many characters. */
const LINE_CHARS_MAX = 256 * 1024;

/**
 * The lines of a log, the oldest first, with its older half that lies beside it; null when all that is there by now was given out. Then, with a signal and
 * until it, what is written, also when the log is begun anew or only comes to be. Each line once.
 */
export async function* logLines(file: string, signal?: AbortSignal): AsyncGenerator<string | null, void, undefined> {
  const older = await opened(`${file}.1`);
  let handle = await opened(file);
  try {
    if (older !== undefined) yield* linesOf(older);
    let cutter = new LineCutter();
    let [position, isTold] = [0, false];
    for (;;) {
      const chunk = await handle?.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, position);
      if (chunk !== undefined && chunk.bytesRead > 0) {
        position += chunk.bytesRead;
        yield* cutter.push(chunk.buffer.subarray(0, chunk.bytesRead));
        continue;
      }
      if (!isTold) {
        if (signal === undefined) yield* cutter.end();
        yield null;
      }
      isTold = true;
      if (signal === undefined || signal.aborted) return;
      if (await isBegunAnew(file, handle, position)) {
        yield* cutter.end();
        await handle?.close();
        handle = await opened(file);
        [cutter, position] = [new LineCutter(), 0];
      } else await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await older?.close();
    await handle?.close();
  }
}

/** Another file stands there now, or the first one; or ours was cut. */
async function isBegunAnew(file: string, handle: FileHandle | undefined, position: number): Promise<boolean> {
  const current = await stat(file).catch(() => undefined);
  if (current === undefined) return false;
  return handle === undefined || (await handle.stat()).ino !== current.ino || current.size < position;
}

async function opened(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function* linesOf(handle: FileHandle): AsyncGenerator<string> {
  const cutter = new LineCutter();
  for await (const chunk of handle.createReadStream({ autoClose: false, highWaterMark: READ_BYTES })) {
    yield* cutter.push(chunk as Buffer);
  }
  yield* cutter.end();
}

class LineCutter {
  readonly #decoder = new TextDecoder();
  #rest = '';

  push(chunk: Uint8Array): string[] {
    const lines = `${this.#rest}${this.#decoder.decode(chunk, { stream: true })}`.split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > LINE_CHARS_MAX) lines.push(...this.end());
    return lines;
  }

  end(): string[] {
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? [] : [rest];
  }
}
