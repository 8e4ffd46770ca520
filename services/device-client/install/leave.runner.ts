import { rm } from 'node:fs/promises';
import type { Output } from '../cli/index.js';
import { readIdentity } from '../identity/index.js';
import { ownInstallation, unlinkProgram } from './installed.adapter.js';
import { clientSupervisor } from './supervisor.adapter.js';

/**
 * `orrery-device leave`: ends the client, what starts it, and its key, without which nobody is this device. The journal, files of commands
 * and the log stay, and so does what the owner of the machine has put there.
 */
export async function leave({ out }: Output): Promise<number> {
  const { places } = await ownInstallation();
  const { joined } = await readIdentity(places.dataDir);
  await (await clientSupervisor(places)).remove();
  for (const file of [places.identityFile, places.tokenFile, places.settingsFile, places.caFile]) {
    await rm(file, { force: true });
  }
  await unlinkProgram(places);
  // Last, because this program is in there.
  for (const path of [places.current, places.previous, places.releases])
    await rm(path, { recursive: true, force: true });
  out(`orrery-device: stopped and removed, with its key. Kept: ${places.dataDir} (journal, log, files of commands)\n`);
  if (joined !== null)
    out(`The system still lists it; there: orrery devices revoke ${joined.deviceId} --reason "left"\n`);
  return 0;
}
