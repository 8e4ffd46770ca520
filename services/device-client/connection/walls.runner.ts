import { execa } from 'execa';
import { access, chmod, constants, mkdir, realpath, stat, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import type { CommandWall } from '#proto';
import { type CommandPlace, type ExecSettings, minimalEnvironment, wrapped } from '../exec/index.js';
import { InputError } from '../faults/index.js';
import {
  FILTER_PROGRAM,
  FILTER_PROGRAM_PATH,
  hiddenPlaces,
  namespaceHelp,
  type Sandbox,
  SANDBOX_KINDS,
  SANDBOX_PROGRAMS,
  SANDBOXES,
  type SandboxKind,
  WALL_LIMITS,
} from '../sandbox/index.js';
import type { DeviceConfig } from '../settings/index.js';
import { workspacesDir } from '../workspaces/index.js';
import { giveJail } from './jail.adapter.js';

export interface WallOptions {
  readonly dataDir: string;
  readonly secretsDir: string | null;
  /** Further files of the client that commands do not read: its token, its keys, its settings. */
  readonly ownFiles?: readonly string[] | undefined;
  /** --sandbox, as it was given; undefined: `auto`. */
  readonly sandbox: string | undefined;
  /** The jail directory may become that of whom commands run as. */
  readonly givesJail: boolean;
  /** The text of the local policy file: what holds secrets for its owner is hidden, too. */
  readonly localPolicy?: string | undefined;
  readonly warn?: ((sentence: string) => void) | undefined;
  readonly config: Pick<DeviceConfig, 'exec'>;
}

const CHOICES = ['auto', ...SANDBOX_KINDS, 'none'];
const TRIAL_MS_MAX = 10_000;
const REASON_CHARS_MAX = 300;
const PACKAGES = { bwrap: 'bubblewrap', 'util-linux': 'util-linux' } as const satisfies Record<SandboxKind, string>;
/** Where programs of administrators are, also when nobody has put that into the path. */
const ADMIN_PATH = ['/usr/sbin', '/sbin'];

/**
 * The wall of this machine, tried once. `auto` takes the first that works, or none, and says so; a kind that was named and does
 * not work is a reason not to start. Throws InputError, one sentence.
 */
export async function sandboxFor(options: WallOptions, settings: ExecSettings): Promise<Sandbox | null> {
  const { sandbox: choice = 'auto', warn } = options;
  if (!CHOICES.includes(choice)) {
    throw new InputError(`--sandbox must be one of ${CHOICES.join(', ')}, not "${choice}".`);
  }
  if (choice === 'none') return null;
  const kinds = SANDBOX_KINDS.filter((kind) => choice === 'auto' || choice === kind);
  const reasons: string[] = [];
  for (const kind of kinds) {
    const made = await tried(kind, options, settings);
    if (typeof made !== 'string') return made;
    reasons.push(made);
  }
  const help = await namespaceHelp(process.geteuid?.() === 0, reasons.join(' '));
  const why = [...reasons, ...(help === undefined ? [] : [help])].join(' ');
  if (choice !== 'auto') throw new InputError(why);
  warn?.(
    `commands of agents run without a wall, with the rights of this client: ${why} (--sandbox none: it is meant so)`,
  );
  return null;
}

/** The sandbox, or one sentence why not. */
async function tried(kind: SandboxKind, options: WallOptions, settings: ExecSettings): Promise<Sandbox | string> {
  const names = SANDBOX_PROGRAMS[kind];
  const paths = await Promise.all(names.map(programOf));
  const missing = names.find((_, index) => paths[index] === undefined);
  if (missing !== undefined) {
    const from = missing === 'bwrap' ? PACKAGES.bwrap : PACKAGES['util-linux'];
    return `--sandbox ${kind} needs the program ${missing} (package ${from}), which is not here.`;
  }
  const programs = Object.fromEntries(names.map((name, index) => [name, paths[index] ?? name]));
  const made = await prepared({ kind, programs }, options, settings).catch((error: unknown) => {
    if (error instanceof InputError) throw error;
    return error instanceof Error ? error.message : String(error);
  });
  if (typeof made === 'string') return `--sandbox ${kind} does not work on this machine: ${made}.`;
  const sandbox = await filtered(made, settings);
  const { jailDir } = settings;
  const jail = quoted(jailDir);
  const notWritten = options.givesJail
    ? `a command cannot write to ${jailDir}`
    : `user ${sandbox.user.uid}, as whom commands run behind it, cannot write to ${jailDir}; --jail gives it to that user`;
  // Once as those that write, once as those that must not.
  const trials = [
    [`cd ${jail} && test -w . || { echo ${quoted(notWritten)} >&2; exit 1; }`, 'write'],
    [`test ! -w ${jail} || { echo "a command that may only read can write to" ${jail} >&2; exit 1; }`, 'read'],
  ] as const;
  const failures = await Promise.all(
    trials.map(([command, wall]) => trialFailure({ ...settings, sandbox }, command, { kind: wall, views: [] })),
  );
  const reason = failures.find((failure) => failure !== undefined)?.replace(/\.$/u, '');
  return reason === undefined ? sandbox : `--sandbox ${kind} does not work on this machine: ${reason}.`;
}

/** With what loads the filter of calls, where it is needed, is there, and really does so. */
async function filtered(sandbox: Sandbox, settings: ExecSettings): Promise<Sandbox> {
  if (SANDBOXES[sandbox.kind].hasFilter(sandbox)) return sandbox;
  const better = { ...sandbox, programs: { ...sandbox.programs, [FILTER_PROGRAM]: FILTER_PROGRAM_PATH } };
  const failure = await trialFailure({ ...settings, sandbox: better }, ':', { kind: 'read', views: [] });
  return failure === undefined ? better : sandbox;
}

async function prepared(
  by: Pick<Sandbox, 'kind' | 'programs'>,
  options: WallOptions,
  settings: ExecSettings,
): Promise<Sandbox> {
  const { dataDir, secretsDir, ownFiles = [], config } = options;
  const { commands, writable, network, hidden } = config.exec.sandbox;
  for (const directory of writable) {
    const found = await stat(directory).catch(() => undefined);
    if (found?.isDirectory() !== true) throw new InputError(`exec.sandbox.writable: ${directory} is not a directory.`);
  }
  const { jailDir } = settings;
  const user = userBehind(settings);
  if (user.isOther && options.givesJail) await giveJail(jailDir, user, dataDir);
  const own = [dataDir, secretsDir, process.env['ORRERY_HOME'], ...ownFiles].filter(
    (path) => path !== null && path !== undefined,
  );
  const places = await hiddenPlaces({
    patterns: await sensitivePaths(options.localPolicy),
    own: [...own.filter((path) => path !== ''), ...hidden],
    // Whoever commands become comes to the workspaces of runs, too.
    works: [jailDir, workspacesDir(dataDir), ...writable],
    uid: user.isOther ? user.uid : null,
  });
  return {
    ...by,
    ...(await placesFor(dataDir)),
    commands,
    writable,
    network,
    user,
    hidden: places,
    showsTmp: ![...own, ...hidden].some((path) => /^\/tmp(?:\/|$)/u.test(path)),
    limits: { ...WALL_LIMITS, residentMb: memoryMbMax(), ...config.exec.limits },
  };
}

/** Three quarters of what the machine has, or its container: at the end of the rest the kernel chooses whom it ends. */
function memoryMbMax(): number {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return Math.max(256, Math.floor((bytes * 0.75) / 2 ** 20));
}

/**
 * Whose nothing is: services share `nobody` (PostgreSQL started by root does), and up to 65519 numbers are handed out by systemd. It
 * needs no line in a file.
 */
const COMMANDS_UID = 65_533;

/** Root gives its user away behind a wall, also where nobody has said to whom. */
function userBehind({ runAs, jailDir }: ExecSettings): Sandbox['user'] {
  const [uid, gid] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0];
  if (uid !== 0) return { name: '', uid, gid, home: '', isOther: false };
  return runAs === null
    ? { name: 'orrery-command', uid: COMMANDS_UID, gid: COMMANDS_UID, home: jailDir, isOther: true }
    : { ...runAs, isOther: true };
}

/** What stands where a hidden file is, and where the file system of a command is put together. */
async function placesFor(dataDir: string): Promise<Pick<Sandbox, 'closedFile' | 'rootDir'>> {
  const [closedFile, rootDir] = [join(dataDir, 'wall', 'closed'), join(dataDir, 'wall', 'root')];
  await mkdir(rootDir, { recursive: true, mode: 0o700 });
  await chmod(closedFile, 0o600).catch(() => undefined);
  await writeFile(closedFile, '');
  await chmod(closedFile, 0o000);
  return { closedFile, rootDir };
}

/** Loaded where there is a wall only: many devices never judge a command. */
async function sensitivePaths(localPolicy: string | undefined): Promise<readonly string[]> {
  const { parsePolicy, SENSITIVE_PATHS } = await import('#libs/command-policy');
  const own = localPolicy === undefined ? undefined : parsePolicy(localPolicy);
  return [...SENSITIVE_PATHS, ...(own?.ok === true ? (own.policy.sensitivePaths ?? []) : [])];
}

/** Runs a command as those of agents will be: undefined when it went well, otherwise what it said, in one line. */
export async function trialFailure(
  settings: ExecSettings,
  command: string,
  wall: CommandWall | undefined,
): Promise<string | undefined> {
  const { jailDir } = settings;
  // By its whole path: in a directory that it cannot reach a command could start, and go no further.
  const own = minimalEnvironment(process.env);
  const place: CommandPlace = { command, cwd: jailDir, isAgents: true, wall, env: own, given: [] };
  const { file, args, env, input, runAs } = await wrapped(settings, place);
  const trial = execa(file, args, {
    cwd: jailDir,
    env,
    extendEnv: false,
    stdio: ['ignore', 'ignore', 'pipe', ...(input === undefined ? [] : [input.fd as 3])],
    timeout: TRIAL_MS_MAX,
    reject: false,
    ...(runAs !== null && { uid: runAs.uid, gid: runAs.gid }),
  });
  await input?.close();
  const { failed, stderr } = await trial;
  return failed ? (stderr.trim().split('\n')[0] ?? '').slice(0, REASON_CHARS_MAX) : undefined;
}

/** As a word for a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The first on the path that is more than a name of BusyBox, whose programs know few of the options. */
export async function programOf(name: string): Promise<string | undefined> {
  const given = (process.env['PATH'] ?? '').split(delimiter).filter((path) => isAbsolute(path));
  for (const directory of [...given, ...ADMIN_PATH]) {
    const path = join(directory, name);
    const isThere = await access(path, constants.X_OK).then(
      async () => basename(await realpath(path)) !== 'busybox',
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}
