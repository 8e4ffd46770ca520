import { instantOf, LIMITS, type DeviceId, type FleetCommit, type Instant } from '#proto';
import { attention, type Attention } from './attention.js';

/** What is remembered of the comings of a device: as many as it takes to see that it flaps, and since when it does. */
export interface Comings {
  /** When it connected, newest last; at most LIMITS.flapsMin. */
  readonly latest: readonly Instant[];
  /** Since when it comes and goes; null while it does not, as far as the last coming tells. */
  readonly since: Instant | null;
}

export const NO_COMINGS: Comings = { latest: [], since: null };

/** Folds the comings in a commit, by the clock of who wrote it. A device that was quiet for long enough begins anew. */
export function evolveComings(before: Comings, { at, events }: Pick<FleetCommit, 'at' | 'events'>): Comings {
  return events.reduce((comings, { type }) => (type === 'DEVICE_CONNECTED' ? came(comings, at) : comings), before);
}

function came({ latest, since }: Comings, at: Instant): Comings {
  const last = latest.at(-1);
  const wasQuiet = last !== undefined && Date.parse(at) - Date.parse(last) >= LIMITS.flapsQuietMs;
  const comings = [...(wasQuiet ? [] : latest), at].slice(-LIMITS.flapsMin);
  const first = comings[0] ?? at;
  const flaps = comings.length === LIMITS.flapsMin && Date.parse(at) - Date.parse(first) <= LIMITS.flapsWithinMs;
  const still = wasQuiet ? null : since;
  return { latest: comings, since: still ?? (flaps ? at : null) };
}

const MS_PER_MINUTE = 60_000;

/** The entry of a device that comes and goes: it ends by itself when the device was quiet for long enough. */
export function attentionOfComings(deviceId: DeviceId, { latest, since }: Comings): Attention[] {
  const last = latest.at(-1);
  if (since === null || last === undefined) return [];
  const minutes = LIMITS.flapsWithinMs / MS_PER_MINUTE;
  const what = `${deviceId} comes and goes: it connected ${LIMITS.flapsMin} times within ${minutes} minutes, last at ${last}`;
  const until = instantOf(Date.parse(last) + LIMITS.flapsQuietMs);
  const next = `orrery devices show ${deviceId}`;
  return [attention({ kind: 'flapping', key: `flapping ${deviceId} ${since}`, deviceId, what, next, since, until })];
}
