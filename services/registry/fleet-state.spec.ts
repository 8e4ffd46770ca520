import { describe, expect, it } from '@jest/globals';
import { FLEET_ID, type DeviceId, type FleetCommit, type FleetEvent } from '#proto';
import type { Stored } from '#libs/event-log';
import { FleetState, nextCommit } from './fleet-state.js';
import { connected, DEVICE_ID, enrolled, HELD, held, lost, released, suspect, T0 } from './given.testing.js';

/** The facts as one replica wrote them, a commit each. */
const stored = (...events: FleetEvent[]): Stored<FleetCommit>[] => storedOf(DEVICE_ID, events);

function storedOf(id: DeviceId, events: readonly FleetEvent[]): Stored<FleetCommit>[] {
  const state = new FleetState();
  return events.map((event, index) => {
    const commit = nextCommit(id, state.endOf(id), [event], {
      commit: `01JD000000000000000000000${index}`,
      now: T0 + index,
      by: { service: 'registry', instance: 'a' },
      causes: [],
    });
    const one = { commit, sequence: 10 + index * 7 };
    state.apply(one);
    return one;
  });
}

const story = [enrolled({}, 'a'.repeat(64)), connected('s1'), suspect('s1'), lost('s1'), enrolled({}, 'b'.repeat(64))];

describe('FleetState', () => {
  it('is the same when every commit arrives twice', () => {
    const [once, twice] = [new FleetState(), new FleetState()];
    for (const commit of stored(...story)) {
      once.apply(commit);
      twice.apply(commit);
      twice.apply(commit);
    }
    for (const commit of stored(...story)) twice.apply(commit);
    expect(twice.all()).toEqual(once.all());
    expect(twice.get(DEVICE_ID)).toMatchObject({ number: 5, device: { revision: 5, status: 'lost' } });
  });

  it('forgets a replaced credential', () => {
    const state = new FleetState();
    for (const commit of stored(...story)) state.apply(commit);
    expect([state.deviceOf('a'.repeat(64)), state.deviceOf('b'.repeat(64))]).toEqual([undefined, DEVICE_ID]);
  });

  it('knows by whom everything is held, and makes no device of it', () => {
    const state = new FleetState();
    const [hold, release] = storedOf(FLEET_ID, [held(), released()]);
    if (hold === undefined || release === undefined) throw new Error('no facts');
    expect(state.fleetHeld()).toBeNull();
    state.apply(hold);
    state.apply(hold);
    expect(state.fleetHeld()).toEqual(HELD);
    state.apply(release);
    state.apply(hold);
    expect(state.fleetHeld()).toBeNull();
    expect(state.endOf(FLEET_ID)).toMatchObject({ number: 2, revision: 2, end: release.sequence });
    expect([state.all(), state.get(FLEET_ID)]).toEqual([[], undefined]);
  });

  it('takes nothing for a fact about the whole fleet but holds', () => {
    const commit = nextCommit(FLEET_ID, undefined, [enrolled()], {
      commit: '01JD0000000000000000000000',
      now: T0,
      by: { service: 'registry', instance: 'a' },
      causes: [],
    });
    expect(() => new FleetState().apply({ commit, sequence: 1 })).toThrow(/cannot be said of the whole fleet/u);
  });

  it('refuses a gap instead of guessing', () => {
    const [first, , third] = stored(...story);
    const state = new FleetState();
    if (first !== undefined) state.apply(first);
    expect(() => third && state.apply(third)).toThrow(/does not continue its chain/u);
  });

  it('refuses facts about a device that was never enrolled', () => {
    const state = new FleetState();
    const commit = nextCommit(DEVICE_ID, undefined, [connected('s1')], {
      commit: '01JD0000000000000000000000',
      now: T0,
      by: { service: 'registry', instance: 'a' },
      causes: [],
    });
    expect(() => state.apply({ commit, sequence: 1 })).toThrow(/comes before DEVICE_ENROLLED/u);
  });
});
