import type { AgentProfile, DeviceId, MeasuredMetrics, Presence, SessionId } from '#proto';

/** A profile is written anew for its metrics no more often than this, and this often at least while there are newer ones. */
const WRITE_MS_MIN = 10_000;
const AGE_MS_MAX = 60_000;
/** Less than this is noise. */
const LOAD_CHANGE = 0.25;
const LOAD_RATIO = 0.25;
const ROOM_RATIO = 0.1;
/** A share already, 0 to 1. */
const UTILISATION_CHANGE = 0.1;

interface Latest {
  readonly sessionId: SessionId;
  readonly metrics: MeasuredMetrics;
}

/**
 * How the devices are doing, as their presence says: in memory only, and only as long as a session. What is shown of it
 * follows from what is shown already, so replicas that see the same write the same.
 */
export class MetricsBoard {
  readonly #latest = new Map<DeviceId, Latest>();
  /** What AGENT_PROFILES showed when this replica looked last. */
  readonly #shown = new Map<DeviceId, MeasuredMetrics | null>();

  /** True when the profile of the device should say more than it does. */
  take({ deviceId, sessionId, metrics }: Presence): boolean {
    if (metrics === undefined) return false;
    this.#latest.set(deviceId, { sessionId, metrics });
    const shown = this.#shown.get(deviceId);
    // Before the first look at the profile that look itself will show them.
    return shown !== undefined && isWorthShowing(shown, metrics);
  }

  gone(deviceId: DeviceId): void {
    this.#latest.delete(deviceId);
  }

  /** The newest of this session; null when none are known. */
  of(deviceId: DeviceId, session: Pick<Presence, 'sessionId'> | null): MeasuredMetrics | null {
    const latest = this.#latest.get(deviceId);
    return latest !== undefined && latest.sessionId === session?.sessionId ? latest.metrics : null;
  }

  /** What the profile is to show now, with `stored` there already. */
  toShow(
    deviceId: DeviceId,
    session: AgentProfile['session'],
    stored: AgentProfile | undefined,
  ): MeasuredMetrics | null {
    const newest = this.of(deviceId, session);
    const isSameSession = stored?.session?.sessionId === session?.sessionId;
    const before = (isSameSession ? stored?.metrics : null) ?? null;
    const shows = newest !== null && isWorthShowing(before, newest) ? newest : before;
    this.#shown.set(deviceId, shows);
    return shows;
  }
}

/** Whether people or the scheduler would see a difference that is worth a write. */
export function isWorthShowing(shown: MeasuredMetrics | null, newest: MeasuredMetrics): boolean {
  if (shown === null) return true;
  const olderMs = Date.parse(newest.at) - Date.parse(shown.at);
  // A step back by so much is another clock: the old time must not stand in the way until it comes round again.
  if (Math.abs(olderMs) >= AGE_MS_MAX) return true;
  return olderMs >= WRITE_MS_MIN && hasChanged(shown, newest);
}

function hasChanged(shown: MeasuredMetrics, newest: MeasuredMetrics): boolean {
  const load = Math.abs(newest.load1 - shown.load1);
  if (load > LOAD_CHANGE && load > shown.load1 * LOAD_RATIO) return true;
  if (roomHasChanged(shown.memoryFreeMb, newest.memoryFreeMb)) return true;
  if (roomHasChanged(shown.diskFreeMb, newest.diskFreeMb)) return true;
  if (shown.gpus.length !== newest.gpus.length) return true;
  return newest.gpus.some((gpu, index) => {
    const before = shown.gpus[index];
    if (before === undefined || before.name !== gpu.name || before.memoryMb !== gpu.memoryMb) return true;
    return (
      roomHasChanged(before.memoryFreeMb, gpu.memoryFreeMb) ||
      Math.abs(gpu.utilisation - before.utilisation) > UTILISATION_CHANGE
    );
  });
}

function roomHasChanged(shown: number, newest: number): boolean {
  return Math.abs(newest - shown) > shown * ROOM_RATIO;
}
