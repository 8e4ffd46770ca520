import { describe, expect, it } from '@jest/globals';
import { emptyRun, foldEvents, type Run } from '#libs/constellation';
import { AgentProfile, type Target } from '#proto';
import { hasSelectors, printReach, reachOf } from './plan-reach.js';
import { fakeTerminal } from '../testing/fake-terminal.js';

const AT = '2026-01-01T00:00:00.000Z';
const LINUX = { os: 'linux' };
const DB = { os: 'linux', tags: ['db'] };

/** A plan that waits: one task per target; `spare`: what later edits may use besides. */
function waiting(targets: readonly Target[], spare: readonly Target[] = []): Run {
  const tasks = targets.map((target, index) => ({
    id: `t${index}`,
    name: `t${index}`,
    description: '',
    tips: [],
    target,
  }));
  const run = foldEvents(emptyRun('run-1'), [
    {
      type: 'RUN_REQUESTED',
      data: {
        requestId: 'request-1',
        namespace: 'default',
        contentHash: 'a'.repeat(64),
        goal: null,
        constellation: { name: 'plan', tasks, lines: [] },
        options: {},
        metadata: {},
        requestedBy: { kind: 'person', id: 'operator' },
        requestedAt: AT,
        deadlineAt: '2026-01-02T00:00:00.000Z',
      },
    },
    {
      type: 'CONSTELLATION_MODIFIED',
      data: { revision: 1, origin: 'request', tasks: tasks.length, lines: 0, modifiedAt: AT },
    },
  ]);
  return { ...run, scope: [...targets, ...spare] };
}

const device = (deviceId: string, change: Partial<AgentProfile> = {}): AgentProfile =>
  AgentProfile.parse({
    deviceId,
    status: 'connected',
    agent: 'LinuxAgent',
    os: 'linux',
    arch: 'x64',
    hostname: deviceId,
    capabilities: [],
    tags: deviceId.startsWith('db') ? ['db'] : [],
    tools: [],
    resources: { cpuCount: 1, memoryMb: 1 },
    tasksMax: 1,
    held: null,
    session: { sessionId: 's1', journalId: 'j1', gateway: 'g', connectedAt: AT },
    revision: 1,
    enrolledAt: AT,
    changedAt: AT,
    ...change,
  });
const FLEET = [device('web-1'), device('web-2', { status: 'lost' }), device('db-1')];

function shown(run: Run, fleet: readonly AgentProfile[] | null | undefined): { out: string[]; err: string[] } {
  const terminal = fakeTerminal();
  printReach(terminal, run, fleet);
  return { out: terminal.outLines, err: terminal.errLines };
}

describe('what a plan reaches', () => {
  it('says how many devices each selector means, and warns of one that bounds nothing', () => {
    expect(shown(waiting([LINUX, DB, LINUX, { device: 'web-1' }]), FLEET).out).toEqual([
      '',
      'What selectors reach now, of 3 enrolled devices:',
      '  os linux: any of 3 devices: ALL THAT ARE ENROLLED (tasks t0, t2)',
      '  os linux, tags db: any of 1 device (task t1)',
    ]);
  });

  it('counts devices that are away, and none that was revoked', () => {
    const revoked = device('web-3', { revoked: { by: { kind: 'person', id: 'ann' }, revokedAt: AT, reason: '' } });
    expect(reachOf(waiting([LINUX]), [...FLEET, revoked])).toMatchObject({
      enrolled: 3,
      selectors: [{ devices: 3, unknown: 0, all: true }],
    });
  });

  it('does not call it bounded because of a device that has never said what it is', () => {
    const fresh = device('web-9', { status: 'offline', os: '', session: null });
    expect(shown(waiting([LINUX, DB]), [...FLEET, fresh]).out.slice(2)).toEqual([
      '  os linux: any of 3 devices: ALL THAT ARE ENROLLED, and 1 that never connected may fit (task t0)',
      '  os linux, tags db: any of 1 device (task t1)',
    ]);
  });

  it('says what later edits may use besides: whoever accepts the plan accepts that, too', () => {
    const run = waiting([DB], [{ device: 'web-2' }, LINUX]);
    expect(shown(run, FLEET).out).toEqual([
      '',
      'Later edits of a model may also use: web-2; os linux',
      'What selectors reach now, of 3 enrolled devices:',
      '  os linux: any of 3 devices: ALL THAT ARE ENROLLED (later edits only)',
      '  os linux, tags db: any of 1 device (task t0)',
    ]);
  });

  it('says that it is not known when the registry does not answer, and nothing when nobody was asked', () => {
    const { out, err } = shown(waiting([LINUX]), null);
    expect({ out, err }).toEqual({ out: [], err: [expect.stringContaining('the registry does not answer')] });
    expect(shown(waiting([LINUX]), undefined)).toEqual({ out: [], err: [] });
  });

  it('has nothing to ask where every device is named', () => {
    expect([hasSelectors(waiting([{ device: 'web-1' }])), hasSelectors(waiting([DB]))]).toEqual([false, true]);
  });

  it('lets no name reach the terminal as it is', () => {
    expect(shown(waiting([{ tags: ['a\u001B[2Jb\nc'] }]), FLEET).out.join('\n')).not.toMatch(/\u001B|^c/mu);
  });
});
