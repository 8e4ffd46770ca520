import { expect, it } from '@jest/globals';
import { AgentProfile } from '#proto';
import { deviceLines } from './device-text.js';

const SOURCES = {
  admin: { tags: [], capabilities: [] },
  manifest: { agent: 'LinuxAgent', capabilities: [] },
  telemetry: null,
};
const PROFILE = AgentProfile.parse({
  deviceId: 'linux_agent_1',
  status: 'connected',
  agent: 'LinuxAgent',
  os: 'linux',
  arch: '',
  hostname: '',
  capabilities: [],
  tags: [],
  tools: [],
  resources: { cpuCount: 2, memoryMb: 1_024 },
  tasksMax: 1,
  session: null,
  revision: 1,
  enrolledAt: '2026-11-20T10:00:00.000Z',
  changedAt: '2026-11-20T10:00:00.000Z',
});

const shown = (profile: AgentProfile): string =>
  deviceLines(profile, SOURCES, { now: 0, paint: (_, text) => text }).join('\n');

it.each([
  [
    'what makes it, and what can be seen behind it',
    { kind: 'bwrap', views: ['host-processes', 'host-network'] },
    'bwrap, with a view of host-processes, host-network',
  ],
  [
    'that nothing filters what commands ask of the kernel',
    { kind: 'util-linux', views: ['host-processes'] },
    'util-linux without a filter of kernel calls, with a view of host-processes',
  ],
  ['that nothing makes one', { kind: 'none', views: [] }, 'none: judged commands run with the rights of its client'],
  ['that its client is too old to say', undefined, 'unknown: its client does not say'],
])('says of the wall around judged commands %s', (_what, wall, words) => {
  expect(shown({ ...PROFILE, wall })).toMatch(new RegExp(`^  wall +${words}$`, 'mu'));
});

it('says of a device that several clients take it from each other, and nothing of that otherwise', () => {
  const at = '2026-11-20T11:00:00.000Z';
  expect(shown(PROFILE)).not.toContain('contended');
  expect(shown({ ...PROFILE, contendedAt: at })).toMatch(
    new RegExp(`contended +several clients use its credential, last seen 2026-11-20 11:00:00Z`, 'u'),
  );
});
