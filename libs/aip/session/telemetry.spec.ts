import { describe, expect, it } from '@jest/globals';
import { ClientTelemetry } from '#proto';
import type { Json, RegisterMessage } from '#proto';
import { clientOf, fitting, toolsOf } from './telemetry.js';

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
      takesBytes: false,
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
          {
            tool_name: 'c',
            input_schema: { $schema: 's', type: 'object' },
            output_schema: { properties: { ok: { type: 'boolean' } } },
          },
          { tool_name: 'd', input_schema: 'x', output_schema: 4 },
          { tool_name: 'b' },
          { tool_name: 'not a name' },
          { tool_name: null },
          null,
        ],
      }),
    ).toEqual([
      { name: 'a', description: 'x'.repeat(4_000), readOnly: true },
      { name: 'b', description: '', readOnly: false },
      { name: 'c', description: '', readOnly: false, inputSchema: { type: 'object' }, returns: '{ok?: boolean}' },
      { name: 'd', description: '', readOnly: false },
    ]));

  it('does not take silence for an empty list', () => {
    expect(toolsOf(undefined)).toBeUndefined();
    expect(toolsOf({ status: 'failure', error: 'x' })).toBeUndefined();
    expect(toolsOf({ status: 'success', result: { tools: [] } })).toBeUndefined();
    expect(toolsOf({ status: 'success', result: [] })).toEqual([]);
  });
});

describe('what a device may say of itself', () => {
  const said = (changes: object): ClientTelemetry => ClientTelemetry.parse({ platform: 'linux', ...changes });
  const tools = (count: number, more: (index: number) => object) =>
    Array.from({ length: count }, (_, index) => ({ name: `tool-${index}`, ...more(index) }));
  const charsOf = (value: unknown): number => JSON.stringify(value).length;

  it('stays as it is when it is of a size that somebody needs', () => {
    const honest = said({ tools: tools(50, () => ({ description: 'x'.repeat(1_000) })), metadata: { gpu: 'A100' } });
    expect(fitting(honest)).toEqual(honest);
    expect(clientOf(register({ orrery: { revision: 2, journal_id: 'j', telemetry: honest } }), 2).telemetry).toEqual(
      honest,
    );
  });

  it('loses first what is only there to be read', () => {
    const long = fitting(said({ tools: tools(200, () => ({ description: 'x'.repeat(4_000) })) }));
    expect(long.tools.map(({ description }) => description.length)).toEqual(Array.from({ length: 200 }, () => 400));
    const many = fitting(said({ tools: tools(1_000, () => ({ description: 'x'.repeat(4_000) })) }));
    expect([many.tools.length, many.tools[0]?.description]).toEqual([1_000, 'x'.repeat(24)]);
    expect(fitting(said({ metadata: { text: 'x'.repeat(20_000) } })).metadata).toEqual({});
  });

  it('never has more characters than a log can bear', () => {
    const name = (index: number) => ({ name: String(index).padEnd(128, '\u0001') });
    const hostile = said({ tools: tools(1_000, name), metadata: { text: 'x'.repeat(500_000) } });
    expect(charsOf(hostile)).toBeGreaterThan(1_000_000);
    expect(charsOf(fitting(hostile))).toBeLessThan(150 * 1024);
    expect(fitting(hostile).tools.length).toBeGreaterThan(100);
  });
});
