import { describe, expect, it } from '@jest/globals';
import { ClientTelemetry } from '#proto';
import type { Json, RegisterMessage } from '#proto';
import { clientOf, toolsOf } from './telemetry.js';

const register = (metadata: RegisterMessage['metadata']): RegisterMessage => ({
  type: 'register',
  status: 'ok',
  client_type: 'device',
  client_id: 'd',
  metadata,
});

describe('clientOf', () => {
  it('reads the system information of a foreign client', () =>
    expect(
      clientOf(
        register({
          platform: 'linux',
          system_info: {
            platform: 'linux',
            os_version: '#1 SMP',
            cpu_count: 2,
            memory_total_gb: 23.54,
            hostname: 'vm',
            ip_address: '192.0.2.2',
            supported_features: ['cli', 'gui'],
            platform_type: 'computer',
            something_else: 1,
          },
        }),
        1,
      ),
    ).toEqual({
      revision: null,
      journalId: null,
      toolsKnown: false,
      telemetry: {
        platform: 'linux',
        osVersion: '#1 SMP',
        hostname: 'vm',
        arch: '',
        cpuCount: 2,
        memoryMb: 24_105,
        capabilities: ['cli', 'gui'],
        tools: [],
        metadata: { ip_address: '192.0.2.2', platform_type: 'computer' },
      },
    }));

  it.each<[string, RegisterMessage['metadata']]>([
    ['nothing', undefined],
    ['null', null],
    ['no system information', { platform: null, system_info: null }],
    [
      'values of the wrong kind and size',
      {
        platform: '',
        system_info: {
          cpu_count: '<cpu>',
          memory_total_gb: -1e308,
          hostname: { a: 1 },
          os_version: 'x'.repeat(10_000),
          supported_features: [...Array<Json>(500).fill('y'.repeat(500)), 1, null],
          custom_metadata: 'z'.repeat(1_000_000),
        },
      },
    ],
  ])('makes telemetry that may be stored out of %s', (_, metadata) => {
    const { telemetry } = clientOf(register(metadata), 1);
    expect(ClientTelemetry.safeParse(telemetry).success).toBe(true);
    expect(telemetry.platform).toBe('unknown');
    expect(JSON.stringify(telemetry).length).toBeLessThan(10_000);
  });
});

describe('toolsOf', () => {
  it('reads names, descriptions and the read-only hint, each name once', () =>
    expect(
      toolsOf({
        status: 'success',
        result: [
          { tool_name: 'a', description: 'x'.repeat(5_000), annotations: { readOnlyHint: true } },
          { tool_name: 'b', description: null, annotations: null },
          { tool_name: 'b' },
          { tool_name: 'not a name' },
          { tool_name: null },
          null,
        ],
      }),
    ).toEqual([
      { name: 'a', description: 'x'.repeat(4_000), readOnly: true },
      { name: 'b', description: '', readOnly: false },
    ]));

  it('does not take silence for an empty list', () => {
    expect(toolsOf(undefined)).toBeUndefined();
    expect(toolsOf({ status: 'failure', error: 'x' })).toBeUndefined();
    expect(toolsOf({ status: 'success', result: { tools: [] } })).toBeUndefined();
    expect(toolsOf({ status: 'success', result: [] })).toEqual([]);
  });
});
