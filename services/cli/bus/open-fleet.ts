import { NO_WALL, type AgentProfile } from '#proto';

const NAMED_MAX = 8;

/** As a device says of itself; one that has never been here says nothing. */
export type WalledDevice = Pick<AgentProfile, 'deviceId' | 'session' | 'wall'>;

/** Ids of the devices that run judged commands with nothing around them but the rights of their client; those that are too old to say so are among them. */
export function devicesWithoutWall(devices: readonly WalledDevice[]): string[] {
  const told = devices.filter(({ session }) => session !== null);
  return told.filter(({ wall }) => wall === undefined || wall.kind === NO_WALL).map(({ deviceId }) => deviceId);
}

/** The first of them, and how many there are beside. */
export const namedShortly = (ids: readonly string[]): string =>
  (ids.length > NAMED_MAX ? [...ids.slice(0, NAMED_MAX), `${ids.length - NAMED_MAX} more`] : ids).join(', ');
