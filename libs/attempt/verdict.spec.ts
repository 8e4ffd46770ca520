import { describe, expect, it } from '@jest/globals';
import type { AgentProfile, ApprovalMode, AskedWall, PolicyDecision } from '#proto';
import { judgedIn } from './verdict.js';

const LINE = { tool: 'EXEC_CLI', arguments: { command: 'some line' } };

function judged(
  fits: AskedWall,
  wall: AgentProfile['wall'],
  {
    decision = 'allow',
    mode = 'policy',
    command = LINE,
  }: { decision?: PolicyDecision; mode?: ApprovalMode; command?: typeof LINE } = {},
) {
  const policy = {
    judge: () => ({ class: 'read' as const, decision, rule: 'r', reasons: ['why'], grantable: true }),
    wall: () => fits,
  };
  const profile = {
    os: 'linux',
    tags: [] as string[],
    tools: [] as AgentProfile['tools'],
    wall,
  } as unknown as AgentProfile;
  return judgedIn({ policy, profile, deviceId: 'web-1', mode }, command);
}

const PS: AskedWall = { kind: 'read', views: ['host-processes'] };
const CURL: AskedWall = { kind: 'read', views: ['loopback'] };
const bwrap = { kind: 'bwrap', views: ['host-processes', 'host-network', 'a-view-of-tomorrow'] };

describe('what a command would be given on its device', () => {
  it('is what fits it, where the wall can show what it must see', () => {
    expect(judged(PS, bwrap)).toMatchObject({ wall: PS, verdict: { decision: 'allow', rule: 'r' } });
  });

  it.each([
    ['the network of the machine', CURL, { kind: 'read', internet: true }],
    ['no wall', { kind: 'read', views: ['privileged-read'] } as const, { kind: 'none' }],
  ])('is %s where its wall cannot show it otherwise: a person is asked before', (_, fits, wall) => {
    const said = judged(fits, bwrap);
    expect(said).toMatchObject({ wall, verdict: { decision: 'approve', rule: 'wall.view', class: 'read' } });
    expect(said.verdict.reasons).toEqual([said.wall.reason, 'why']);
    const telling = judged({ ...fits, onlyTells: true }, bwrap);
    expect(telling).toMatchObject({ wall, verdict: { decision: 'allow', rule: 'r' } });
    expect(judged(fits, bwrap, { mode: 'never' }).verdict.decision).toBe('deny');
    expect(judged(fits, bwrap, { decision: 'deny' }).verdict).toMatchObject({ decision: 'deny', rule: 'r' });
    expect(judged(fits, bwrap, { decision: 'approve' }).verdict).toMatchObject({ decision: 'approve', rule: 'r' });
  });

  it.each([
    ['says nothing of a wall', undefined, LINE],
    ['has no wall', { kind: 'none', views: [] }, LINE],
    ['is asked for another tool', bwrap, { ...LINE, tool: 'OTHER' }],
  ])('is none on a device that %s, and nobody is asked because of that', (_, wall, command) => {
    expect(judged(CURL, wall, { command })).toMatchObject({
      wall: { kind: 'none', reason: expect.any(String) },
      verdict: { decision: 'allow' },
    });
  });
});
