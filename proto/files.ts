import { z } from 'zod';
import { type CommandId, commandIdOf, Instant, RunId, Sha256 } from './ids.js';
import { LIMITS } from './limits.js';

/*
 * Files of a run on its devices: what they are called, and the two commands of the system that move them. A path is that of a
 * workspace, the directory that a run has on each device that works for it.
 */

const NAME_CHARS = String.raw`[\p{L}\p{N}_][\p{L}\p{M}\p{N} ._()+@=,-]{0,127}`;
const NAME = new RegExp(`^${NAME_CHARS}$`, 'u');
const WORDS_OF_NAME = '1 to 128 letters, digits or " ._()+@=,-", the first of them a letter, a digit or "_"';

/** A name and no path: it begins with a letter, a digit or `_`, and has nothing in it that a shell, a terminal or a disk takes for more. */
export const FileName = z.string().regex(NAME, `a name of a file is ${WORDS_OF_NAME}`);
export type FileName = z.infer<typeof FileName>;

const { filePathCharsMax, fileDirectoriesMax, filePatternCharsMax } = LIMITS;

/** Where a file lies below a workspace: names with `/` between them. */
export const FilePath = z
  .string()
  .max(filePathCharsMax)
  .refine(
    (path) => hasParts(path, NAME),
    `a path of a file is a name, or names with / between them (at most ${fileDirectoriesMax} directories), each of ${WORDS_OF_NAME}`,
  );
export type FilePath = z.infer<typeof FilePath>;

/** Why a path that lies on a disk is none of these, in words that follow it. */
export const NO_FILE_PATH = `has a name that files which go along lines cannot have: a name is ${WORDS_OF_NAME}, a path at most ${filePathCharsMax} characters`;

/** The same for names with wildcards. */
const PATTERN = /^(?:\*\*|(?!.*\*\*)[\p{L}\p{N}_*?][\p{L}\p{M}\p{N} ._()+@=,*?-]{0,127})$/u;

/**
 * Which files: a path with `*` and `?` in its names, which stand for any characters and for one, and with `**` as a name, which stands for
 * any directories, or none. A `?` at the very end says that there may be no such file; it stands for no character.
 */
export const FilePattern = z
  .string()
  .max(filePatternCharsMax)
  .refine(
    (pattern) => hasParts(filePatternOf(pattern).glob, PATTERN),
    'a pattern is a path of a file that may have * and ? in its names, and ** instead of directories; a ? at its end: there may be none',
  );
export type FilePattern = z.infer<typeof FilePattern>;

const hasParts = (path: string, part: RegExp): boolean => {
  const parts = path.split('/');
  return parts.length <= fileDirectoriesMax + 1 && parts.every((one) => part.test(one));
};

/** A pattern, and whether there may be no file for it. */
export function filePatternOf(pattern: string): { readonly glob: string; readonly isOptional: boolean } {
  const isOptional = pattern.endsWith('?');
  return { glob: isOptional ? pattern.slice(0, -1) : pattern, isOptional };
}

/** The path itself, and not a glob: exactly one file is meant. */
export const isPlainPath = (glob: string): boolean => !/[*?]/u.test(glob);

/** Whether a path is meant by a glob. Takes time in proportion to their lengths multiplied, whatever stands in them. */
export function matchesGlob(path: string, glob: string): boolean {
  if (isHidden(path)) return false;
  const parts = glob.split('/');
  // A last `**` is any file below: directories, and a name.
  if (parts.at(-1) === '**') parts.push('*');
  return matchesList(path.split('/'), parts, { isRest: (part) => part === '**', matches: matchesName });
}

/** Whether something below this directory may be meant by a glob: whoever looks for files need not go there otherwise. */
export function mayHoldMatches(directory: string, glob: string): boolean {
  if (isHidden(directory)) return false;
  const [names, parts] = [directory.split('/'), glob.split('/')];
  const wide = parts.indexOf('**');
  const fixed = wide === -1 ? parts.slice(0, -1) : parts.slice(0, wide);
  if (wide === -1 && names.length > fixed.length) return false;
  return names.every((name, index) => matchesName(name, fixed[index] ?? '*'));
}

/** A name that begins with a dot is none of these, as for a shell: no wildcard finds it. */
const isHidden = (path: string): boolean => path.split('/').some((name) => name.startsWith('.'));

const matchesName = (name: string, part: string): boolean =>
  part === name ||
  matchesList(Array.from(name), Array.from(part), {
    isRest: (char) => char === '*',
    matches: (char, wild) => wild === '?' || wild === char,
  });

interface Wild {
  /** Stands for any number of items, or none. */
  isRest(wild: string): boolean;
  matches(item: string, wild: string): boolean;
}

/** Goes back to the last wildcard only, as any earlier one could take no more than it does: never worse than one length times the other. */
function matchesList(items: readonly string[], wilds: readonly string[], wild: Wild): boolean {
  let [at, by, restAt, restFrom] = [0, 0, -1, 0];
  while (at < items.length) {
    const next = wilds[by];
    if (next !== undefined && wild.isRest(next)) {
      restAt = by++;
      restFrom = at;
    } else if (next !== undefined && wild.matches(items[at] ?? '', next)) {
      at++;
      by++;
    } else if (restAt >= 0) {
      by = restAt + 1;
      at = ++restFrom;
    } else return false;
  }
  return wilds.slice(by).every((one) => wild.isRest(one));
}

/** Permissions as three octal digits, such as `644`. */
export const FileMode = z.string().regex(/^[0-7]{3}$/, 'permissions are three octal digits, such as 644');
export type FileMode = z.infer<typeof FileMode>;

/** A regular file of a workspace: where it lies, its content, and its permissions. */
export const WorkspaceFile = z.strictObject({
  path: FilePath,
  sha256: Sha256,
  bytes: z.int().min(0).max(LIMITS.fileBytesMax),
  mode: FileMode,
});
export type WorkspaceFile = z.infer<typeof WorkspaceFile>;

/** Files of one task, or for one. */
export const FileList = z
  .array(WorkspaceFile)
  .max(LIMITS.filesMax)
  .refine(
    (list) => list.reduce((sum, { bytes }) => sum + bytes, 0) <= LIMITS.filesBytesMax,
    `files of a task have at most ${LIMITS.filesBytesMax} bytes together`,
  );
export type FileList = z.infer<typeof FileList>;

/** Capability of a device: it keeps workspaces, and has both tools for the files of them. */
export const HAS_WORKSPACES = 'workspaces';
/** The variable in which a command finds the path of its workspace. */
export const WORKSPACE_VARIABLE = 'ORRERY_WORKSPACE';

/** Stores files of a workspace as artifacts. */
export const WORKSPACE_OUT = 'WORKSPACE_OUT';
export const WorkspaceOutInput = z.strictObject({ patterns: z.array(FilePattern).min(1).max(LIMITS.filePatternsMax) });
export type WorkspaceOutInput = z.infer<typeof WorkspaceOutInput>;
/** All files, in the order of their paths; `skipped`: links, pipes and devices that a glob has passed by. */
export const WorkspaceOutResult = z.strictObject({ files: FileList, skipped: z.int().min(0) });
export type WorkspaceOutResult = z.infer<typeof WorkspaceOutResult>;

/** Writes artifacts into a workspace. */
export const WORKSPACE_IN = 'WORKSPACE_IN';
export const WorkspaceInInput = z.strictObject({ files: FileList.min(1) });
export type WorkspaceInInput = z.infer<typeof WorkspaceInInput>;
/** `fetched`: files that were not there already. */
export const WorkspaceInResult = z.strictObject({ fetched: z.int().min(0) });
export type WorkspaceInResult = z.infer<typeof WorkspaceInResult>;

/** Tools that no person, plan or model calls: what they do follows from the files that a task names. */
export const WORKSPACE_TOOLS = [WORKSPACE_OUT, WORKSPACE_IN] as const;
export type WorkspaceTool = (typeof WORKSPACE_TOOLS)[number];
export const isWorkspaceTool = (tool: string): tool is WorkspaceTool => tool === WORKSPACE_OUT || tool === WORKSPACE_IN;

const PLACES = { WORKSPACE_IN: 1, WORKSPACE_OUT: 2 } as const satisfies Record<WorkspaceTool, number>;

/** The command of an attempt that moves its files: step 0, beside the exact command of a task. Nothing else has such an id. */
export const workspaceCommandIdOf = (attempt: Parameters<typeof commandIdOf>[0], tool: WorkspaceTool): CommandId =>
  commandIdOf(attempt, 0, PLACES[tool]);

/** Codes of the ends of both tools. */
export const FILE_ENDS = {
  /** No file for a pattern, or what its path names is none. */
  missing: 'FILE_MISSING',
  /** A name that is none here, something that is no regular file, a secret of the device. */
  refused: 'FILE_REFUSED',
  /** It was written to each time that it was read. */
  changed: 'FILE_CHANGED',
  tooLarge: 'FILE_TOO_LARGE',
  tooMany: 'TOO_MANY_FILES',
  /** Something else lies where it would. */
  clash: 'FILE_CLASH',
  diskFull: 'DISK_FULL',
  /** The store could not take it, or could not give it. */
  unavailable: 'FILE_UNAVAILABLE',
} as const;
export type FileEnd = (typeof FILE_ENDS)[keyof typeof FILE_ENDS];

/** The workspace of a run on a device. */
export const DeviceWorkspace = z.strictObject({
  runId: RunId,
  /** Of all that lies in it, as the disk counts it. */
  bytes: z.int().min(0),
  files: z.int().min(0),
  /** When a server asked for it last. */
  usedAt: Instant,
  /** Its run has ended, and it is kept. */
  kept: z.boolean(),
});
export type DeviceWorkspace = z.infer<typeof DeviceWorkspace>;
