import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type CommandWall,
  isShown,
  isWallWithin,
  type Judged,
  type PolicyDecision,
  type PolicyVerdict,
  UNHELD,
  WALL_VIEWS,
} from '#proto';
import { heldBehind, type JudgedOrder, ownRefusalOf, unknownSecret, unknownSecretOutcome } from './command-gate.js';

const verdict = (decision: PolicyDecision): PolicyVerdict => ({
  class: 'write',
  decision,
  rule: 'program.rm',
  reasons: ['It removes files.', 'Another one.'],
  grantable: true,
});
const allowed: Judged = { class: 'read', decision: 'allow', rule: 'r' };
const approved: Judged = { class: 'write', decision: 'approve', rule: 'r', approvalId: 'r1.a.1.1.0' };

describe('the word of a device on a command', () => {
  it.each<[PolicyDecision, string, Judged | undefined, boolean, string | undefined]>([
    ['allow', 'of an agent', allowed, false, undefined],
    ['log', 'of an agent', allowed, true, undefined],
    ['approve', 'of an agent that nobody approved', allowed, false, 'APPROVAL_REQUIRED'],
    ['approve', 'of an agent that the service logs only', { ...allowed, decision: 'log' }, true, 'APPROVAL_REQUIRED'],
    ['approve', 'of an agent that a person approved', approved, true, undefined],
    ['deny', 'of an agent', allowed, false, 'POLICY_DENIED'],
    ['deny', 'of an agent that a person approved', approved, false, 'POLICY_DENIED'],
    ['deny', 'that a person wrote', undefined, true, 'POLICY_DENIED'],
    ['deny', 'that a person wrote, without a local policy', undefined, false, undefined],
    ['approve', 'that a person wrote', undefined, true, undefined],
  ])('is, with the decision %s for one %s', (decision, _, judged, hasLocal, code) =>
    expect(ownRefusalOf({ verdict: verdict(decision), wall: UNHELD, hasLocal }, judged)?.error?.code).toBe(code),
  );

  it('names the rule and the reason', () =>
    expect(ownRefusalOf({ verdict: verdict('deny'), wall: UNHELD, hasLocal: false }, allowed)).toEqual({
      state: 'FAILED',
      result: null,
      error: {
        code: 'POLICY_DENIED',
        message: 'the policy of this device denies it, rule program.rm: It removes files.',
        outcome: 'failed',
      },
      startedAt: null,
      durationMs: null,
    }));
});

describe('the wall of a judged command', () => {
  const shown = ['host-processes'] as const;
  it.each([
    ['read', [], allowed, 'read'],
    ['write', ['host-processes'], allowed, 'write'],
    ['none', ['loopback'], allowed, 'none'],
    ['read', ['host-processes', 'privileged-read'], allowed, 'APPROVAL_REQUIRED'],
    ['read', ['loopback'], { ...approved, class: 'read' as const }, 'none'],
    ['write', [], approved, 'write'],
  ] as const)('that is judged to %s and has to see %j is held so, or asked about', (kind, views, judged, expected) => {
    const held = heldBehind({ kind, views }, shown, judged);
    expect(held.kind === 'held' ? held.wall.kind : held.outcome.error?.code).toBe(expected);
  });

  it('is none for what was approved by who saw no wall, and is more than a write', () => {
    for (const more of [{ internet: true as const }, { writable: ['/srv/x'] }])
      expect(heldBehind({ kind: 'write', views: [], ...more }, shown, approved)).toEqual({
        kind: 'held',
        wall: { kind: 'none', views: [] },
      });
  });
});

describe('the wall of an approved command', () => {
  const given = (wall: CommandWall): JudgedOrder => ({ ...approved, wall });
  const walls: fc.Arbitrary<CommandWall> = fc.record(
    {
      kind: fc.constantFrom('read', 'write', 'none'),
      views: fc.subarray([...WALL_VIEWS]),
      internet: fc.constant(true),
      writable: fc.uniqueArray(fc.constantFrom('/srv', '/srv/app', '/data'), { maxLength: 2 }),
    },
    { requiredKeys: ['kind', 'views'] },
  );

  it('is never wider than what was approved, shows all that the device says it must see, or it does not run', () => {
    fc.assert(
      fc.property(walls, walls, fc.subarray([...WALL_VIEWS]), (fits, granted, shown) => {
        const held = heldBehind(fits, shown, given(granted));
        if (held.kind === 'refused') return expect(held.outcome.error?.code).toBe('APPROVAL_REQUIRED');
        expect(isWallWithin(held.wall, granted)).toBe(true);
        expect(held.wall.views.every((view) => held.wall.kind === 'none' || shown.includes(view))).toBe(true);
        expect(fits.views.every((view) => isShown(view, held.wall))).toBe(true);
      }),
    );
  });

  it('is what a person widened it to', () => {
    for (const wall of [UNHELD, { kind: 'write', views: [], internet: true, writable: ['/srv'] } as const])
      expect(heldBehind({ kind: 'read', views: [] }, [], given(wall))).toEqual({ kind: 'held', wall });
  });

  it('counts only with the approval: who says nothing of one has none', () => {
    const { approvalId: _, ...alone } = given(UNHELD);
    expect(heldBehind({ kind: 'read', views: [] }, [], alone)).toEqual({
      kind: 'held',
      wall: { kind: 'read', views: [] },
    });
  });
});

it('what is to be approved says what it would be given', () => {
  const wall = { kind: 'write', views: [], internet: true } as const;
  const refusal = ownRefusalOf({ verdict: verdict('approve'), wall, hasLocal: false }, allowed);
  expect(refusal).toMatchObject({ startedAt: null, result: { wall }, error: { code: 'APPROVAL_REQUIRED' } });
  const telling = { kind: 'read', views: ['loopback'], onlyTells: true } as const;
  expect(heldBehind(telling, [], allowed)).toMatchObject({ kind: 'held', wall: { kind: 'none' } });
  expect(heldBehind(telling, ['loopback'], allowed)).toEqual({
    kind: 'held',
    wall: { kind: 'read', views: ['loopback'] },
  });
  const unseen = heldBehind({ kind: 'read', views: ['loopback'] }, [], allowed);
  expect(unseen).toMatchObject({
    outcome: { result: { wall: { kind: 'read', internet: true, reason: expect.any(String) } } },
  });
});

describe('a secret that is not there', () => {
  const call = {
    tool: 'EXEC_CLI',
    arguments: { command: 'true', env: { A: { secret: 'a' } }, stdin: { secret: 'b' } },
  };

  it.each([
    [['a', 'b'], undefined],
    [['a'], 'b'],
    [[], 'a'],
  ])('is found beside %j', (names, unknown) => expect(unknownSecret(call, names)).toBe(unknown));

  it('is looked for where a text for a field of a screen is named by it', () => {
    const put = { tool: 'set_edit_text', arguments: { id: '1', name: 'Password', text: { secret: 'login' } } };
    expect([unknownSecret(put, ['login']), unknownSecret(put, ['a'])]).toEqual([undefined, 'login']);
  });

  it('is nothing for other tools, which get their arguments as they are', () =>
    expect(unknownSecret({ ...call, tool: 'OTHER' }, [])).toBeUndefined());

  it('is named, and those that are there are not', () =>
    expect(unknownSecretOutcome('a').error).toEqual({
      code: 'UNKNOWN_SECRET',
      message: 'this device has no secret "a"',
      outcome: 'failed',
    }));
});
