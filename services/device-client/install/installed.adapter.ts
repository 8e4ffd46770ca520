import { access, mkdir, readdir, readFile, readlink, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { installationRoot } from '#libs/device-offer';
import { parseJson } from '#proto';
import type { JoinOptions } from '../cli/index.js';
import { errorCode, InputError } from '../faults/index.js';
import { placesIn, type InstallPlaces } from './install-places.js';

const Settings = z.strictObject({ url: z.array(z.string()).min(1) });
type Settings = z.infer<typeof Settings>;

/** The installation that this program is a part of, and the release that it is. Throws InputError for one that lies elsewhere. */
export async function ownInstallation(): Promise<{ places: InstallPlaces; release: string }> {
  const root = await realpath(installationRoot());
  if (basename(dirname(root)) !== 'releases') {
    throw new InputError(
      'This client was not installed by the script that "orrery devices enroll" prints; only "join" works with it.',
    );
  }
  return { places: placesIn(dirname(dirname(root))), release: basename(root) };
}

/** What an installation was made with. Throws InputError when nothing is installed. */
export async function readSettings({ settingsFile, dir }: InstallPlaces): Promise<Settings> {
  const read = Settings.safeParse(parseJson(await readFile(settingsFile, 'utf8').catch(() => '')));
  if (read.success) return read.data;
  throw new InputError(`Nothing is installed in ${dir}: paste what "orrery devices enroll" prints.`);
}

/** True: it was another one before. */
export async function writeSettings({ settingsFile }: InstallPlaces, settings: Settings): Promise<boolean> {
  return putText(settingsFile, `${JSON.stringify(settings, null, 2)}\n`);
}

/** How an installed client joins: as it was installed, with what its owner has put beside it. */
export async function joinOptionsOf(places: InstallPlaces): Promise<JoinOptions> {
  const { url } = await readSettings(places);
  const given = async (file: string): Promise<boolean> =>
    access(file).then(
      () => true,
      () => false,
    );
  const { caFile, configFile, policyFile, secretsDir, dataDir, tokenFile } = places;
  return {
    url,
    dataDir,
    tokenFile,
    ...((await given(caFile)) && { caFile }),
    ...((await given(configFile)) && { config: configFile }),
    ...((await given(policyFile)) && { policy: policyFile }),
    ...((await given(secretsDir)) && { secrets: secretsDir }),
  };
}

/** The release that a link leads to; undefined: it leads nowhere. */
export async function releaseAt(link: string): Promise<string | undefined> {
  return readlink(link).then(
    (target) => basename(target),
    () => undefined,
  );
}

/** In one step: who starts the client in the same moment gets the one or the other. */
export async function pointTo(link: string, target: string): Promise<void> {
  const next = `${link}.${process.pid}`;
  await rm(next, { force: true });
  await symlink(target, next);
  await rename(next, link);
}

/** A file as it has to be; true: it was another one, or none. Whole or not at all. */
export async function putText(file: string, text: string): Promise<boolean> {
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return false;
  await mkdir(dirname(file), { recursive: true });
  const next = `${file}.${process.pid}`;
  await writeFile(next, text, { mode: 0o644 });
  await rename(next, file);
  return true;
}

/** Where programs are looked for: of the machine, and of one user. */
const BIN_DIRS = ['/usr/local/bin', `${homedir()}/.local/bin`] as const;

/** What people type. What stands there under the name and is not ours stays. Resolves with its path. */
export async function linkProgram({ program }: InstallPlaces): Promise<string> {
  const link = `${BIN_DIRS[process.geteuid?.() === 0 ? 0 : 1]}/orrery-device`;
  const target = await readlink(link).catch((error: unknown) => (errorCode(error) === 'ENOENT' ? '' : undefined));
  if (target === program) return link;
  if (target !== '') return program;
  return mkdir(dirname(link), { recursive: true })
    .then(() => symlink(program, link))
    .then(
      () => link,
      () => program,
    );
}

/** Takes the link away again, where it is ours. */
export async function unlinkProgram({ program }: InstallPlaces): Promise<void> {
  for (const binDir of BIN_DIRS) {
    const link = `${binDir}/orrery-device`;
    if ((await readlink(link).catch(() => '')) === program) await rm(link);
  }
}

/** Removes releases that nobody leads to. What is just being unpacked has another name. */
export async function pruneReleases(places: InstallPlaces): Promise<void> {
  const kept = new Set([await releaseAt(places.current), await releaseAt(places.previous)]);
  for (const name of await readdir(places.releases)) {
    if (!kept.has(name) && !name.startsWith('.')) await rm(`${places.releases}/${name}`, { recursive: true });
  }
}
