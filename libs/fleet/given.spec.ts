import { describe, expect, it } from '@jest/globals';
import type { FleetEvent, ProfileValues } from '#proto';
import { decideEnrolment, decideProfile } from './decide-identity.js';
import type { Device } from './device.js';
import { ANNA, at, enrolled, given, telemetry, connected, T0 } from './testing/given.js';

const CLI = { kind: 'person', id: 'cli' } as const;

const said = (set: ProfileValues, { unset = [] as string[], commandId = 'c1', by = ANNA } = {}): FleetEvent => ({
  type: 'DEVICE_PROFILE_CHANGED',
  data: { set, unset, by, changedAt: at(0), commandId },
});

interface Order {
  readonly set?: ProfileValues;
  readonly unset?: readonly string[];
  readonly commandId?: string;
  readonly revision?: number;
}

const when = (device: Device | undefined, { set = {}, unset = [], commandId = 'c2', revision }: Order) =>
  decideProfile(device, { set, unset, commandId, revision, by: CLI, now: T0 });

const valuesOf = (device: Device | undefined) =>
  Object.fromEntries(Object.entries(device?.given.values ?? {}).map(([key, { value }]) => [key, value]));

describe('what the administrator says of a device', () => {
  it('is recorded with who said it and when', () =>
    expect(when(given(enrolled()), { set: { rack: 7 }, unset: [] })).toEqual({
      kind: 'accepted',
      events: [
        {
          type: 'DEVICE_PROFILE_CHANGED',
          data: { set: { rack: 7 }, unset: [], by: CLI, changedAt: at(0), commandId: 'c2' },
        },
      ],
    }));

  it('stands beside what was said before, each name with its own author', () => {
    const device = given(enrolled(), said({ rack: 1, roles: ['db'] }), said({ rack: 2 }, { by: CLI, commandId: 'c2' }));
    expect(device?.given.values).toEqual({
      rack: { value: 2, by: CLI, at: at(0) },
      roles: { value: ['db'], by: ANNA, at: at(0) },
    });
    expect(device?.given.revision).toBe(3);
  });

  it('is not changed by what the device says, nor by its next enrolment', () => {
    const says = connected('s1');
    const device = given(enrolled(), said({ 'cpu.count': 64, os: 'macos' }), says, enrolled());
    expect(valuesOf(device)).toEqual({ 'cpu.count': 64, os: 'macos' });
    expect(telemetry().cpuCount).toBe(4);
  });

  it('changes nothing when it is so already', () => {
    const device = given(enrolled(), said({ rack: { row: 7, side: 'left' } }));
    const same = { set: { rack: { side: 'left', row: 7 } }, unset: ['nothing'] };
    expect(when(device, same)).toEqual({ kind: 'ignored', reason: 'ALREADY_SAID' });
  });

  it('is said once by each command, however late that comes again', () => {
    const device = given(enrolled(), said({ rack: 1 }), said({ rack: 2 }, { commandId: 'c3' }));
    const again = { set: { rack: 1 }, commandId: 'c1' };
    expect(when(device, again)).toEqual({ kind: 'ignored', reason: 'ALREADY_DONE' });
    expect(when(device, { set: { rack: 9 }, commandId: 'c1' })).toMatchObject({
      kind: 'rejected',
      given: { code: 'ID_USED' },
    });
  });

  it('is refused when somebody has changed it since it was looked at', () => {
    const device = given(enrolled(), said({ rack: 1 }));
    expect(when(device, { set: { rack: 3 }, revision: 2 }).kind).toBe('accepted');
    expect(when(device, { set: { rack: 3 }, revision: 0 })).toMatchObject({
      given: { code: 'OTHER_REVISION', revision: 2 },
    });
  });

  it('is refused when it would be too much together', () => {
    const device = given(enrolled(), said({ rack: 'x'.repeat(10_000) }));
    expect(when(device, { set: { row: 'x'.repeat(10_000) } })).toMatchObject({ given: { code: 'TOO_MUCH' } });
    expect(when(device, { set: { row: 'x'.repeat(10_000) }, unset: ['rack'] }).kind).toBe('accepted');
  });

  it('goes away by name', () => {
    const device = given(enrolled(), said({ rack: 1, row: 2 }), said({}, { unset: ['rack'], commandId: 'c2' }));
    expect(valuesOf(device)).toEqual({ row: 2 });
  });

  it('is about a device that is enrolled', () =>
    expect(when(undefined, { set: { rack: 1 } })).toEqual({ kind: 'ignored', reason: 'NOT_ENROLLED' }));

  it('comes with an enrolment, as a fact of its own', () => {
    const enrolment = {
      admin: undefined,
      manifest: undefined,
      credential: { kind: 'token', tokenHash: 'a'.repeat(64) } as const,
      given: { set: { os: 'linux' }, by: CLI },
      now: T0,
    };
    const first = decideEnrolment({ device: undefined, client: undefined }, enrolment);
    expect(first.kind === 'accepted' && first.events.map(({ type }) => type)).toEqual([
      'DEVICE_ENROLLED',
      'DEVICE_PROFILE_CHANGED',
    ]);
    const known = given(enrolled(), said({ os: 'linux' }));
    const second = decideEnrolment({ device: known, client: undefined }, enrolment);
    expect(second.kind === 'accepted' && second.events.map(({ type }) => type)).toEqual(['DEVICE_ENROLLED']);
  });
});
