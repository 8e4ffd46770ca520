import { execFile } from 'node:child_process';
import { mkdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DeviceConfig } from '../settings/index.js';
import { inputsDir } from '../files/index.js';
import { type ExecSettings, isWithin, type RunAs } from '../exec/index.js';
import { InputError } from '../faults/index.js';
import { giveJail } from './jail.adapter.js';
import { trialFailure, programOf, quoted, sandboxFor } from './walls.runner.js';

export interface HardeningOptions {
  readonly dataDir: string;
  readonly jailDir: string;
  /** --jail was given. */
  readonly confined: boolean;
  readonly secretsDir: string | null;
  readonly ownFiles?: readonly string[] | undefined;
  /** --run-as and --sandbox, as they were given. */
  readonly runAs: string | undefined;
  readonly sandbox: string | undefined;
  /** The text of the local policy file. */
  readonly localPolicy?: string | undefined;
  /** Told once, in a sentence: that there is no wall. */
  readonly warn?: ((sentence: string) => void) | undefined;
  readonly config: Pick<DeviceConfig, 'exec' | 'files' | 'outputBytesMax'>;
}

const run = promisify(execFile);
const TRIAL_MS_MAX = 10_000;

/**
 * How commands will be run on this machine, tried once before anything else happens: a client that was told to confine its
 * commands never runs one without. Throws InputError, one sentence.
 */
export async function execSettings(options: HardeningOptions): Promise<ExecSettings> {
  const { dataDir, jailDir, confined, secretsDir, config } = options;
  const isNew = (await mkdir(jailDir, { recursive: true, mode: 0o700 })) !== undefined;
  if (secretsDir !== null)
    await mustLieApart(secretsDir, [jailDir, ...config.files.paths, ...config.exec.sandbox.writable]);
  const { outputBytesMax, exec } = config;
  const settings: ExecSettings = {
    jailDir,
    confined,
    spool: outputBytesMax > 0 ? { dir: join(dataDir, 'outputs'), bytesMax: outputBytesMax } : null,
    inputsDir: inputsDir(dataDir),
    secretsDir,
    runAs: options.runAs === undefined ? null : await userOf(options.runAs),
    umask: Number.parseInt(exec.umask, 8),
    limits: await limitsOf(exec.limits),
    sandbox: null,
  };
  const { runAs, limits } = settings;
  // The jail is the one directory that commands may use without being asked.
  if (runAs !== null && process.geteuid?.() === 0) await giveJail(jailDir, runAs, dataDir);
  if (runAs !== null || limits !== null) await tryOut(settings);
  // Where commands start may be anything that was there before, which nobody has said to give away.
  const givesJail = isNew || confined || isWithin(jailDir, dataDir) || options.sandbox !== undefined;
  return { ...settings, sandbox: await sandboxFor({ ...options, givesJail }, settings) };
}

/** The user as the system knows it. */
async function userOf(name: string): Promise<RunAs> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const inFile = passwd.split('\n').find((line) => line.startsWith(`${name}:`));
  // Users of a directory service are in no file.
  const line = inFile ?? (await said('getent', ['passwd', name]));
  const [found, , uid, gid, , home] = (line ?? '').trim().split(':');
  if (found !== name || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) {
    throw new InputError(`--run-as: there is no user "${name}" on this machine.`);
  }
  const user = { name, uid: Number(uid), gid: Number(gid), home: home === undefined || home === '' ? '/' : home };
  if (process.geteuid?.() !== 0 && process.geteuid?.() !== user.uid) {
    throw new InputError('--run-as needs a client that runs as root: nobody else may change the user of a command.');
  }
  if (user.uid === 0) throw new InputError('--run-as must name a user that is not root.');
  return user;
}

async function limitsOf(limits: DeviceConfig['exec']['limits']): Promise<ExecSettings['limits']> {
  if (Object.values(limits).every((limit) => limit === undefined)) return null;
  const program = await programOf('prlimit');
  if (program === undefined)
    throw new InputError('exec.limits needs the program prlimit (package util-linux), which is not here.');
  return { program, ...limits };
}

/** A command that does nothing, run as those of agents will be. */
async function tryOut(settings: ExecSettings): Promise<void> {
  const { jailDir, runAs, limits } = settings;
  const reason = await trialFailure(settings, `cd ${quoted(jailDir)} && test -w .`, undefined);
  if (reason === undefined) return;
  const means = [...(runAs === null ? [] : [`--run-as ${runAs.name}`]), ...(limits === null ? [] : ['exec.limits'])];
  throw new InputError(
    `${means.join(' with ')} does not work on this machine: ${reason === '' ? `a command cannot write to ${jailDir}` : reason}.`,
  );
}

/** Where commands or FILE_PUT may write, secrets would not be the administrator's any more. */
async function mustLieApart(secretsDir: string, others: readonly string[]): Promise<void> {
  const real = async (directory: string): Promise<string> => realpath(directory).catch(() => directory);
  const secrets = await real(secretsDir);
  for (const directory of others) {
    if (!isWithin(secrets, await real(directory))) continue;
    throw new InputError(
      `--secrets: ${secretsDir} must not lie below ${directory}, where files may be read and written.`,
    );
  }
}

async function said(program: string, args: readonly string[]): Promise<string | undefined> {
  return run(program, [...args], { timeout: TRIAL_MS_MAX }).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
}
