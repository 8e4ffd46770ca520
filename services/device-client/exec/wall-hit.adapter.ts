import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type CommandOutcome, type CommandWall, ExecCliResult } from '#proto';

/** 128 and the number of SIGSYS: what a shell answers when the filter of a wall has killed a program. */
const KILLED_BY_FILTER = 159;
/** What programs say of EROFS in English, with the path before it, if they name one. */
const READ_ONLY = /^(?<before>.*)\bRead-only file system\s*$/mu;
const PATH = /(?<path>\/[^\s'"`:]+)/u;
const LOOKED_AT_MAX = 64 * 1024;

export interface HeldCommand {
  readonly wall: CommandWall;
  /** The wall kills with SIGSYS. */
  readonly hasFilter: boolean;
  /** Where it started. */
  readonly cwd: string;
}

/**
 * Whether a command ran into its wall, as far as that can be known: a sentence for people and models, or undefined. Known is a
 * program that was killed with SIGSYS, and one that was told "read-only" of a file system that is not read-only outside. A refusal
 * for want of permission says nothing: outside it might have been the same. Who fakes either accuses nobody but himself.
 */
export async function wallHit(
  { state, result }: CommandOutcome,
  { wall, hasFilter, cwd }: HeldCommand,
): Promise<string | undefined> {
  const parsed = ExecCliResult.safeParse(result);
  if (state !== 'FAILED' || !parsed.success) return undefined;
  const { exit_code: code, stderr } = parsed.data;
  if (hasFilter && code === KILLED_BY_FILTER) {
    return `it was judged to ${wall.kind} only, and was killed because it asked the kernel for what nobody behind its wall may have`;
  }
  const before = READ_ONLY.exec(stderr.slice(-LOOKED_AT_MAX))?.groups?.['before'];
  if (before === undefined) return undefined;
  const path = resolve(cwd, PATH.exec(before)?.groups?.['path'] ?? '.');
  if (await isReadOnly(path)) return undefined;
  const may = wall.kind === 'read' ? 'nothing may be written' : 'only where commands work may be written';
  return `it was judged to ${wall.kind} only, so ${may}, and it tried to write to ${path.slice(0, 256)}`;
}

/** Outside, by the nearest directory that is there: root is told this, too. */
async function isReadOnly(path: string): Promise<boolean> {
  const code = await access(path, constants.W_OK).then(
    () => undefined,
    (error: unknown) => (error as NodeJS.ErrnoException).code,
  );
  if (code !== 'ENOENT' && code !== 'ENOTDIR') return code === 'EROFS';
  return path === '/' ? false : isReadOnly(dirname(path));
}
