import { randomBytes } from 'node:crypto';
import { constants, fdatasync, write } from 'node:fs';
import { mkdir, open, readFile, rename, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CommandJournal, type JournalRecord } from './command-journal.js';
import { errorCode } from '../faults/index.js';
import { lineOf, readJournal } from './journal-lines.js';

const writeAt = promisify(write);
const dataSync = promisify(fdatasync);

const FILE = 'commands.journal';
const JOURNAL_ID_BYTES = 16;
/** The file is rewritten when it has grown to this and to twice what it needed last time. */
const REWRITE_BYTES_MIN = 8 * 1024 * 1024;
/** A line of a rewritten file holds at most this many records. */
const RECORDS_PER_LINE_MAX = 1_000;
/** Records that may wait for the next durable one wait at most this long. */
const LAZY_MS = 1_000;

interface Waiting {
  readonly record: JournalRecord;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** What went wrong with the disk; the client must not go on, because it could no longer say what it did. */
export class JournalFileError extends Error {}

/**
 * The journal on the disk. Records that wait at the same time become one line and share one fdatasync; a record is applied
 * to the state when it is durable and not before.
 */
export class JournalFile {
  #waiting: Waiting[] = [];
  #lazy: JournalRecord[] = [];
  #lazyTimer: NodeJS.Timeout | undefined;
  #flushing = false;
  #idle: Promise<void> = Promise.resolve();
  #broken: JournalFileError | undefined;

  readonly #path: string;
  #handle: FileHandle;
  #bytes: number;
  #bytesAfterRewrite: number;

  private constructor(
    path: string,
    readonly journal: CommandJournal,
    handle: FileHandle,
    bytes: number,
    bytesAfterRewrite: number,
    /** Bytes of a torn last line that were dropped. */
    readonly tornBytes: number,
  ) {
    this.#path = path;
    this.#handle = handle;
    this.#bytes = bytes;
    this.#bytesAfterRewrite = bytesAfterRewrite;
  }

  /** Opens the journal of a data directory, or begins one; what was interrupted is recorded as such before anything else. */
  static async open(dataDir: string): Promise<JournalFile> {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const path = join(dataDir, FILE);
    const content = await readFile(path).catch(missing);
    const read = content === undefined ? undefined : readJournal(content);
    const journal = read?.journal ?? new CommandJournal(randomBytes(JOURNAL_ID_BYTES).toString('hex'));
    for (const record of journal.interrupted()) journal.apply(record);
    // The rewrite stores the interruptions, cuts a torn line off and is also how a journal begins.
    const { handle, bytes } = await rewrite(path, journal);
    return new JournalFile(path, journal, handle, bytes, bytes, read?.tornBytes ?? 0);
  }

  /** Resolves when the record is on the disk and in the state. */
  async append(record: JournalRecord): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ record, resolve, reject });
    this.#startFlushing();
    await promise;
  }

  /** For a record that is true at once: applied now, on the disk as soon as possible. */
  note(record: JournalRecord): void {
    this.journal.apply(record);
    this.#lazy.push(record);
    this.#startFlushing();
  }

  /** For a record whose loss does no harm: applied now, written with the next durable one or a second later. */
  noteLazily(record: JournalRecord): void {
    this.journal.apply(record);
    this.#lazy.push(record);
    this.#lazyTimer ??= setTimeout(() => {
      this.#lazyTimer = undefined;
      this.#startFlushing();
    }, LAZY_MS);
  }

  /** Writes what waits and closes the file; nothing may be appended afterwards. */
  async close(): Promise<void> {
    clearTimeout(this.#lazyTimer);
    this.#startFlushing();
    await this.#idle;
    await this.#handle.close();
  }

  #startFlushing(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    this.#idle = this.#flushAll();
  }

  async #flushAll(): Promise<void> {
    // Everything that the same turn of the event loop appends goes into the same line.
    await Promise.resolve();
    while ((this.#waiting.length > 0 || this.#lazy.length > 0) && this.#broken === undefined) await this.#flush();
    this.#flushing = false;
    this.#rejectAll();
  }

  async #flush(): Promise<void> {
    const [batch, lazy] = [this.#waiting, this.#lazy];
    [this.#waiting, this.#lazy] = [[], []];
    const line = Buffer.from(lineOf([...lazy, ...batch.map(({ record }) => record)]));
    try {
      await writeAll(this.#handle.fd, line, this.#bytes);
      await dataSync(this.#handle.fd);
      this.#bytes += line.length;
      for (const { record } of batch) this.journal.apply(record);
      if (this.#bytes >= REWRITE_BYTES_MIN && this.#bytes >= 2 * this.#bytesAfterRewrite) await this.#rewrite();
    } catch (cause) {
      this.#broken = new JournalFileError(`the journal ${this.#path} cannot be written: ${String(cause)}`, { cause });
      this.#waiting = [...batch, ...this.#waiting];
      return;
    }
    for (const { resolve } of batch) resolve();
  }

  async #rewrite(): Promise<void> {
    const { handle, bytes } = await rewrite(this.#path, this.journal);
    await this.#handle.close();
    this.#handle = handle;
    this.#bytes = bytes;
    this.#bytesAfterRewrite = bytes;
  }

  #rejectAll(): void {
    if (this.#broken === undefined) return;
    for (const { reject } of this.#waiting) reject(this.#broken);
    this.#waiting = [];
  }
}

/** The shortest form of the journal in a new file, durable before it takes the old one's name. */
async function rewrite(path: string, journal: CommandJournal): Promise<{ handle: FileHandle; bytes: number }> {
  const temporary = `${path}.new`;
  const { O_CREAT, O_TRUNC, O_RDWR } = constants;
  const handle = await open(temporary, O_CREAT | O_TRUNC | O_RDWR, 0o600);
  let bytes = 0;
  for (const line of linesOf(journal)) {
    const buffer = Buffer.from(line);
    await writeAll(handle.fd, buffer, bytes);
    bytes += buffer.length;
  }
  await handle.sync();
  await rename(temporary, path);
  const directory = await open(join(path, '..'), constants.O_RDONLY);
  await directory.sync();
  await directory.close();
  return { handle, bytes };
}

function* linesOf(journal: CommandJournal): Generator<string> {
  let records: JournalRecord[] = [];
  for (const record of journal.snapshot()) {
    records.push(record);
    // Results are large: one of them fills a line.
    if (records.length < RECORDS_PER_LINE_MAX && record.type !== 'finished') continue;
    yield lineOf(records);
    records = [];
  }
  if (records.length > 0) yield lineOf(records);
}

async function writeAll(fd: number, buffer: Buffer, position: number): Promise<void> {
  for (let written = 0; written < buffer.length;) {
    const { bytesWritten } = await writeAt(fd, buffer, written, buffer.length - written, position + written);
    written += bytesWritten;
  }
}

function missing(error: unknown): undefined {
  if (errorCode(error) === 'ENOENT') return undefined;
  throw error;
}
