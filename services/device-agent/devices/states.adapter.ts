import { Kvm } from '@nats-io/kv';
import type { KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { AgentProfile, BUCKETS, type DeviceId } from '#proto';
import { deviceStateOf, type DeviceState } from './session.js';
import { Backoff } from '#libs/backoff';
import { waitUnlessAborted } from './waiting.runner.js';

const RESTART_MS_MIN = 100;
const RESTART_MS_MAX = 2_000;

export interface DeviceStates {
  /** What is known of a device; undefined before its first profile was seen. */
  get(deviceId: DeviceId): DeviceState | undefined;
  /** Its whole profile, of a device that was connected at least once. */
  profile(deviceId: DeviceId): AgentProfile | undefined;
  stop(): void;
}

/** Follows AGENT_PROFILES, where the registry says which sessions it declared lost, and tells about every change. */
export function watchDeviceStates(
  nc: NatsConnection,
  logger: Logger,
  changed: (state: DeviceState, before: DeviceState | undefined) => void,
): DeviceStates {
  const states = new Map<DeviceId, DeviceState>();
  const profiles = new Map<DeviceId, AgentProfile>();
  const stopped = new AbortController();
  const follow = async (): Promise<void> => {
    const backoff = new Backoff({ msMin: RESTART_MS_MIN, msMax: RESTART_MS_MAX });
    while (!stopped.signal.aborted && !nc.isClosed()) {
      try {
        const kv = await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket, { bindOnly: true });
        const entries = await kv.watch({ ignoreDeletes: true });
        stopped.signal.addEventListener('abort', () => entries.stop());
        for await (const entry of entries) {
          backoff.reset();
          const profile = profileOf(entry, logger);
          const state = profile === null ? null : deviceStateOf(profile);
          if (profile === null || state === null) continue;
          profiles.set(profile.deviceId, profile);
          const before = states.get(state.deviceId);
          states.set(state.deviceId, state);
          changed(state, before);
        }
      } catch (error) {
        logger.warn({ err: error }, 'the profiles cannot be followed');
      }
      await waitUnlessAborted(backoff.next(), stopped.signal);
    }
  };
  void follow();
  return {
    get: (deviceId) => states.get(deviceId),
    profile: (deviceId) => profiles.get(deviceId),
    stop: () => stopped.abort(),
  };
}

function profileOf(entry: KvWatchEntry, logger: Logger): AgentProfile | null {
  try {
    return AgentProfile.parse(entry.json());
  } catch (error) {
    logger.warn({ err: error, key: entry.key }, 'a profile cannot be read');
    return null;
  }
}
