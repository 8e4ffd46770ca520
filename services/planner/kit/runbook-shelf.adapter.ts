import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { untypedLines, type Runbook } from '#libs/planner';
import { loadRunbooks, type LoadedRunbooks, type RunbookDirectory } from '#libs/prompts';

/** How soon a runbook is seen that somebody has put there. */
const LOOK_EVERY_MS = 2_000;

const UNTYPED_LINES =
  'lines of a runbook have no type and are success-only: after a failure what they lead to is skipped';

/**
 * The runbooks of some directories, as they are now: what is put there, changed or taken away counts without a restart. Of a file that can
 * be used no more, what was read of it before goes on to be used.
 */
export class RunbookShelf {
  readonly #directories: readonly RunbookDirectory[];
  readonly #logger: Logger;
  #loaded: LoadedRunbooks;
  /** Of the files as they were when they were read. */
  #seen: string;
  #timer: NodeJS.Timeout | undefined;

  private constructor(directories: readonly RunbookDirectory[], logger: Logger, seen: string, loaded: LoadedRunbooks) {
    this.#directories = directories;
    this.#logger = logger;
    this.#seen = seen;
    this.#loaded = loaded;
    this.#tellProblems([]);
    this.#tellLines(loaded.runbooks);
  }

  /** Reads them once; a bad file is only a problem. */
  static async open(directories: readonly RunbookDirectory[], logger: Logger): Promise<RunbookShelf> {
    const seen = await looksOf(directories);
    return new RunbookShelf(directories, logger, seen, await loadRunbooks(directories));
  }

  get runbooks(): readonly Runbook[] {
    return this.#loaded.runbooks;
  }

  /** Files that cannot be used, and why. */
  get problems(): readonly string[] {
    return this.#loaded.problems;
  }

  begin(): void {
    this.#next();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Reads them again when something has changed. Never rejects. */
  async look(): Promise<void> {
    const seen = await looksOf(this.#directories);
    if (seen === this.#seen) return;
    this.#seen = seen;
    const before = this.#loaded;
    this.#loaded = withKept(await loadRunbooks(this.#directories), before);
    this.#tell(before);
  }

  #next(): void {
    this.#timer = setTimeout(() => {
      void this.look().finally(() => {
        if (this.#timer !== undefined) this.#next();
      });
    }, LOOK_EVERY_MS).unref();
  }

  #tell(before: LoadedRunbooks): void {
    const hashes = new Map(before.runbooks.map(({ info }) => [info.name, info.hash]));
    const fresh = this.runbooks.filter(({ info }) => hashes.get(info.name) !== info.hash);
    for (const { info } of fresh) {
      const what = hashes.has(info.name) ? 'a runbook was changed' : 'a runbook is new';
      this.#logger.info({ runbook: info.name, file: this.#loaded.files.get(info.name) }, what);
    }
    const names = new Set(this.runbooks.map(({ info }) => info.name));
    for (const name of hashes.keys()) if (!names.has(name)) this.#logger.info({ runbook: name }, 'a runbook is gone');
    this.#tellProblems(before.problems);
    this.#tellLines(fresh);
  }

  #tellProblems(known: readonly string[]): void {
    for (const problem of this.problems)
      if (!known.includes(problem)) this.#logger.warn({ problem }, 'a runbook cannot be used');
  }

  #tellLines(runbooks: readonly Runbook[]): void {
    for (const { info, file } of runbooks) {
      const lines = untypedLines(file);
      if (lines.length > 0) this.#logger.warn({ runbook: info.name, lines }, UNTYPED_LINES);
    }
  }
}

/** What was read before of files that cannot be used now stays, also where another one has its name. */
function withKept(now: LoadedRunbooks, before: LoadedRunbooks): LoadedRunbooks {
  const kept = before.runbooks.filter(({ info }) => now.broken.has(before.files.get(info.name) ?? ''));
  if (kept.length === 0) return now;
  const names = new Set(kept.map(({ info }) => info.name));
  const runbooks = [...now.runbooks.filter(({ info }) => !names.has(info.name)), ...kept].toSorted((one, other) =>
    one.info.name < other.info.name ? -1 : 1,
  );
  const files = new Map([
    ...now.files,
    ...kept.map(({ info }) => [info.name, before.files.get(info.name) ?? ''] as const),
  ]);
  const problems = [
    ...now.problems,
    ...kept.map(({ info }) => `${info.name}: what was read of it before goes on to be used`),
  ];
  return { ...now, runbooks, files, problems };
}

/** Changes when a file of these directories does. */
async function looksOf(directories: readonly RunbookDirectory[]): Promise<string> {
  const looks = await Promise.all(
    directories.map(async ({ path }) => {
      const names = (await readdir(path).catch(() => [] as string[])).toSorted((one, other) => (one < other ? -1 : 1));
      const files = names.map(async (name) => {
        const found = await stat(join(path, name)).catch(() => undefined);
        return `${name} ${found?.ino} ${found?.size} ${found?.mtimeMs}`;
      });
      return [path, ...(await Promise.all(files))].join('\n');
    }),
  );
  return looks.join('\n');
}
