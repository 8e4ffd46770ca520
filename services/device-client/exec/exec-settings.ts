import { randomInt } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { CommandWall } from '#proto';
import { ExecLimits, GROUPS, limitArgs, Sandbox, SANDBOXES, unnamedCopy, unnamedFile } from '../sandbox/index.js';

/*
 * How commands are run: made by the client from its options, checked there once, and given to the process that runs them as
 * one argument. Nothing in it is secret: every command can read the arguments of its parents.
 */

/** Said beside the arguments of a call: the directory of its run, in which the command begins. */
export const WORKSPACE_META = 'orrery/workspace';
/** Said beside the arguments of a call: an agent chose the command. */
export const AGENT_META = 'orrery/agent';

const Path = z.string().regex(/^\/[^\0]*$/, 'must be an absolute path');

export const RunAs = z.strictObject({ name: z.string(), uid: z.int().min(0), gid: z.int().min(0), home: z.string() });
export type RunAs = z.infer<typeof RunAs>;

export const ExecSettings = z.strictObject({
  jailDir: Path,
  /** Whether commands have to start inside of the jail directory. */
  confined: z.boolean().default(false),
  /** Null: whole outputs are not kept. */
  spool: z
    .strictObject({ dir: Path, bytesMax: z.int().min(1) })
    .nullable()
    .default(null),
  /** What commands read, where that comes as a file; null: it never does. */
  inputsDir: Path.nullable().default(null),
  secretsDir: Path.nullable().default(null),
  runAs: RunAs.nullable().default(null),
  /** Permissions that new files do not get. */
  umask: z.int().min(0).max(0o777).default(0o022),
  /** `program`: absolute path of prlimit. */
  limits: z
    .strictObject({ program: Path, ...ExecLimits.shape })
    .nullable()
    .default(null),
  sandbox: Sandbox.nullable().default(null),
});
export type ExecSettings = z.infer<typeof ExecSettings>;

const SHELL = '/bin/sh';

/** How a command is started. */
export interface WrappedCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** For descriptor 3, to be closed when it was started; undefined: it is started without. */
  readonly input?: FileHandle | undefined;
  /** Who it is started as; null: as the client, which stays so or is given up behind a wall. */
  readonly runAs: RunAs | null;
  /** All that its first program gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Its first process is the wall, with which everything behind it ends. */
  readonly isWalled: boolean;
  /** At which it is ended. */
  readonly limits: ExecLimits;
}

/** A command of whom, from where, and what it may do. */
export interface CommandPlace {
  readonly command: string;
  readonly cwd: string;
  readonly isAgents: boolean;
  /** The directory of its run: behind a wall it has that instead of the jail directory. */
  readonly workspace?: string | undefined;
  /** As it was judged; undefined: it was not, or nobody said so. */
  readonly wall?: CommandWall | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Names in it that came with the command. */
  readonly given: readonly string[];
}

/** Whether a path is the directory or below it; both absolute, and both as given or both as they really are. */
export function isWithin(path: string, directory: string): boolean {
  const prefix = directory.endsWith('/') ? directory : `${directory}/`;
  return path === directory || path.startsWith(prefix);
}

/** What holds a command of which nobody has said more. */
const USUAL_WALL: CommandWall = { kind: 'write', views: [] };

/** The command line that runs a shell command as the settings say. */
export async function wrapped(
  { limits, sandbox, jailDir, runAs }: Pick<ExecSettings, 'limits' | 'sandbox' | 'jailDir' | 'runAs'>,
  { command, cwd, isAgents, workspace, wall = USUAL_WALL, env: asGiven, given }: CommandPlace,
): Promise<WrappedCommand> {
  if (sandbox !== null && wall.kind !== 'none' && (isAgents || sandbox.commands === 'all')) {
    const group = randomInt(GROUPS.from, GROUPS.to);
    const { name, home, isOther } = sandbox.user;
    const env = { ...asGiven, ...(isOther && { HOME: home, USER: name, LOGNAME: name }) };
    const walled = { command, cwd, jailDir: workspace ?? jailDir, wall, group, env, given };
    const { input, isInputSame, ...confined } = await SANDBOXES[sandbox.kind].confine(sandbox, walled);
    const handle = input && (await (isInputSame ? unnamedCopy : unnamedFile)(dirname(sandbox.rootDir), input));
    return { ...confined, input: handle, runAs: null, isWalled: true, limits: sandbox.limits };
  }
  // POSIX sh and not bash: every Linux has it, and a task that needs bash can say `bash -c`.
  const env = asGiven;
  if (limits === null) return { file: SHELL, args: ['-c', command], env, runAs, isWalled: false, limits: {} };
  return {
    env,
    file: limits.program,
    args: [...limitArgs(limits), '--', SHELL, '-c', command],
    runAs,
    isWalled: false,
    limits,
  };
}
