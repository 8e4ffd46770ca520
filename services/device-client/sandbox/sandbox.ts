import { z } from 'zod';
import type { CommandWall, WallView } from './command-wall.js';

const Path = z.string().regex(/^\/[^\0]*$/, 'must be an absolute path');

/** Of every command and of what it starts, by the kernel. */
export const ExecLimits = z.strictObject({
  cpuSeconds: z.int().min(1).max(1_000_000).optional(),
  /** Address space of each process. */
  memoryMb: z.int().min(16).max(1_000_000).optional(),
  /** Processes of the user, those of other commands included; the kernel does not count those of root. */
  processes: z.int().min(1).max(1_000_000).optional(),
  /** The largest file that may be written. */
  fileMb: z.int().min(1).max(1_000_000).optional(),
});
export type ExecLimits = z.infer<typeof ExecLimits>;

/** Behind a wall also where nobody has set a limit: a fork bomb, an endless loop and a full disk end there. */
export const WALL_LIMITS = { cpuSeconds: 3_600, processes: 512, fileMb: 1_024, tmpMb: 256 } as const;

/** Programs that a wall is made of, by their names. */
export const SANDBOX_PROGRAMS = {
  bwrap: ['bwrap', 'setpriv', 'prlimit'],
  'util-linux': ['unshare', 'mount', 'umount', 'pivot_root', 'setpriv', 'prlimit'],
} as const;
export const SANDBOX_KINDS = ['bwrap', 'util-linux'] as const satisfies readonly (keyof typeof SANDBOX_PROGRAMS)[];
export type SandboxKind = (typeof SANDBOX_KINDS)[number];

/** Something that is there, and that what runs behind a wall is refused. */
export const HiddenPlace = z.strictObject({
  path: Path,
  /** `passage`: a directory whose names cannot be listed, but on the way to where commands work. */
  is: z.enum(['file', 'directory', 'passage']),
});
export type HiddenPlace = z.infer<typeof HiddenPlace>;

export const Sandbox = z.strictObject({
  kind: z.enum(SANDBOX_KINDS),
  /** Absolute paths of its programs. */
  programs: z.record(z.string(), Path),
  /** Which commands run in it: those that were judged, or those that a person wrote as well. */
  commands: z.enum(['agents', 'all']),
  /** Beside the jail directory, for commands that may write. */
  writable: z.array(Path),
  /** The network of the machine, for all of them. */
  network: z.boolean(),
  hidden: z.array(HiddenPlace),
  /** A file that nobody may read: it stands where a hidden file is. */
  closedFile: Path,
  /** An empty directory, where the file system of a command is put together; files without names are made beside it. */
  rootDir: Path,
  /** Whose processes they are; `isOther`: the client is root and gives its user away. */
  user: z.strictObject({
    name: z.string(),
    uid: z.int().min(1),
    gid: z.int().min(0),
    home: z.string(),
    isOther: z.boolean(),
  }),
  /** Of all commands behind it; `tmpMb`: how much their private places for temporary files hold. */
  limits: z.strictObject({ ...ExecLimits.shape, tmpMb: z.int().min(1) }),
});
export type Sandbox = z.infer<typeof Sandbox>;

/** A command, where it starts, and what it may do and see. */
export interface WalledCommand {
  readonly command: string;
  readonly cwd: string;
  readonly jailDir: string;
  readonly wall: CommandWall;
  /** A group that no other process has, where root makes the wall. */
  readonly group: number;
}

/** Where such groups lie: above all that anybody hands out. */
export const GROUPS = { from: 0x60000000, to: 0x7ffffff0 } as const;

/** The command line that runs a command behind a wall, and what its program reads from a file at descriptor 3. */
export interface Confined {
  readonly file: string;
  readonly args: readonly string[];
  readonly input?: Uint8Array | undefined;
}

/** A wall: one of the ways to make one. */
export interface SandboxPort {
  /** What a command behind it can be shown truly; whatever else it has to see, it cannot run behind it. */
  readonly views: readonly WallView[];
  /** Calls of the kernel that only somebody needs who wants out end with SIGSYS. */
  readonly hasFilter: boolean;
  confine(sandbox: Sandbox, command: WalledCommand): Promise<Confined>;
}

const SHELL = '/bin/sh';
const MIB = 1024 * 1024;

/**
 * From the uid to the shell: what is the same behind every wall, and the last that happens before the command. Of two processes
 * of one user each may look into the other (memory, environment, its file system), unless their groups differ (ptrace(2)).
 */
export function unprivileged({ programs, user, limits }: Sandbox, { command, group }: WalledCommand): string[] {
  const { setpriv = 'setpriv', prlimit = 'prlimit' } = programs;
  const { uid, gid } = user;
  // Groups of who started the client are no business of a command; who is not root can give none away.
  const drop = user.isOther ? [`--reuid=${uid}`, `--regid=${group}`, `--groups=${gid}`, '--bounding-set=-all'] : [];
  return [
    setpriv,
    '--no-new-privs',
    '--inh-caps=-all',
    '--ambient-caps=-all',
    ...drop,
    '--',
    prlimit,
    '--core=0',
    ...limitArgs(limits),
    '--',
    // POSIX sh and not bash: every Linux has it, and a task that needs bash can say `bash -c`.
    SHELL,
    '-c',
    command,
  ];
}

/** Arguments of prlimit. */
export function limitArgs({ cpuSeconds, memoryMb, processes, fileMb }: ExecLimits): string[] {
  return [
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}`]),
    ...(memoryMb === undefined ? [] : [`--as=${memoryMb * MIB}`]),
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
    ...(fileMb === undefined ? [] : [`--fsize=${fileMb * MIB}`]),
  ];
}

/** One mount over the read-only file system. */
export interface Laid {
  readonly path: string;
  readonly as: HiddenPlace['is'] | 'readable' | 'writable';
}

/** What is hidden, and where the command works, in the order in which one lies on top of the other. */
export function laidOver({ hidden, writable }: Sandbox, { jailDir, wall }: WalledCommand): Laid[] {
  const as = wall.kind === 'write' ? 'writable' : 'readable';
  const places = [jailDir, ...writable].map((path): Laid => ({ path, as }));
  const all = [...hidden.map(({ path, is }): Laid => ({ path, as: is })), ...places];
  return all.sort((a, b) => a.path.length - b.path.length);
}

export const isHiddenDirectory = ({ as }: Laid): boolean => as === 'directory' || as === 'passage';
/** Permissions of what stands there instead. */
export const modeOf = ({ as }: Laid): string => (as === 'passage' ? '0111' : '0000');

/** Its own network without anybody in it; with the view on that of the machine, but no way into it. */
export const hasOwnNetwork = ({ network }: Sandbox, { wall }: WalledCommand): boolean =>
  !network && !wall.views.includes('host-network');
