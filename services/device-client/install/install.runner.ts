import { chmod, mkdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSecret, writeSecret } from '#libs/keys';
import { NO_WALL } from '#proto';
import type { InstallOptions, Output } from '../cli/index.js';
import { InputError } from '../faults/index.js';
import { givenToken, serverUrls } from '../settings/index.js';
import { askStatus, type ClientStatus } from '../status/index.js';
import {
  linkProgram,
  ownInstallation,
  pointTo,
  pruneReleases,
  putText,
  releaseAt,
  writeSettings,
} from './installed.adapter.js';
import type { InstallPlaces } from './install-places.js';
import { clientSupervisor, type ClientSupervisor } from './supervisor.adapter.js';

const UP_MS_MAX = 30_000;
const POLL_MS = 100;
/** It runs, and has no connection. */
const EXIT_NOT_CONNECTED = 1;
/** What systemd and a shell can take without quotes. */
const PLAIN_DIR = /^\/[\w./+@-]+$/u;

/**
 * `orrery-device install`, which the script runs from the release that it has unpacked: makes this release the one that counts, and waits
 * until it is connected. What is as it has to be stays as it is. A release that does not come up gives way to the one before. Resolves with the exit code.
 */
export async function installClient({ url, dir, caFile }: InstallOptions, { out, err }: Output): Promise<number> {
  const { places, release } = await ownInstallation();
  if (dir !== undefined && dir !== places.dir) throw new InputError(`--dir: this client lies in ${places.dir}.`);
  if (!PLAIN_DIR.test(places.dir))
    throw new InputError(`--dir: ${places.dir} has more than letters, digits and ./+@_- in it.`);
  const changes = [await keepToken(places), await writeSettings(places, { url: serverUrls(url) })];
  if (caFile !== undefined && caFile !== places.caFile)
    changes.push(await putText(places.caFile, await readFile(caFile, 'utf8')));
  const before = await releaseAt(places.current);
  if (before !== release) {
    if (before !== undefined) await pointTo(places.previous, `releases/${before}`);
    await pointTo(places.current, `releases/${release}`);
  }
  const supervisor = await clientSupervisor(places);
  changes.push(await supervisor.prepare());
  const program = await linkProgram(places);
  const ran = await askStatus(places.dataDir);
  const isNew = ran?.release !== release || changes.includes(true);
  if (isNew) await supervisor.restart();
  const status = await untilUp(places, supervisor, release);
  if (status?.connected !== true) {
    const previous = before === release ? undefined : before;
    return rollBack(places, { supervisor, release, previous, status, err });
  }
  await pruneReleases(places);
  const about = [
    ['installed in', `${places.dir}, release ${release}`],
    ['runs as', supervisor.words],
    [
      'wall',
      status.wall === NO_WALL
        ? 'none: commands of agents run with the rights of the client; its log says why'
        : status.wall,
    ],
    ['keeps', `its key and its journal in ${places.dataDir}`],
    ['try', `${program} status`],
  ];
  out(`Device ${status.deviceId} ${isNew ? 'is' : 'was installed already, and is'} connected to ${status.server}\n`);
  out(about.map(([name = '', text]) => `  ${name.padEnd(13)} ${text}\n`).join(''));
  return 0;
}

/** True: there is a token that was not here before. */
async function keepToken({ dataDir, tokenFile, identityFile }: InstallPlaces): Promise<boolean> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await chmod(dataDir, 0o700);
  const [given, known, joined] = [await givenToken(), await readSecret(tokenFile), await readSecret(identityFile)];
  if (given === undefined && known === undefined && joined === undefined) {
    throw new InputError('Give the token of this device on standard input: it has not joined yet.');
  }
  if (given === undefined || given === known) return false;
  await writeSecret(tokenFile, given);
  return true;
}

/** As it was last seen; undefined: it never answered. */
async function untilUp(
  places: InstallPlaces,
  supervisor: ClientSupervisor,
  release: string,
): Promise<ClientStatus | undefined> {
  let status: ClientStatus | undefined;
  for (const until = performance.now() + UP_MS_MAX; performance.now() < until; await sleep(POLL_MS)) {
    status = await askStatus(places.dataDir);
    if (status?.release === release && status.connected) return status;
    if (await supervisor.hasFailed()) return undefined;
  }
  return status;
}

interface NotUp {
  readonly supervisor: ClientSupervisor;
  readonly release: string;
  /** That counted until now; undefined: this is the first, or the one that has counted before. */
  readonly previous: string | undefined;
  readonly status: ClientStatus | undefined;
  readonly err: Output['err'];
}

async function rollBack(places: InstallPlaces, { supervisor, release, previous, status, err }: NotUp): Promise<number> {
  const why = status === undefined ? 'it does not run' : (status.reason ?? 'no server has answered');
  if (previous !== undefined) {
    await pointTo(places.current, `releases/${previous}`);
    await supervisor.restart();
    err(`orrery-device: release ${release} did not come up (${why}); ${previous} runs again.\n`);
  } else {
    err(`orrery-device: release ${release} is installed and not connected: ${why}. See: ${places.program} logs\n`);
  }
  return EXIT_NOT_CONNECTED;
}
