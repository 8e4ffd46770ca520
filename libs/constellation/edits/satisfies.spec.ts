import { describe, expect, it } from '@jest/globals';
import type { AgentProfile, Json, Target, TaskStar } from '#proto';
import { constellation, device, fleet, instant } from '../testing/given.js';
import { validateConstellation } from '../plan/index.js';
import { assign, checkTarget } from './fleet-view.js';
import { couldSatisfy, missesText, satisfies, unsatisfied, unsatisfiedText } from './satisfies.js';

const BY = { kind: 'person', id: 'anna' } as const;
const given = (values: Record<string, Json>): Pick<AgentProfile, 'given'> => ({
  given: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { value, by: BY, at: instant(0) }])),
});
const star = (target: Target): TaskStar => ({
  id: 'a',
  name: 'a',
  description: '',
  tips: [],
  target,
  command: { tool: 'EXEC_CLI', arguments: {} },
});
const BIG = { where: 'profile.gpu.memory_gb >= 24' };

describe('a floor', () => {
  it.each([
    ['processors', { cpuCount: 4 }, { 'cpu.count': 4 }],
    ['memory', { memoryMb: 2_048 }, { 'memory.gb': 2 }],
    ['cards', { gpuCount: 2 }, { 'gpu.count': 2 }],
    ['memory of a card', { gpuMemoryMb: 24_576 }, { 'gpu.memory_gb': 24 }],
    ['free disk', { diskFreeMb: 1_024 }, { 'disk.free_gb': 1 }],
  ])('of %s is of what counts: what the administrator says', (_what, resources, values) => {
    expect(satisfies(device('a'), { resources })).toBe(false);
    expect(satisfies(device('a', given(values)), { resources })).toBe(true);
  });

  it('is said of a machine in its own number', () => {
    const words = [1, 2].map((count) => {
      const why = unsatisfied(device('a', given({ 'cpu.count': count })), { resources: { cpuCount: 4 } });
      return why && unsatisfiedText(why);
    });
    expect(words).toEqual(['has 1 processor', 'has 2 processors']);
  });

  it('is exact about what the device says, which names round', () => {
    const gpus = [{ vendor: 'nvidia' as const, name: 'RTX', memoryMb: 24_564 }];
    expect(satisfies(device('a', { gpus }), { resources: { gpuMemoryMb: 24_564 } })).toBe(true);
    expect(satisfies(device('a', { gpus }), { resources: { gpuMemoryMb: 24_565 } })).toBe(false);
    expect(satisfies(device('a', { gpus }), BIG)).toBe(true);
  });

  it('of the administrator stands also below what the device says', () =>
    expect(satisfies(device('a', given({ 'memory.gb': 0 })), { resources: { memoryMb: 1 } })).toBe(false));
});

describe('where', () => {
  const devices = [
    device('big', given({ 'gpu.memory_gb': 48 })),
    device('small', given({ 'gpu.memory_gb': 16 })),
    device('none'),
  ];

  it('chooses the device that has it', () => {
    const assignment = assign(star(BIG), fleet(devices));
    expect(assignment.kind === 'device' && assignment.device.deviceId).toBe('big');
  });

  it('is waited for, because a device may be given it', () => {
    const [, ...others] = devices;
    expect(assign(star(BIG), fleet(others))).toMatchObject({ kind: 'wait' });
    expect(checkTarget(star(BIG), fleet(others))).toBeUndefined();
    expect(others.every((one) => couldSatisfy(one, BIG))).toBe(true);
  });

  it('says of each device why it does not match, and of many how many', () => {
    const whys = [...devices, device('none-2')].map((one) => unsatisfied(one, BIG));
    expect(whys.map((why) => why && unsatisfiedText(why))).toEqual([
      undefined,
      'has profile.gpu.memory_gb below 24',
      'lacks profile.gpu.memory_gb',
      'lacks profile.gpu.memory_gb',
    ]);
    const misses = whys.flatMap((why) => (why?.field === 'where' ? [why.miss] : []));
    expect(missesText(misses)).toBe('2 lack profile.gpu.memory_gb, 1 below 24');
  });

  it('with a name that no device has is refused, with the name that may be meant and who has it', () => {
    const issue = checkTarget(star({ where: 'profile.gpu.memroy_gb >= 24' }), fleet(devices));
    expect(issue).toMatchObject({ code: 'NO_DEVICE', path: 'target.where' });
    expect(issue?.message).toMatch(/did you mean profile\.gpu\.memory_gb \(big, small\)\?/u);
    expect(checkTarget(star({ where: 'profile.rack == 7' }), fleet(devices))?.message).toMatch(
      /no device has; known are agent \(big, none, small\)/u,
    );
    expect(checkTarget(star({ where: 'profile.rack == 7' }), fleet(devices, {}, false))).toBeUndefined();
  });

  it('that cannot be read is refused with its path, before any fleet is known', () => {
    const plan = constellation([{ id: 'a', target: { where: 'profile.os ==' } }]);
    expect(validateConstellation(plan)).toMatchObject([{ path: 'tasks[0].target.where' }]);
  });
});
