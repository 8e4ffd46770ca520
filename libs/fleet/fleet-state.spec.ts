import { describe, expect, it } from '@jest/globals';
import { FLEET_ID, type DeviceId, type FleetCommit, type FleetEvent } from '#proto';
import { NO_COMMITS, sealNext, type Stored } from '#libs/event-log';
import { FleetState } from './fleet-state.js';
import {
  CLIENT_ID,
  clientEnrolled,
  clientRevoked,
  connected,
  DEVICE_ID,
  enrolled,
  HELD,
  held,
  invited,
  JOIN_HASH,
  joined,
  lost,
  OTHER_KEY,
  released,
  revoked,
  suspect,
  T0,
} from './testing/given.js';

/** The facts as one replica wrote them, a commit each. */
const stored = (...events: FleetEvent[]): Stored<FleetCommit>[] => storedOf(DEVICE_ID, events);

function storedOf(id: DeviceId, events: readonly FleetEvent[]): Stored<FleetCommit>[] {
  const state = new FleetState();
  return events.map((event, index) => {
    const commit = sealNext(state.endOf(id) ?? NO_COMMITS, { deviceId: id }, [event], {
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
    expect([state.ownerOf('a'.repeat(64)), state.ownerOf('b'.repeat(64))]).toEqual([undefined, DEVICE_ID]);
  });

  it('knows whose join token it is, also when it is used, until another one is', () => {
    const other = 'f'.repeat(64);
    const state = new FleetState();
    const [invite, join, again, anew] = stored(invited(), joined(), invited(other), joined(OTHER_KEY, other));
    const known = (): unknown[] => [state.deviceToJoin(JOIN_HASH), state.deviceToJoin(other)];
    const after = (commit: Stored<FleetCommit> | undefined): unknown[] => {
      if (commit !== undefined) state.apply(commit);
      return known();
    };
    expect(after(invite)).toEqual([DEVICE_ID, undefined]);
    expect(after(join)).toEqual([DEVICE_ID, undefined]);
    expect(after(again)).toEqual([DEVICE_ID, DEVICE_ID]);
    expect(after(anew)).toEqual([undefined, DEVICE_ID]);
  });

  it('knows clients, which are no devices', () => {
    const state = new FleetState();
    for (const commit of storedOf(CLIENT_ID, [clientEnrolled('c'.repeat(64)), clientRevoked()])) state.apply(commit);
    expect(state.client(CLIENT_ID)).toMatchObject({ clientId: CLIENT_ID, revoked: { reason: 'stolen' } });
    expect([state.all(), state.clients().length, state.ownerOf('c'.repeat(64))]).toEqual([[], 1, undefined]);
    expect(state.endOf(CLIENT_ID)).toMatchObject({ number: 2, events: 2 });
  });

  it('takes no fact of a client about a device', () => {
    const state = new FleetState();
    for (const commit of stored(enrolled())) state.apply(commit);
    const commit = sealNext(state.endOf(DEVICE_ID) ?? NO_COMMITS, { deviceId: DEVICE_ID }, [clientEnrolled()], {
      commit: '01JD0000000000000000000000',
      now: T0,
      by: { service: 'registry', instance: 'a' },
      causes: [],
    });
    expect(() => state.apply({ commit, sequence: 99 })).toThrow(/cannot be said of the device/u);
  });

  describe('who is cut off', () => {
    const after = (id: DeviceId, ...events: FleetEvent[]): DeviceId[] => {
      const state = new FleetState();
      for (const commit of storedOf(id, events)) state.apply(commit);
      return state.cutOffBetween(0, 1_000);
    };

    it('is whoever lost a credential: revoked, or given a static one in its place', () => {
      expect(after(DEVICE_ID, invited(), joined(), revoked())).toEqual([DEVICE_ID]);
      expect(after(DEVICE_ID, enrolled({}, 'a'.repeat(64)), enrolled({}, 'b'.repeat(64)))).toEqual([DEVICE_ID]);
      expect(after(DEVICE_ID, invited(), joined(), enrolled())).toEqual([DEVICE_ID]);
      expect(after(CLIENT_ID, clientEnrolled(), clientRevoked())).toEqual([CLIENT_ID]);
      expect(after(CLIENT_ID, clientEnrolled('a'.repeat(64)), clientEnrolled('b'.repeat(64)))).toEqual([CLIENT_ID]);
    });

    it('is nobody who got one, or is only offered another one', () => {
      expect(after(DEVICE_ID, enrolled(), connected('s1'), held())).toEqual([]);
      expect(after(DEVICE_ID, invited(), joined(), invited('f'.repeat(64)))).toEqual([]);
      expect(after(CLIENT_ID, clientEnrolled())).toEqual([]);
    });

    it('is also who has joined again by now: a connection from before may still be open', () => {
      expect(after(DEVICE_ID, invited(), joined(), revoked(), invited(), joined())).toEqual([DEVICE_ID]);
      expect(after(DEVICE_ID, enrolled(), invited(), joined())).toEqual([DEVICE_ID]);
    });

    it('is who has another key now', () =>
      expect(after(DEVICE_ID, invited(), joined(), invited('f'.repeat(64)), joined(OTHER_KEY, 'f'.repeat(64)))).toEqual(
        [DEVICE_ID],
      ));

    it('is told from a message of the log on', () => {
      const state = new FleetState();
      const commits = storedOf(DEVICE_ID, [invited(), joined(), revoked()]);
      for (const commit of commits) state.apply(commit);
      const at = commits[2]?.sequence ?? 0;
      expect([state.cutOffBetween(at - 1, at), state.cutOffBetween(at, at + 5)]).toEqual([[DEVICE_ID], []]);
      expect(state.cutOffBetween(0, at - 1)).toEqual([]);
    });
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
    expect(state.endOf(FLEET_ID)).toMatchObject({ number: 2, events: 2, sequence: release.sequence });
    expect([state.all(), state.get(FLEET_ID)]).toEqual([[], undefined]);
  });

  it('takes nothing for a fact about the whole fleet but holds', () => {
    const commit = sealNext(NO_COMMITS, { deviceId: FLEET_ID }, [enrolled()], {
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
    const commit = sealNext(NO_COMMITS, { deviceId: DEVICE_ID }, [connected('s1')], {
      commit: '01JD0000000000000000000000',
      now: T0,
      by: { service: 'registry', instance: 'a' },
      causes: [],
    });
    expect(() => state.apply({ commit, sequence: 1 })).toThrow(/comes before DEVICE_ENROLLED/u);
  });
});
