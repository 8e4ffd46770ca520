import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  AskedWall,
  type CommandWall,
  isShown,
  isWallWithin,
  missingBehind,
  narrowerWall,
  WALL_VIEWS,
  wallOn,
} from './walls.js';

const place = fc
  .array(fc.constantFrom('srv', 'app', 'a', 'b', '..'), { minLength: 1, maxLength: 3 })
  .map((parts) => `/${parts.join('/')}`);
const walls: fc.Arbitrary<CommandWall> = fc.record(
  {
    kind: fc.constantFrom('read', 'write', 'none'),
    views: fc.subarray([...WALL_VIEWS]),
    internet: fc.constant(true),
    writable: fc.array(place, { maxLength: 3 }),
  },
  { requiredKeys: ['kind', 'views'] },
);
const wall = (more: Partial<CommandWall> = {}): CommandWall => ({ kind: 'write', views: [], ...more });

describe('a wall is within another one', () => {
  it.each<[Partial<CommandWall>, Partial<CommandWall>, boolean]>([
    [{}, {}, true],
    [{ kind: 'read' }, {}, true],
    [{}, { kind: 'read' }, false],
    [{ kind: 'none' }, {}, false],
    [{ internet: true, writable: ['/a'] }, { kind: 'none' }, true],
    [{ internet: true }, {}, false],
    [{ views: ['loopback', 'host-network'] }, { internet: true }, true],
    [{ views: ['host-processes'] }, { internet: true }, false],
    [{ writable: ['/srv/app/logs'] }, { writable: ['/srv/app'] }, true],
    [{ writable: ['/srv/apple'] }, { writable: ['/srv/app'] }, false],
    [{ writable: ['/srv/app/../../etc'] }, { writable: ['/srv/app'] }, false],
    [{ writable: ['/etc'] }, { writable: ['/'] }, true],
  ])('%j of %j: %s', (one, other, is) => expect(isWallWithin(wall(one), wall(other))).toBe(is));

  it('as an order: each is within itself, and within what its bounds are within', () => {
    fc.assert(
      fc.property(walls, walls, walls, (a, b, c) => {
        if (!(a.writable ?? []).some((path) => path.includes('..'))) expect(isWallWithin(a, a)).toBe(true);
        if (isWallWithin(a, b) && isWallWithin(b, c)) expect(isWallWithin(a, c)).toBe(true);
      }),
    );
  });
});

it('the narrower of two walls is within both', () => {
  fc.assert(
    fc.property(walls, walls, (a, b) => {
      const both = narrowerWall(a, b);
      // What climbs out of a place is within nothing, not even itself.
      if ([...(a.writable ?? []), ...(b.writable ?? [])].some((path) => path.includes('..'))) return;
      expect([isWallWithin(both, a), isWallWithin(both, b)]).toEqual([true, true]);
    }),
  );
});

it('what a device gives shows all that has to be seen, and is as narrow as it can be', () => {
  fc.assert(
    fc.property(walls, fc.subarray([...WALL_VIEWS]), (fits, shown) => {
      const on = wallOn(fits, shown);
      expect(missingBehind(on, shown)).toEqual([]);
      expect(isWallWithin(fits, on) || (fits.writable ?? []).some((path) => path.includes('..'))).toBe(true);
      if (fits.views.every((view) => shown.includes(view))) expect(on).toBe(fits);
      else if (on !== fits) expect(on.reason).toMatch(/cannot show/u);
    }),
  );
  expect(isShown('loopback', wall({ internet: true }))).toBe(true);
  expect(AskedWall.safeParse({ ...wall(), writable: ['srv'] }).success).toBe(false);
});
