import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { SecretName } from '#proto';
import { errorCode, InputError } from '../faults/index.js';
import { Redactor } from './redactor.js';
import { SECRET_LIMITS, secretIn } from './secrets.js';

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

/** What could not be read in the directory; values never stand in it. */
interface Wrong {
  readonly file: string;
  readonly why: string;
}

/**
 * The secrets of this device: one file for each in a directory. Files are read again for every command, so a new value counts
 * at once; a value that was there before is still kept out of everything that leaves.
 */
export class SecretStore {
  readonly #dir: string;
  #onWrong: (wrong: Wrong) => void;
  #onNew: (name: string) => void = () => undefined;
  #values = new Map<string, string>();
  /** Values by name and everything they were before, the oldest first. */
  readonly #seen = new Map<string, string>();
  #redactor: Redactor | undefined;
  #reading: Promise<void> | undefined;

  private constructor(dir: string, onWrong: (wrong: Wrong) => void) {
    this.#dir = dir;
    this.#onWrong = onWrong;
  }

  /** Throws InputError, one sentence, when a file is not as a secret has to be. */
  static async open(dir: string): Promise<SecretStore> {
    const found: Wrong[] = [];
    const store = new SecretStore(dir, (wrong) => found.push(wrong));
    const { uid, mode } = await stat(dir).catch((error: unknown) => {
      throw new InputError(`--secrets: the directory ${dir} cannot be read (${errorCode(error) ?? 'unknown reason'}).`);
    });
    if (!isTrusted(uid) || (mode & OTHERS_WRITE) !== 0) {
      throw new InputError(
        `--secrets: ${dir} must belong to root or to the user of the client, and nobody else may write to it.`,
      );
    }
    await store.refresh();
    const [first] = found;
    if (first !== undefined) throw new InputError(`--secrets: ${join(dir, first.file)} ${first.why}.`);
    store.#onWrong = () => undefined;
    return store;
  }

  /** For a process whose files were checked by another one, or that goes on when they are not as they should be. */
  static at(dir: string, onWrong: (wrong: Wrong) => void = () => undefined): SecretStore {
    return new SecretStore(dir, onWrong);
  }

  /** From now on says which secret is new and which file cannot be one, each once; never a value. */
  tellTo(logger: Pick<Logger, 'info' | 'warn'>): void {
    const told = new Set<string>();
    this.#onNew = (name) => logger.info({ secret: name }, 'a secret is new');
    this.#onWrong = ({ file, why }) => {
      if (told.has(`${file} ${why}`)) return;
      told.add(`${file} ${why}`);
      logger.warn({ file, why }, 'a secret cannot be used');
    };
  }

  get names(): string[] {
    return [...this.#values.keys()];
  }

  /** As of the last refresh. */
  valueOf(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Undefined: there is no value to look for. */
  get redactor(): Redactor | undefined {
    return this.#redactor;
  }

  /** Reads the files again; what cannot be read has no value until it can. */
  async refresh(): Promise<Redactor | undefined> {
    // Who asks while files are read may have written one that was read already.
    await this.#reading;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
    return this.#redactor;
  }

  async #read(): Promise<void> {
    const values = new Map<string, string>();
    const files = await readdir(this.#dir).catch(() => []);
    if (files.length > SECRET_LIMITS.secretsMax) {
      this.#onWrong({ file: '', why: `has more than ${SECRET_LIMITS.secretsMax} files` });
    }
    for (const file of files.toSorted(byName).slice(0, SECRET_LIMITS.secretsMax)) {
      const read = await readSecret(this.#dir, file);
      if ('value' in read) values.set(file, read.value);
      else this.#onWrong({ file, why: read.wrong });
    }
    const fresh = [...values.keys()].filter((name) => !this.#values.has(name));
    this.#values = values;
    fresh.forEach((name) => this.#onNew(name));
    this.#remember(values);
  }

  #remember(values: ReadonlyMap<string, string>): void {
    const before = this.#seen.size;
    const isNew = [...values].some(([name, value]) => this.#seen.get(value) !== name);
    if (!isNew && before > 0) return;
    for (const [name, value] of values) {
      this.#seen.delete(value);
      this.#seen.set(value, name);
    }
    for (const value of this.#seen.keys()) {
      if (this.#seen.size <= SECRET_LIMITS.valuesMax) break;
      this.#seen.delete(value);
    }
    this.#redactor =
      this.#seen.size === 0 ? undefined : new Redactor([...this.#seen].map(([value, name]) => [name, value]));
  }
}

const byName = (one: string, other: string): number => (one < other ? -1 : 1);

/** Root's, or our own: nobody else may say what we give to commands. */
export const isTrusted = (uid: number): boolean => uid === 0 || uid === process.geteuid?.();

async function readSecret(dir: string, file: string): Promise<{ value: string } | { wrong: string }> {
  const name = SecretName.safeParse(file);
  if (!name.success) return { wrong: `cannot be a secret: ${name.error.issues[0]?.message ?? ''}` };
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  try {
    const handle = await open(join(dir, file), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const found = await handle.stat();
      if (!found.isFile()) return { wrong: 'is not a regular file' };
      if (!isTrusted(found.uid)) return { wrong: 'must belong to root or to the user of the client' };
      if ((found.mode & OTHERS) !== 0) return { wrong: 'can be read by others; it must have the mode 600 or 400' };
      if (found.size > SECRET_LIMITS.bytesMax) return { wrong: `has more than ${SECRET_LIMITS.bytesMax} bytes` };
      return secretIn(await handle.readFile());
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = errorCode(error);
    return { wrong: code === 'ELOOP' ? 'is a link; it must be a regular file' : `cannot be read (${code ?? 'error'})` };
  }
}
