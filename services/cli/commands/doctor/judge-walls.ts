import { devicesWithoutWall, namedShortly, type WalledDevice } from '../../bus/index.js';
import { ok, warn, type Diagnosis } from './finding.js';

const REMEDY =
  'install bubblewrap there and start the client again (--sandbox auto); its first lines say why it has none: docs/device-client.md';

/** Which devices run judged commands with nothing around them but the rights of their client. */
export function judgeWalls(devices: readonly WalledDevice[]): Diagnosis[] {
  const told = devices.filter(({ session }) => session !== null);
  const open = devicesWithoutWall(devices);
  if (told.length === 0) return [];
  if (open.length === 0) return [ok('walls', `all ${told.length} devices run judged commands behind one`)];
  return [warn('walls', `no wall around judged commands on ${namedShortly(open)}`, REMEDY)];
}
