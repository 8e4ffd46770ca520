import { describe, expect, it } from '@jest/globals';
import { RUN_EVENT_TYPES } from './run-events.js';
import { ATTEMPT_EVENT_TYPES } from './attempt-events.js';
import { FLEET_EVENT_TYPES } from './fleet-events.js';
import { PLAN_EVENT_TYPES } from './plan-events.js';
import { schemaVersionOf, upcast, UPCASTERS, type Upcasters } from './upcasters.js';

const TWICE: Upcasters = {
  MOVED: [
    ({ to, ...rest }) => ({ ...rest, target: to }),
    ({ target, ...rest }) => {
      if (typeof target !== 'string') throw new TypeError('it went nowhere');
      return { ...rest, target, by: target === 'home' ? 'itself' : 'nobody knows' };
    },
  ],
};
const moved = (schemaVersion: number, data: object) => ({ id: 'e', sequence: 1, type: 'MOVED', schemaVersion, data });

describe('an event of an earlier version', () => {
  it('is brought up to date one version after the other', () => {
    expect(upcast(moved(1, { to: 'home' }), TWICE)).toEqual(moved(3, { target: 'home', by: 'itself' }));
  });

  it('goes on from the version in which it is stored', () => {
    expect(upcast(moved(2, { target: 'away' }), TWICE)).toEqual(moved(3, { target: 'away', by: 'nobody knows' }));
    const today = moved(3, { target: 'away', by: 'a person' });
    expect(upcast(today, TWICE)).toBe(today);
  });

  it('stays as it is stored: what is read is another object', () => {
    const stored = moved(1, { to: 'home' });
    upcast(stored, TWICE);
    expect(stored).toEqual(moved(1, { to: 'home' }));
  });

  it.each([
    [null],
    ['MOVED'],
    [{ type: 'MOVED' }],
    [moved(0, {})],
    [moved(1, { to: 7 })],
    [{ ...moved(1, {}), type: 'constructor' }],
  ])('is left to the schema when it is none: %j', (stored) => {
    expect(upcast(stored, TWICE)).toBe(stored);
  });
});

it('every type that has upcasters is one of ours, and is written in the version that they lead to', () => {
  const types: readonly string[] = [
    ...RUN_EVENT_TYPES,
    ...ATTEMPT_EVENT_TYPES,
    ...PLAN_EVENT_TYPES,
    ...FLEET_EVENT_TYPES,
  ];
  expect(Object.keys(UPCASTERS).filter((type) => !types.includes(type))).toEqual([]);
  expect(types.map(schemaVersionOf)).toEqual(types.map((type) => 1 + (UPCASTERS[type]?.length ?? 0)));
});
