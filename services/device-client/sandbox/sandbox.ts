import { z } from 'zod';
import type { CommandWall } from '#proto';

const Path = z.string().regex(/^\/[^\0]*$/, 'must be an absolute path');

/** Of every command and of what it starts: by the kernel for each process, by the client for all of them together. */
export const ExecLimits = z.strictObject({
  /** Together. */
  cpuSeconds: z.int().min(1).max(1_000_000).optional(),
  /** Address space of each process. */
  memoryMb: z.int().min(16).max(1_000_000).optional(),
  /** At a time; of all commands of a user that is not root the kernel refuses more than twice as many. */
  processes: z.int().min(1).max(1_000_000).optional(),
  /** The largest file that may be written. */
  fileMb: z.int().min(1).max(1_000_000).optional(),
  /** To disks, together. */
  writtenMb: z.int().min(1).max(100_000_000).optional(),
  /** Memory in use, together. */
  residentMb: z.int().min(16).max(100_000_000).optional(),
});
export type ExecLimits = z.infer<typeof ExecLimits>;

/** Behind a wall also where nobody has set a limit: a fork bomb, an endless loop and a full disk end there. */
export const WALL_LIMITS = { cpuSeconds: 3_600, processes: 512, fileMb: 1_024, writtenMb: 4_096, tmpMb: 256 } as const;

/** A bomb is past the number at which the client ends it before the client looks. */
const REFUSED_PROCESSES = 2;
export const processesRefused = ({ processes }: ExecLimits): number | undefined =>
  processes === undefined ? undefined : processes * REFUSED_PROCESSES;
/** A signal that can be told from others comes first, so long before the one that ends all. */
export const CPU_GRACE_SECONDS = 5;

/** Programs that a wall is made of, by their names. */
export const SANDBOX_PROGRAMS = {
  bwrap: ['bwrap', 'setpriv'],
  'util-linux': ['unshare', 'mount', 'umount', 'pivot_root', 'setpriv'],
} as const;
/** Loads the filter of calls where whoever makes the wall cannot, and where it is there. */
export const FILTER_PROGRAM = 'perl';
/** That of the system: one of somebody else may lie where commands see nothing. */
export const FILTER_PROGRAM_PATH = '/usr/bin/perl';
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
  /** Nothing of the client lies in the machine's `/tmp`: it can be shown. */
  showsTmp: z.boolean().optional(),
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
  /** Its whole environment; `given`: names in it that came with the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly given: readonly string[];
}

/** Where such groups lie: above all that anybody hands out. */
export const GROUPS = { from: 0x60000000, to: 0x7ffffff0 } as const;

/** The command line that runs a command behind a wall, and what its program reads from a file at descriptor 3. */
export interface Confined {
  readonly file: string;
  readonly args: readonly string[];
  /** What was given with the command has other names in it, until its wall stands. */
  readonly env: Readonly<Record<string, string>>;
  readonly input?: Uint8Array | undefined;
  /** The next command gets the same object. */
  readonly isInputSame?: boolean;
}

/**
 * The name of a variable on its way through what makes a wall. Programs of a wall run before there is one, often as root: what was meant for
 * the command (`LD_PRELOAD`) would be loaded by them.
 */
export const WITHHELD = 'ORRERY_FOR_COMMAND_';
export const withheld = (env: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => [names.includes(name) ? WITHHELD + name : name, value]),
  );

/** A wall: one of the ways to make one. */
export interface SandboxPort {
  /**
   * Calls of the kernel that only somebody needs who wants out end with SIGSYS; and whoever sees the network of the machine cannot speak in it, which
   * nothing else holds.
   */
  hasFilter(sandbox: Pick<Sandbox, 'programs'>): boolean;
  confine(sandbox: Sandbox, command: WalledCommand): Promise<Confined>;
}

const SHELL = '/bin/sh';
const MIB = 1024 * 1024;
/** Of `ulimit -f` (POSIX). */
const BLOCK = 512;

/**
 * What the first process behind a wall is, to which the command line of the command is given: it waits for the command, and when it
 * ends, the kernel ends everything behind the wall before anybody outside hears of it. The shell would say how the command was
 * killed, to whoever reads its errors.
 */
export const firstProcess = (limits: ExecLimits, before = ''): string[] => [
  SHELL,
  '-c',
  `${before}exec 9>&2 2>/dev/null; (${limitsOf(limits)}exec "$@") 2>&9 9>&-; exit "$?"`,
  'sh',
];

/** `ulimit` and not prlimit(1): a shell is there anyway. The number of processes has two names. */
function limitsOf({ cpuSeconds, memoryMb, processes, fileMb }: ExecLimits): string {
  const refused = processesRefused({ processes });
  return [
    'ulimit -c 0; ',
    ...(cpuSeconds === undefined ? [] : [`ulimit -t ${cpuSeconds + CPU_GRACE_SECONDS}; ulimit -S -t ${cpuSeconds}; `]),
    ...(memoryMb === undefined ? [] : [`ulimit -v ${memoryMb * 1024}; `]),
    ...(fileMb === undefined ? [] : [`ulimit -f ${(fileMb * MIB) / BLOCK}; `]),
    ...(processes === undefined ? [] : [`ulimit -u ${refused} 2>/dev/null || ulimit -p ${refused}; `]),
  ].join('');
}

/** POSIX sh and not bash: every Linux has it, and a task that needs bash can say `bash -c`. */
export const shellOf = ({ command }: Pick<WalledCommand, 'command'>): string[] => [SHELL, '-c', command];

/** The last before a command: a shell that gives variables their names back; some are a shell's own, and not to be had. */
export function lastShell(place: WalledCommand): string[] {
  const names = place.given.filter((name) => NAME.test(name) && name in place.env);
  const back = names.map(
    (name) => `command export ${name}="$${WITHHELD}${name}" 2>/dev/null; unset ${WITHHELD}${name}; `,
  );
  return names.length === 0 ? shellOf(place) : [SHELL, '-c', `${back.join('')}exec "$@"`, 'sh', ...shellOf(place)];
}
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/u;

/**
 * From the uid to the last shell, where no program calls the kernel for it. Of two processes of one user each may look into the other (memory,
 * environment, its file system), unless their groups differ (ptrace(2)).
 */
export function unprivileged({ programs, user }: Sandbox, { group }: WalledCommand): string[] {
  const { setpriv = 'setpriv' } = programs;
  const { uid, gid } = user;
  // Groups of who started the client are no business of a command; who is not root can give none away.
  const drop = user.isOther ? [`--reuid=${uid}`, `--regid=${group}`, `--groups=${gid}`, '--bounding-set=-all'] : [];
  return [setpriv, '--no-new-privs', '--inh-caps=-all', '--ambient-caps=-all', ...drop, '--'];
}

/** Arguments of prlimit. */
export function limitArgs({ cpuSeconds, memoryMb, processes, fileMb }: ExecLimits): string[] {
  return [
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}:${cpuSeconds + CPU_GRACE_SECONDS}`]),
    ...(memoryMb === undefined ? [] : [`--as=${memoryMb * MIB}`]),
    ...(processes === undefined ? [] : [`--nproc=${processes * REFUSED_PROCESSES}`]),
    ...(fileMb === undefined ? [] : [`--fsize=${fileMb * MIB}`]),
  ];
}

/** Whether sockets of the internet can be made: in a network without anybody they reach nobody. */
export const hasInternet = ({ network }: Sandbox, { wall }: WalledCommand): boolean =>
  !wall.views.includes('host-network') || network || wall.internet === true;

/** Its own network without anybody in it; with the view on that of the machine, but no way into it. */
export const hasOwnNetwork = ({ network }: Sandbox, { wall }: WalledCommand): boolean =>
  !network && wall.internet !== true && !wall.views.includes('host-network');
