import { expect, it } from '@jest/globals';
import type { AgentProfile, DeviceWall } from '#proto';
import { judgeWalls } from './judge-walls.js';

const device = (
  deviceId: string,
  wall?: DeviceWall,
  isNew = false,
): Pick<AgentProfile, 'deviceId' | 'session' | 'wall'> => ({
  deviceId,
  session: isNew ? null : { sessionId: 's1', gateway: 'g', journalId: null, connectedAt: '2026-11-20T10:00:00.000Z' },
  ...(wall && { wall }),
});
const bwrap = { kind: 'bwrap', views: ['host-processes'] };
const none = { kind: 'none', views: [] };

it.each<[string, Parameters<typeof judgeWalls>[0], unknown[]]>([
  ['nobody has been here yet', [device('new', undefined, true)], []],
  ['every device has one', [device('a', bwrap), device('b', bwrap)], [{ area: 'walls', state: 'ok' }]],
  [
    'one has none',
    [device('a', bwrap), device('b', none)],
    [{ state: 'warn', what: expect.stringMatching(/ on b$/u) }],
  ],
  [
    'one is too old to say',
    [device('old'), device('b', bwrap)],
    [{ state: 'warn', what: expect.stringMatching(/ on old$/u) }],
  ],
  [
    'very many have none',
    Array.from({ length: 40 }, (_, i) => device(`d${i}`, none)),
    [{ what: expect.stringMatching(/ d7, 32 more$/u) }],
  ],
])('the walls of devices, when %s', (_when, devices, said) => {
  expect(judgeWalls(devices)).toMatchObject(said);
  for (const { state, remedy } of judgeWalls(devices)) expect(remedy === undefined).toBe(state === 'ok');
});
