import type { AgentProfile, DeviceId, DeviceSession } from '#proto';
import type { TaskStart } from '#libs/attempt';

/** The last session of a device, as its profile has it. */
export interface DeviceState {
  readonly deviceId: DeviceId;
  readonly lost: boolean;
  readonly connected: boolean;
  readonly sessionId: string;
  readonly connectedAt: string;
}

export function deviceStateOf({ deviceId, status, session }: AgentProfile): DeviceState | undefined {
  if (session === null) return undefined;
  const { sessionId, connectedAt } = session;
  return { deviceId, lost: status === 'lost', connected: status === 'connected', sessionId, connectedAt };
}

/**
 * The session and the journal that a command is issued for now. A profile that is older than the start is not asked: the replica that
 * started the attempt knew a newer one. An attempt on a foreign device, which keeps no journal, is one of its session alone.
 */
export function sessionFor(
  profile: AgentProfile | undefined,
  { sessionId, journalId, startedAt }: TaskStart,
): Pick<DeviceSession, 'sessionId' | 'journalId'> {
  const now = profile?.session ?? null;
  if (now === null || journalId === null || Date.parse(now.connectedAt) <= Date.parse(startedAt))
    return { sessionId, journalId };
  return { sessionId: now.sessionId, journalId: now.journalId };
}

/**
 * Whether an attempt has lost its device: the session it was started for, or a later one of the same device, is declared lost.
 * An older session in the profile says nothing: the profile that was read is older than the start.
 */
export function hasLost(state: DeviceState, { deviceId, sessionId, startedAt }: TaskStart): boolean {
  if (!state.lost || state.deviceId !== deviceId) return false;
  return state.sessionId === sessionId || Date.parse(state.connectedAt) > Date.parse(startedAt);
}

/** Whether the device has had a session after this one. Session ids begin with the time at which they were made. */
export const isNewer = (state: DeviceState, sessionId: string): boolean => state.sessionId > sessionId;
