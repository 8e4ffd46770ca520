import { describe, expect, it } from '@jest/globals';
import { AGENTS_GRACE_MS } from '#libs/messaging';
import { PlanningFleet } from './fleet.js';
import { untilKnown } from './known-fleet.adapter.js';
import { profileOf } from '../testing/planner-world.js';

describe('the fleet that plans are made for', () => {
  it('is not known before every profile was seen, so that nothing is called impossible', () => {
    const fleet = new PlanningFleet();
    expect(fleet.view.complete).toBe(false);
    fleet.replace(new Map());
    expect(fleet.view.complete).toBe(true);
  });

  it('is known when every profile was seen, and who serves agents', async () => {
    const fleet = new PlanningFleet();
    let known = false;
    const waiting = untilKnown(fleet, 3_600_000).then(() => (known = true));
    fleet.replace(new Map());
    await new Promise(setImmediate);
    expect(known).toBe(false);
    fleet.served([], 0);
    expect(await waiting).toBe(true);
  });

  it('is waited for no longer than told', async () => {
    const fleet = new PlanningFleet();
    await untilKnown(fleet, 1);
    expect(fleet.view.complete).toBe(false);
  });

  it('shows models no device that is revoked, and the others in one order', () => {
    const fleet = new PlanningFleet();
    const by = { kind: 'person', id: 'admin' } as const;
    const revoked = { by, reason: 'stolen', revokedAt: '2026-11-20T10:00:00.000Z' };
    const profiles = [profileOf('web-2'), profileOf('db-1'), profileOf('gone', { revoked })];
    fleet.replace(new Map(profiles.map((profile) => [profile.deviceId, profile])));
    expect(fleet.profiles.map(({ deviceId }) => deviceId)).toEqual(['db-1', 'web-2']);
  });

  it('counts on an agent for a while after its last sign of life', () => {
    const fleet = new PlanningFleet();
    fleet.served(['LinuxAgent'], 0);
    fleet.served([], AGENTS_GRACE_MS);
    expect(fleet.view.agents).toEqual(new Set(['LinuxAgent']));
    fleet.served([], AGENTS_GRACE_MS + 1);
    expect(fleet.view.agents).toEqual(new Set());
  });
});
