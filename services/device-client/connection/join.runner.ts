import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { collectBuffersEarly } from '#libs/aip';
import { ownRelease } from '#libs/device-offer';
import { NO_WALL } from '#proto';
import { BAD_INPUT, type JoinOptions } from '../cli/index.js';
import { JournalError } from '../commands/index.js';
import { readIdentity, type CredentialSource } from '../identity/index.js';
import { openCredentials, type CredentialsOptions } from './credentials.runner.js';
import { DataDirInUse, lockDataDir } from '../machine/index.js';
import { dataDirOf, readConfig, serverUrls, tlsSource, tokenSource } from '../settings/index.js';
import { runDeviceClient } from './device-client.runner.js';
import { createDeviceLogger } from './device-logger.adapter.js';
import { execSettings } from './hardening.runner.js';
import { InputError } from '../faults/index.js';
import { readLocalPolicy } from '../policy/index.js';
import { SecretStore } from '../secrets/index.js';
import { serveStatus, StatusBoard } from '../status/index.js';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** `orrery-device join`: checks everything a person can get wrong, joins when it has to, then runs. Resolves with the exit code. */
export async function joinServer(options: JoinOptions, complain: (sentence: string) => void): Promise<number> {
  try {
    const logLevel = options.logLevel ?? process.env['ORRERY_LOG_LEVEL'] ?? 'info';
    if (!LOG_LEVELS.includes(logLevel)) {
      throw new InputError(`--log-level must be one of ${LOG_LEVELS.join(', ')}, not "${logLevel}".`);
    }
    const urls = serverUrls(options.url);
    const config = await readConfig(options.config);
    const tls = await tlsSource(options);
    const dataDir = dataDirOf(options.dataDir);
    const jailDir = jailDirOf(options, dataDir);
    const localPolicy = await localPolicyOf(options.policy ?? process.env['ORRERY_DEVICE_POLICY']);
    const secretsDir = options.secrets === undefined ? null : resolve(options.secrets);
    const secrets = secretsDir === null ? undefined : await SecretStore.open(secretsDir);
    const clientId = options.id ?? null;
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await lockDataDir(dataDir);
    collectBuffersEarly();
    const { runAs, tokenFile, keyFile } = options;
    const sandbox = options.sandbox ?? (process.env['ORRERY_DEVICE_SANDBOX'] || undefined);
    const ownFiles = [tokenFile, keyFile, options.config].flatMap((file) =>
      file === undefined ? [] : [resolve(file)],
    );
    const confined = options.jail !== undefined;
    const warn = (sentence: string): void => complain(`orrery-device: ${sentence}\n`);
    const places = { dataDir, jailDir, confined, secretsDir, ownFiles };
    const exec = await execSettings({ ...places, runAs, sandbox, localPolicy, warn, config });
    const token = tokenSource(options.tokenFile);
    const logger = createDeviceLogger(logLevel, secrets);
    secrets?.tellTo(logger);
    const release = await ownRelease();
    const board = await openBoard({ dataDir, clientId, release, wall: exec.sandbox?.kind ?? NO_WALL, logger });
    const credentials = await credentialsFor({ urls, tls, dataDir, token, logger });
    if (credentials === undefined) return 0;
    try {
      const identity = { urls, tls, credentials, clientId };
      return await runDeviceClient({
        ...identity,
        dataDir,
        exec,
        secrets,
        localPolicy,
        config,
        logLevel,
        release,
        board,
      });
    } finally {
      credentials.stop();
    }
  } catch (error) {
    if (error instanceof InputError || error instanceof DataDirInUse) {
      complain(`orrery-device: ${error.message}\n`);
      return BAD_INPUT;
    }
    if (error instanceof JournalError) {
      complain(
        `orrery-device: the journal is damaged: ${error.message}. It is not used, because a command could run twice.\n`,
      );
      return 1;
    }
    throw error;
  }
}

interface BoardOptions {
  readonly dataDir: string;
  readonly clientId: string | null;
  readonly release: string;
  readonly wall: string;
  readonly logger: Logger;
}

/** For people on this machine: nothing else depends on it. */
async function openBoard({ dataDir, clientId, release, wall, logger }: BoardOptions): Promise<StatusBoard> {
  const board = new StatusBoard({ pid: process.pid, release, wall, now: () => Date.now() });
  const deviceId = async (): Promise<string | null> =>
    clientId ?? (await readIdentity(dataDir)).joined?.deviceId ?? null;
  await serveStatus(dataDir, async () => board.status(await deviceId())).catch((error: unknown) =>
    logger.warn({ err: error }, 'nobody can be told how this client is doing'),
  );
  return board;
}

/** --jail is --jail-dir with walls. */
function jailDirOf({ jail, jailDir }: JoinOptions, dataDir: string): string {
  if (jail !== undefined && jailDir !== undefined && resolve(jail) !== resolve(jailDir)) {
    throw new InputError('--jail and --jail-dir name two directories; --jail alone is enough.');
  }
  return resolve(jail ?? jailDir ?? join(dataDir, 'jail'));
}

const localPolicyOf = async (file: string | undefined): Promise<string | undefined> =>
  file === undefined || file === '' ? undefined : readLocalPolicy(file);

type Given = Pick<CredentialsOptions, 'urls' | 'tls' | 'dataDir' | 'token' | 'logger'>;

/** Undefined when a signal ended the waiting for a server. */
async function credentialsFor(given: Given): Promise<CredentialSource | undefined> {
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  for (const name of STOP_SIGNALS) process.on(name, stop);
  const [now, monotonicMs, random] = [() => Date.now(), () => performance.now(), () => Math.random()];
  try {
    return await openCredentials({ ...given, now, monotonicMs, random, signal: stopped.signal });
  } catch (error) {
    if (stopped.signal.aborted) return undefined;
    throw error;
  } finally {
    // From here on the client has signal handlers of its own.
    for (const name of STOP_SIGNALS) process.off(name, stop);
  }
}
