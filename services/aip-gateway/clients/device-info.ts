import type { AgentProfile, ClientTelemetry, DeviceId, Json } from '#proto';

/** What is known of a device: its profile, and what it said itself when it connected. */
export interface KnownDevice {
  readonly profile: AgentProfile | null;
  readonly telemetry: ClientTelemetry | null;
}

const SCHEMA_VERSION = '1.0';
const MB_PER_GB = 1_024;

/** A device as UFO's clients read it (`system_info`); null when nothing is known. The profile wins over the device's own word. */
export function deviceInfoOf(deviceId: DeviceId, { profile, telemetry }: KnownDevice): Json {
  if (profile === null && telemetry === null) return null;
  const memoryMb = profile?.resources.memoryMb ?? telemetry?.memoryMb ?? 0;
  const own = telemetry?.metadata ?? {};
  return {
    device_id: deviceId,
    platform: profile?.os ?? telemetry?.platform ?? '',
    os_version: telemetry?.osVersion ?? '',
    cpu_count: profile?.resources.cpuCount ?? telemetry?.cpuCount ?? 0,
    memory_total_gb: Math.round((memoryMb / MB_PER_GB) * 100) / 100,
    hostname: profile?.hostname ?? telemetry?.hostname ?? '',
    ip_address: own['ip_address'] ?? '',
    supported_features: profile?.capabilities ?? telemetry?.capabilities ?? [],
    platform_type: own['platform_type'] ?? 'computer',
    schema_version: own['schema_version'] ?? SCHEMA_VERSION,
    custom_metadata: own['custom_metadata'] ?? {},
    tags: profile?.tags ?? [],
    tools: (profile?.tools ?? telemetry?.tools ?? []).map(({ name }) => name),
  };
}
