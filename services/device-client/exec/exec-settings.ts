import { z } from 'zod';

/*
 * How commands are run: made by the client from its options, checked there once, and given to the process that runs them as
 * one argument. Nothing in it is secret: every command can read the arguments of its parents.
 */

/** Said beside the arguments of a call: an agent chose the command. */
export const AGENT_META = 'orrery/agent';

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

export const RunAs = z.strictObject({ name: z.string(), uid: z.int().min(0), gid: z.int().min(0), home: z.string() });
export type RunAs = z.infer<typeof RunAs>;

export const Sandbox = z.strictObject({
  /** Absolute path of bubblewrap. */
  program: Path,
  /** Which commands run in it: those of agents, or those that a person wrote as well. */
  commands: z.enum(['agents', 'all']),
  /** Beside the jail directory. */
  writable: z.array(Path),
  network: z.boolean(),
  /** Directories that are empty for what runs in it. */
  hidden: z.array(Path),
});
export type Sandbox = z.infer<typeof Sandbox>;

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

const MIB = 1024 * 1024;
const SHELL = '/bin/sh';

export interface WrappedCommand {
  readonly file: string;
  readonly args: readonly string[];
}

/** A command of whom, and from where. */
export interface CommandPlace {
  readonly command: string;
  readonly cwd: string;
  readonly isAgents: boolean;
}

/** Whether a path is the directory or below it; both absolute, and both as given or both as they really are. */
export function isWithin(path: string, directory: string): boolean {
  const prefix = directory.endsWith('/') ? directory : `${directory}/`;
  return path === directory || path.startsWith(prefix);
}

/** The command line that runs a shell command as the settings say. */
export function wrapped(
  { limits, sandbox, jailDir }: Pick<ExecSettings, 'limits' | 'sandbox' | 'jailDir'>,
  { command, cwd, isAgents }: CommandPlace,
): WrappedCommand {
  const inside = sandbox !== null && (isAgents || sandbox.commands === 'all');
  const words = [
    ...(limits === null ? [] : [limits.program, ...limitArgs(limits), '--']),
    ...(inside ? sandboxArgs(sandbox, jailDir, cwd) : []),
  ];
  // POSIX sh and not bash: every Linux has it, and a task that needs bash can say `bash -c`.
  const shell = [SHELL, '-c', command];
  const [file, ...args] = words;
  return file === undefined ? { file: SHELL, args: shell.slice(1) } : { file, args: [...args, ...shell] };
}

function limitArgs({ cpuSeconds, memoryMb, processes, fileMb }: ExecLimits): string[] {
  return [
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}`]),
    ...(memoryMb === undefined ? [] : [`--as=${memoryMb * MIB}`]),
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
    ...(fileMb === undefined ? [] : [`--fsize=${fileMb * MIB}`]),
  ];
}

const MOUNTS = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'];
const NAMESPACES = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];

/** Mounts count in their order: what is writable lies on top of what is hidden. */
function sandboxArgs({ program, writable, network, hidden }: Sandbox, jailDir: string, cwd: string): string[] {
  return [
    program,
    ...MOUNTS,
    ...hidden.flatMap((directory) => ['--tmpfs', directory]),
    ...[jailDir, ...writable].flatMap((directory) => ['--bind', directory, directory]),
    ...NAMESPACES,
    ...(network ? [] : ['--unshare-net']),
    // Root would keep its capabilities, and make the file system writable again.
    '--cap-drop',
    'ALL',
    // With its first process everything in it ends, also what left its group and its session.
    '--die-with-parent',
    '--chdir',
    cwd,
    '--',
  ];
}
