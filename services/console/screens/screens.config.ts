import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from '#libs/platform';
import { DeviceId, parseWith, sentenceOf } from '#proto';

/** Rights of anybody but the owner and the group. */
const OTHERS = 0o007;

/** Where the screen of a device is served by a VNC server. */
const ScreenServer = z.strictObject({
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535).default(5900),
  /** Holds the password of the VNC server; without one it asks for none. */
  passwordFile: z.string().min(1).optional(),
});
export type ScreenServer = z.infer<typeof ScreenServer>;

const Screens = z.record(DeviceId, ScreenServer);

/** Reads the file with the screens by device. Throws ConfigError. */
export function readScreens(file: string | undefined): ReadonlyMap<string, ScreenServer> {
  if (file === undefined || file === '') return new Map();
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new ConfigError('ORRERY_SCREENS_FILE must name a file of JSON that can be read.', { cause });
  }
  const parsed = parseWith(Screens, json);
  if (!parsed.ok)
    throw new ConfigError(`The file of ORRERY_SCREENS_FILE: ${parsed.issues.map(sentenceOf).join('; ')}.`);
  for (const [deviceId, { passwordFile }] of Object.entries(parsed.value)) {
    if (passwordFile !== undefined) checkPrivate(deviceId, passwordFile);
  }
  return new Map(Object.entries(parsed.value));
}

function checkPrivate(deviceId: string, file: string): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode === undefined) throw new ConfigError(`The password file of the screen of ${deviceId} is not there.`);
  if ((mode & OTHERS) !== 0)
    throw new ConfigError(`The password file of the screen of ${deviceId} can be read by others.`);
}
