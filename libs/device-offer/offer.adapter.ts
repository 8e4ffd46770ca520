import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { DeviceOffer, OFFER_FILE, parseJson } from '#proto';

/** Where this program and what belongs to it lie. */
export function installationRoot(): string {
  const own = dirname(fileURLToPath(import.meta.url));
  for (let place = own; place !== dirname(place); place = dirname(place)) {
    if (existsSync(join(place, 'package.json'))) return place;
  }
  return own;
}

/** The directory of the offer and its files. `given`: what ORRERY_DEVICE_OFFER says. */
export function offerDir(given: string | undefined): string {
  return given || join(installationRoot(), '.cache/device-archive');
}

/** Undefined: nothing is offered, because nobody has made an archive yet. */
export async function readOffer(dir: string): Promise<DeviceOffer | undefined> {
  const text = await readFile(join(dir, OFFER_FILE), 'utf8').catch(() => '');
  return DeviceOffer.safeParse(parseJson(text)).data;
}

const Installed = z.looseObject({ version: z.string(), release: z.string().optional() });

/** Of this program: the release of an archive, or the version of a checkout. */
export async function ownRelease(): Promise<string> {
  const text = await readFile(join(installationRoot(), 'package.json'), 'utf8').catch(() => '');
  const { release, version = 'unknown' } = Installed.safeParse(parseJson(text)).data ?? {};
  return release ?? version;
}
