import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AgentProfile, Json } from '#proto';
import { device, instant } from '../testing/given.js';
import { mergeSaid, numberOf, PROFILE_SOURCES, profileEntries, profileTree, type Statement } from './entries.js';

const BY = { kind: 'person', id: 'anna' } as const;
const given = (values: Record<string, Json>): AgentProfile['given'] =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { value, by: BY, at: instant(5) }]));
const shown = (profile: AgentProfile) =>
  Object.fromEntries(profileEntries(profile).map(({ key, value, source }) => [key, [value, source]]));

describe('a profile', () => {
  it('has what the device says where nobody says anything else', () => {
    const gpus = [
      { vendor: 'nvidia', name: 'RTX 4090', memoryMb: 24_564 },
      { vendor: 'nvidia', name: 'A100', memoryMb: 81_920, driver: '550' },
    ] as const;
    expect(shown(device('a', { gpus: [...gpus], diskMb: 102_400 }))).toMatchObject({
      'cpu.count': [2, 'device'],
      'memory.gb': [1, 'device'],
      'disk.gb': [100, 'device'],
      'gpu.count': [2, 'device'],
      'gpu.name': ['A100', 'device'],
      'gpu.memory_gb': [80, 'device'],
      'gpu.memory_total_gb': [104, 'device'],
      agent: ['LinuxAgent', 'service'],
    });
  });

  it('says of an old client nothing about cards, and of a new one that there are none', () => {
    expect(numberOf(device('a'), 'gpu.count')).toBeUndefined();
    expect(numberOf(device('a', { gpus: [] }), 'gpu.count')).toBe(0);
    const metrics = { load1: 0, memoryFreeMb: 1, diskFreeMb: 2_047, at: instant(1) };
    const card = { name: 'x', memoryMb: 8_192, memoryFreeMb: 1, utilisation: 0 };
    const old = device('a', { metrics: { ...metrics, gpus: [card] } });
    expect([numberOf(old, 'gpu.count'), numberOf(old, 'gpu.memory_gb'), numberOf(old, 'disk.free_gb')]).toEqual([
      1, 8, 1,
    ]);
  });

  it('has what the administrator says, with who and when, and what does not count for it', () => {
    const entry = profileEntries(device('a', { given: given({ 'cpu.count': 64 }) })).find(
      ({ key }) => key === 'cpu.count',
    );
    expect(entry).toEqual({
      key: 'cpu.count',
      value: 64,
      source: 'administrator',
      by: BY,
      at: instant(5),
      instead: [{ key: 'cpu.count', source: 'device', value: 2, at: instant(0) }],
    });
  });

  it('is a tree in which all groups are', () => {
    const tree = profileTree(device('a', { tags: ['x'], given: given({ 'paths.logs': '/var/log', 'rack.row': 7 }) }));
    expect(tree).toMatchObject({
      cpu: { count: 2 },
      gpu: {},
      paths: { logs: '/var/log' },
      rack: { row: 7 },
      tags: ['x'],
    });
  });
});

describe('whoever says what', () => {
  const key = fc.constantFrom('a', 'b', 'a.b', 'a.c', 'a.b.c', 'b.d');
  const said = fc
    .array(fc.tuple(key, fc.integer()), { maxLength: 6 })
    .map((list) => new Map(list.map(([name, value]): [string, Statement] => [name, { value, at: null }])));
  const overlap = (one: string, other: string) =>
    one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);

  it('the first source that says something about a place wins, and nothing that was said is lost', () => {
    fc.assert(
      fc.property(said, said, said, (administrator, service, device_) => {
        const sources = { administrator, service, device: device_ };
        const entries = mergeSaid(sources);
        for (const [rank, source] of PROFILE_SOURCES.entries()) {
          for (const [name, { value }] of sources[source]) {
            const before = PROFILE_SOURCES.slice(0, rank).flatMap((one) =>
              entries.filter((entry) => entry.source === one && overlap(entry.key, name)),
            );
            const own = entries.find((entry) => entry.key === name && entry.source === source);
            if (before.length === 0) expect(own?.value).toBe(value);
            else expect(own).toBeUndefined();
            for (const entry of before) expect(entry.instead).toContainEqual({ key: name, source, value, at: null });
          }
        }
        for (const [name] of administrator) expect(entries.some((entry) => entry.key === name)).toBe(true);
      }),
      { seed: 18, numRuns: 200 },
    );
  });
});
