import { describe, expect, it } from '@jest/globals';
import type { Judged, PolicyDecision, PolicyVerdict } from '#proto';
import { heldBehind, ownRefusalOf, unknownSecret, unknownSecretOutcome } from './command-gate.js';

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
    expect(ownRefusalOf({ verdict: verdict(decision), hasLocal }, judged)?.error?.code).toBe(code),
  );

  it('names the rule and the reason', () =>
    expect(ownRefusalOf({ verdict: verdict('deny'), hasLocal: false }, allowed)).toEqual({
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

  it('is nothing for other tools, which get their arguments as they are', () =>
    expect(unknownSecret({ ...call, tool: 'OTHER' }, [])).toBeUndefined());

  it('is named, and those that are there are not', () =>
    expect(unknownSecretOutcome('a').error).toEqual({
      code: 'UNKNOWN_SECRET',
      message: 'this device has no secret "a"',
      outcome: 'failed',
    }));
});
