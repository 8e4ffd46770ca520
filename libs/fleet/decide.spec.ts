import { describe, expect, it } from '@jest/globals';
import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import type { FleetEvent, Presence } from '#proto';
import { decideHold, decidePresence, decideRelease, wakeUpAfter, type FleetDecision } from './decide.js';
import type { Device } from './device.js';
import {
  ANNA,
  at,
  connected,
  DEVICE_ID,
  enrolled,
  given,
  givenLater,
  GRACE_MS,
  HELD,
  held,
  lost,
  presence,
  released,
  suspect,
  T0,
  telemetry,
  toolsChanged,
} from './testing/given.js';

const look = (device: Device | undefined, seen: Presence | undefined, ms = 0, graceMs = GRACE_MS): FleetDecision =>
  decidePresence(device, seen, { now: T0 + ms, graceMs });
const ignored = (reason: string): unknown => ({ kind: 'ignored', reason });
const accepted = (...events: FleetEvent[]): unknown => ({ kind: 'accepted', events });

describe('decidePresence', () => {
  it('ignores a device that nobody enrolled', () => {
    expect(look(undefined, presence('s1'))).toEqual(ignored('NOT_ENROLLED'));
    expect(look(undefined, undefined)).toEqual(ignored('NOT_ENROLLED'));
  });

  it('records the first connection', () =>
    expect(look(given(enrolled()), presence('s1'))).toEqual(accepted(connected('s1'))));

  it('records nothing of how the device is doing', () => {
    const metrics = { load1: 1, memoryFreeMb: 1, diskFreeMb: 1, gpus: [], at: at(0) };
    expect(look(given(enrolled()), presence('s1', { metrics }))).toEqual(accepted(connected('s1')));
  });

  it('ignores a renewal of the session', () =>
    expect(look(given(enrolled(), connected('s1')), presence('s1'))).toEqual(ignored('SAME_SESSION')));

  it('records a new session while the old one still counts', () =>
    expect(look(given(enrolled(), connected('s1')), presence('s2'))).toEqual(accepted(connected('s2'))));

  it.each([
    ['suspect', [enrolled(), connected('s1'), suspect('s1')]],
    ['lost', [enrolled(), connected('s1'), suspect('s1'), lost('s1')]],
  ])('records that a %s device is back, with its old session too', (_status, facts) => {
    expect(look(given(...facts), presence('s1'))).toEqual(accepted(connected('s1')));
    expect(look(given(...facts), presence('s2'))).toEqual(accepted(connected('s2')));
  });

  describe('of a device that keeps no journal', () => {
    const tools = [{ name: 'execute_command', description: '', readOnly: false }];
    const later = presence('s1', { journalId: null, telemetry: telemetry({ tools }) });

    it('records other tools in the same session, once', () => {
      const device = given(enrolled(), connected('s1'));
      expect(look(device, later)).toEqual(accepted(toolsChanged('s1', tools)));
      const told = given(enrolled(), connected('s1'), toolsChanged('s1', tools));
      expect(told).toMatchObject({ status: 'connected', session: { sessionId: 's1' }, telemetry: { tools } });
      expect(look(told, later)).toEqual(ignored('SAME_SESSION'));
    });

    it('records a new session whole', () =>
      expect(look(given(enrolled(), connected('s0')), later)).toMatchObject({
        events: [{ type: 'DEVICE_CONNECTED', data: { telemetry: { tools } } }],
      }));

    it('records no more changes than connections', () => {
      let device = given(enrolled(), connected('s1'));
      for (let change = 1; change < 60; change++) {
        const event = toolsChanged('s1', change % 2 === 0 ? [] : tools);
        device = givenLater(device, { event, ms: 0 });
      }
      const back = presence('s1', { journalId: null, telemetry: telemetry({ tools: [] }) });
      expect(look(device, back)).toEqual(ignored('TOO_OFTEN'));
    });
  });

  it('records no other tools of one of our devices before it connects again', () =>
    expect(look(given(enrolled(), connected('s1')), presence('s1', { telemetry: telemetry({ tools: [] }) }))).toEqual(
      ignored('SAME_SESSION'),
    ));

  it('records once that clients take the device from each other, and forgets it with the next credential', () => {
    const seen = presence('s1', { contendedAt: at(500) });
    const fact: FleetEvent = { type: 'DEVICE_CONTENDED', data: { sessionId: 's1', contendedAt: at(500) } };
    expect(look(given(enrolled(), connected('s1')), seen)).toEqual(accepted(fact));
    const told = given(enrolled(), connected('s1'), fact);
    expect(look(told, seen)).toEqual(ignored('SAME_SESSION'));
    expect(look(told, presence('s1'))).toEqual(ignored('SAME_SESSION'));
    expect(look(told, presence('s2', { contendedAt: at(500) }))).toEqual(accepted(connected('s2')));
    expect(given(enrolled(), connected('s1'), fact, enrolled())).toMatchObject({ contendedAt: null });
  });

  it('takes no presence that names another device', () =>
    expect(look(given(enrolled()), presence('s1', { deviceId: 'web-2' }))).toEqual(ignored('FOREIGN_PRESENCE')));

  it('suspects a connected device that vanished, with the instant of its loss', () =>
    expect(look(given(enrolled(), connected('s1')), undefined, 500)).toEqual(accepted(suspect('s1', 500))));

  it('waits out the grace', () =>
    expect(look(given(enrolled(), connected('s1'), suspect('s1')), undefined, GRACE_MS - 1)).toEqual(
      ignored('STILL_IN_GRACE'),
    ));

  it('declares the loss at the end of the grace', () =>
    expect(look(given(enrolled(), connected('s1'), suspect('s1')), undefined, GRACE_MS)).toEqual(accepted(lost('s1'))));

  it('declares the loss at once without grace', () =>
    expect(look(given(enrolled(), connected('s1')), undefined, 0, 0)).toEqual(
      accepted({ type: 'DEVICE_SUSPECT', data: { sessionId: 's1', suspectAt: at(0), lostAt: at(0) } }, lost('s1', 0)),
    ));

  it.each([
    ['offline', [enrolled()]],
    ['lost', [enrolled(), connected('s1'), suspect('s1'), lost('s1')]],
  ])('ignores the absence of a device that is %s', (_status, facts) =>
    expect(look(given(...facts), undefined, 10 * GRACE_MS)).toEqual(ignored('ALREADY_ABSENT')),
  );
});

describe('a device that connects again and again', () => {
  /** As long as it is taken down: how many connections of one that has a new session in every second. */
  const recorded = (seconds: number): number => {
    let device = given(enrolled());
    let count = 0;
    for (let second = 0; second < seconds; second++) {
      const session = `s${second}`;
      if (look(device, presence(session), second * 1_000).kind !== 'accepted') continue;
      count++;
      device = givenLater(device, { event: connected(session), ms: second * 1_000 });
    }
    return count;
  };

  it('is recorded every time at first, and then no more often than twice a minute', () => {
    expect(recorded(60)).toBe(60);
    expect(recorded(3_600)).toBe(60 + 3_600 / 30 - 1);
  });

  it('is not forgotten: later it is recorded, and its absence is whenever it comes', () => {
    const often = Array.from({ length: 60 }, () => connected('s1'));
    const device = given(enrolled(), ...often);
    expect(look(device, presence('s2'))).toEqual(ignored('TOO_OFTEN'));
    expect(look(device, presence('s2'), 31_000)).toEqual(accepted(connected('s2')));
    expect(look(device, undefined)).toEqual(accepted(suspect('s1')));
  });
});

describe('a clock that was wrong once', () => {
  it('keeps no device out of the log', () => {
    const often = Array.from({ length: 60 }, () => connected('s1'));
    const device = given(enrolled(), ...often);
    expect(look(device, presence('s2'), -86_400_000)).toEqual(accepted(connected('s2')));
  });
});

describe('wakeUpAfter', () => {
  it('is the end of the grace', () => expect(wakeUpAfter([suspect('s1')])).toBe(T0 + GRACE_MS));
  it('is nothing when the loss is in the same commit', () =>
    expect(wakeUpAfter([suspect('s1'), lost('s1')])).toBeUndefined());
  it('is nothing for a connection', () => expect(wakeUpAfter([connected('s1')])).toBeUndefined());
});

describe('decideHold', () => {
  const order = { by: ANNA, reason: 'new disks', now: T0 };

  it('records who holds, and why', () => expect(decideHold(null, order)).toEqual(accepted(held())));
  it('lets the first hold stand', () =>
    expect(decideHold(HELD, { ...order, by: { kind: 'person', id: 'bert' } })).toEqual(ignored('ALREADY_HELD')));
  it('ignores a device that nobody enrolled', () =>
    expect(decideHold(undefined, order)).toEqual(ignored('NOT_ENROLLED')));
});

describe('decideRelease', () => {
  const bert = { kind: 'person', id: 'bert' } as const;

  it('records who releases what somebody else has held', () =>
    expect(decideRelease(HELD, { by: bert, now: T0 })).toEqual(accepted(released(bert))));
  it('ignores what is not held', () => expect(decideRelease(null, { by: ANNA, now: T0 })).toEqual(ignored('NOT_HELD')));
  it('ignores a device that nobody enrolled', () =>
    expect(decideRelease(undefined, { by: ANNA, now: T0 })).toEqual(ignored('NOT_ENROLLED')));
});

describe('a held device', () => {
  it('stays held when it connects, is lost, or gets a new credential', () => {
    const facts = [enrolled(), held(), connected('s1'), suspect('s1'), lost('s1'), enrolled({}, 'b'.repeat(64))];
    expect(given(...facts)).toMatchObject({ status: 'lost', held: HELD });
  });

  it('is looked at like any other one', () => {
    const facts = [enrolled(), connected('s1'), held()];
    expect(look(given(...facts), presence('s1'))).toEqual(ignored('SAME_SESSION'));
    expect(look(given(...facts), undefined)).toEqual(accepted(suspect('s1')));
  });
});

describe('any order of looks', () => {
  const sight = record({
    session: constantFrom(undefined, 's1', 's2', 's3'),
    afterMs: integer({ min: 0, max: GRACE_MS * 2 }),
    looks: integer({ min: 1, max: 3 }),
  });

  it('never decides twice for one sight, and ends connected or on the way to lost', () =>
    assert(
      property(array(sight, { maxLength: 30 }), (sights) => {
        const facts: FleetEvent[] = [enrolled()];
        let now = 0;
        for (const { session, afterMs, looks } of sights) {
          now += afterMs;
          const seen = session === undefined ? undefined : presence(session);
          for (let index = 0; index < looks; index++) {
            const decision = look(given(...facts), seen, now);
            if (decision.kind !== 'accepted') continue;
            expect(index).toBe(0);
            facts.push(...decision.events);
          }
          const device = given(...facts);
          if (session !== undefined)
            expect(device).toMatchObject({ status: 'connected', session: { sessionId: session } });
          else expect(device?.status).not.toBe('connected');
        }
        expect(given(...facts)?.revision).toBe(facts.length);
      }),
      { seed: 20_261_120, numRuns: 200 },
    ));

  it('after every loss the device was suspect for the whole grace', () =>
    assert(
      property(array(sight, { maxLength: 30 }), (sights) => {
        const facts: FleetEvent[] = [enrolled()];
        let now = 0;
        for (const { session, afterMs } of sights) {
          now += afterMs;
          const decision = look(given(...facts), session === undefined ? undefined : presence(session), now);
          if (decision.kind === 'accepted') facts.push(...decision.events);
        }
        for (const [index, fact] of facts.entries()) {
          if (fact.type !== 'DEVICE_LOST') continue;
          const before = facts[index - 1];
          if (before?.type !== 'DEVICE_SUSPECT') throw new Error(`lost after ${before?.type}`);
          expect(before.data.sessionId).toBe(fact.data.sessionId);
          expect(Date.parse(fact.data.lostAt) - Date.parse(before.data.suspectAt)).toBeGreaterThanOrEqual(GRACE_MS);
        }
      }),
      { seed: 20_261_121, numRuns: 200 },
    ));

  it('names the device it is about', () => expect(given(enrolled())?.deviceId).toBe(DEVICE_ID));
});
