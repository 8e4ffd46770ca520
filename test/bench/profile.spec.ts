import { describe, expect, it } from '@jest/globals';
import { type CpuProfile, summarise } from './profile.js';

const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 9 });
const PROFILE: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(idle)') },
    { id: 2, callFrame: frame('decide', 'file:///opt/orrery/dist/libs/constellation/decide/decide.js') },
    { id: 3, callFrame: frame('parse', 'file:///opt/orrery/node_modules/@nats-io/nats-core/lib/parser.js') },
    { id: 4, callFrame: frame('writeBuffer') },
  ],
  startTime: 1_000_000,
  samples: [2, 3, 1, 4, 2],
  timeDeltas: [1_000, 2_000, 10_000, 3_000, 4_000],
};

describe('summarise', () => {
  it('gives self time by function and by package, longest first, without the idle time', () => {
    const { busyMs, idleMs, functions, packages } = summarise(PROFILE, [[0, 2_000_000]]);
    expect({ busyMs, idleMs }).toEqual({ busyMs: 10, idleMs: 10 });
    expect(functions.map(({ name, ms }) => [name, ms])).toEqual([
      ['decide libs/constellation/decide/decide.js:10', 5],
      ['writeBuffer', 3],
      ['parse @nats-io/nats-core/lib/parser.js:10', 2],
    ]);
    expect(packages.map(({ name, share }) => [name, share])).toEqual([
      ['libs/constellation', 0.5],
      ['(native)', 0.3],
      ['@nats-io/nats-core', 0.2],
    ]);
  });

  it('looks at the samples inside the windows only', () => {
    const { busyMs, idleMs } = summarise(PROFILE, [
      [1_000_000, 1_001_500],
      [1_015_000, 1_017_000],
    ]);
    expect({ busyMs, idleMs }).toEqual({ busyMs: 4, idleMs: 0 });
  });
});
