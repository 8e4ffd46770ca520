import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CanaryClient } from './canary-client.js';
import { PLANTED } from './planted-lines.js';
import { CLIENTS, isRoot } from './walled.js';

/*
 * Whether the checker would see it: each canary falls where nothing holds it, and what is said then names it. And behind every wall
 * stands what is not the judgement's alone, whatever the judgement would have let through.
 */

/** Numbers that nobody has, so that what is left behind can be found by them. */
const UID = 65_040 + 4 * (process.pid % 50);
const SHELL = '/usr/bin/dash';
/** Each line ends by itself, at once where a machine has nothing else to do. */
const SECONDS = 20;
const WALLS = [
  { kind: 'read', views: ['host-processes'] },
  { kind: 'write', views: [] },
] as const;
const CAN_FALL = PLANTED.filter(({ needsRoot }) => isRoot || needsRoot !== true);

const tried: CanaryClient[] = [];
beforeAll(async () => {
  for (const [at, client] of CLIENTS.entries()) tried.push(await CanaryClient.open(client, UID + at));
});
afterAll(() => {
  for (const { machine } of tried) machine.end();
});

describe('a canary', () => {
  it('falls where nothing holds it, and nothing else with it', async () => {
    const [by] = tried;
    const seen: unknown[] = [];
    for (const { canary, line, as = 'unprivileged' } of CAN_FALL) {
      const fallen = await by?.unjudged([by.machine.placed(line)], SHELL, as, SECONDS);
      seen.push({ canary, fallen });
    }
    expect(seen).toEqual(
      CAN_FALL.map(({ canary, falls }) => ({ canary, fallen: [expect.stringContaining(falls)] as unknown })),
    );
    // And everything is as it was.
    expect(await by?.unjudged(['true'], SHELL, 'unprivileged')).toEqual([]);
  }, 240_000);

  it.each(WALLS)(
    'stands behind every wall (%j) but for those that the judgement alone holds',
    async (wall) => {
      const lines = CAN_FALL.map(({ line }) => line);
      const found = await Promise.all(
        tried.map((by) =>
          by.unjudged(
            lines.map((line) => by.machine.placed(line)),
            SHELL,
            wall,
            SECONDS,
          ),
        ),
      );
      const word = CAN_FALL.filter(({ wordAlone }) => wordAlone?.includes(wall.kind));
      expect(found).toEqual(tried.map(() => word.map(({ falls }) => expect.stringContaining(falls) as unknown)));
    },
    240_000,
  );

  it('is gone for by lines that are refused or asked about, but for what the wall alone holds', () => {
    const alone = CAN_FALL.filter(({ wallAlone }) => wallAlone === true).map(({ line }) => line);
    for (const by of tried) {
      const unasked = CAN_FALL.filter(({ line }) => by.judged([line]).some(({ fate }) => fate !== 'asked'));
      expect(unasked.map(({ line }) => line)).toEqual(alone);
    }
  });
});
