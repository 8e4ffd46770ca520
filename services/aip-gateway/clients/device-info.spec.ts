import { describe, expect, it } from '@jest/globals';
import { AgentProfile, ClientTelemetry } from '#proto';
import { deviceInfoOf } from './device-info.js';

const telemetry = ClientTelemetry.parse({
  platform: 'linux',
  osVersion: '#1 SMP',
  hostname: 'own-name',
  cpuCount: 2,
  memoryMb: 24_105,
  capabilities: ['cli'],
  tools: [{ name: 'execute_command' }],
  metadata: { ip_address: '192.0.2.2', platform_type: 'computer', schema_version: '1.0', custom_metadata: {} },
});
const at = '2026-01-01T00:00:00.000Z';
const profile = AgentProfile.parse({
  deviceId: 'd1',
  status: 'connected',
  agent: 'LinuxAgent',
  os: 'debian',
  arch: 'x64',
  hostname: 'web-1',
  capabilities: ['cli', 'gpu'],
  tags: ['lab'],
  tools: [{ name: 'execute_command' }, { name: 'get_system_info' }],
  resources: { cpuCount: 4, memoryMb: 8_192 },
  tasksMax: 2,
  session: null,
  revision: 1,
  enrolledAt: at,
  changedAt: at,
});

describe('a device, as clients of UFO read it', () => {
  it('is what its administrator says, and what it says itself', () =>
    expect(deviceInfoOf('d1', { profile, telemetry })).toEqual({
      device_id: 'd1',
      platform: 'debian',
      os_version: '#1 SMP',
      cpu_count: 4,
      memory_total_gb: 8,
      hostname: 'web-1',
      ip_address: '192.0.2.2',
      supported_features: ['cli', 'gpu'],
      platform_type: 'computer',
      schema_version: '1.0',
      custom_metadata: {},
      tags: ['lab'],
      tools: ['execute_command', 'get_system_info'],
    }));

  it('is known by one of both alone', () => {
    expect(deviceInfoOf('d1', { profile: null, telemetry })).toMatchObject({
      platform: 'linux',
      memory_total_gb: 23.54,
      hostname: 'own-name',
      tools: ['execute_command'],
    });
    expect(deviceInfoOf('d1', { profile, telemetry: null })).toMatchObject({ hostname: 'web-1', ip_address: '' });
  });

  it('that nobody knows is nothing', () => expect(deviceInfoOf('d1', { profile: null, telemetry: null })).toBeNull());
});
