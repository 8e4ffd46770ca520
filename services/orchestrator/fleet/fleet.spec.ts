import { describe, expect, it } from '@jest/globals';
import type { AgentProfile } from '#proto';
import { Fleet } from './fleet.js';

const AT = '2026-01-01T00:00:00.000Z';
const REVOKED = { by: { kind: 'person', id: 'anna' }, reason: 'stolen', revokedAt: AT } as const;

const profile = (changes: Partial<AgentProfile> = {}): AgentProfile => ({
  deviceId: 'web-1',
  status: 'connected',
  agent: 'LinuxAgent',
  os: 'linux',
  arch: 'x64',
  hostname: 'web-1',
  capabilities: [],
  tags: [],
  tools: [],
  resources: { cpuCount: 2, memoryMb: 1_024 },
  tasksMax: 2,
  held: null,
  session: { sessionId: 's1', gateway: 'g', journalId: 'j', connectedAt: AT },
  revision: 1,
  enrolledAt: AT,
  changedAt: AT,
  ...changes,
});

/** A fleet with what it has said to whoever waits. */
function listening() {
  const fleet = new Fleet();
  const said: string[] = [];
  fleet.onChanged((deviceId) => void said.push(`changed ${deviceId}`));
  fleet.onFree((deviceId, slots) => void said.push(`free ${deviceId} ${slots}`));
  return { fleet, said };
}

describe('the fleet', () => {
  it('shows who serves agents, and tells those that wait when another kind is served', () => {
    const { fleet, said } = listening();
    const agents = () => [...fleet.viewOf('run-1', { now: 0, reserved: () => 0 }).agents];
    expect(agents()).toEqual([]);
    fleet.agents(new Set(['LinuxAgent']));
    fleet.agents(new Set(['LinuxAgent']));
    fleet.agents(new Set());
    expect(said).toEqual(['changed *']);
    expect(agents()).toEqual([]);
  });

  it('offers the slots of a device that connected', () => {
    const { fleet, said } = listening();
    fleet.profile(profile());
    expect(said).toEqual(['changed web-1', 'free web-1 2']);
  });

  it('offers nothing of a device that is revoked, until it has joined again', () => {
    const { fleet, said } = listening();
    fleet.profile(profile({ revoked: REVOKED }));
    fleet.offer('web-1');
    expect(said).toEqual(['changed web-1']);
    fleet.profile(profile({ revoked: null, revision: 2 }));
    expect(said.slice(1)).toEqual(['changed web-1', 'free web-1 2']);
  });

  it('wakes nobody because a device says how busy it is, and knows it all the same', () => {
    const { fleet, said } = listening();
    const metrics = { load1: 1, memoryFreeMb: 1, diskFreeMb: 1, gpus: [], at: AT };
    fleet.profile(profile());
    fleet.profile(profile({ metrics }));
    fleet.profile(profile({ metrics: { ...metrics, load1: 2 } }));
    expect(said).toHaveLength(2);
    const view = fleet.viewOf('run-1', { now: 0, reserved: () => 0 });
    expect(view.devices.get('web-1')?.metrics?.load1).toBe(2);
    fleet.profile(profile({ metrics, tags: ['db'] }));
    expect(said).toHaveLength(4);
  });
});
