import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Actor, Role } from '#proto';
import { entryOf, isValidKey, type ActorState } from './actor-state.js';
import { decideActor, type ActorOrder } from './decide.js';
import { decideFirst } from './first.js';
import type { Roster } from './roster.js';
import { added, ANNA, at, BERT, given, hashOf, keyAdded, keyOf, store, T0 } from './testing/given.js';

const CARL: Actor = { kind: 'person', id: 'carl' };
const id = fc.constantFrom('anna', 'bert', 'carl', 'dora');
const role = fc.subarray<Role>(['viewer', 'approver', 'admin']);
const key = fc.constantFrom('A', 'B', 'C', 'D').map(keyOf);
const login = fc.constantFrom('1', '2').map((subject) => ({ issuer: 'https://login.example.org', subject }));
const tokenId = fc.constantFrom('t1', 't2', 't3');
const token = fc.record({ tokenId, digit: fc.constantFrom('a', 'b', 'c') }).map(({ tokenId: name, digit }) => {
  const scopes: Role[] = ['admin'];
  return { tokenId: name, tokenHash: hashOf(digit), scopes, label: '', expiresAt: null };
});
const of = fc.constant.bind(fc);
const order: fc.Arbitrary<ActorOrder> = fc.oneof(
  fc.record({ kind: of('add' as const), actorId: id, as: of('person' as const), roles: role, namespace: of('n') }),
  fc.record({ kind: of('role' as const), actorId: id, give: role, take: role }),
  fc.record({ kind: of('revoke' as const), actorId: id, reason: of('') }),
  fc.record({ kind: of('add-key' as const), actorId: id, key }),
  fc.record({ kind: of('revoke-key' as const), actorId: id, key, reason: of('') }),
  fc.record({ kind: of('bind-login' as const), actorId: id, login }),
  fc.record({ kind: of('unbind-login' as const), actorId: id, login }),
  fc.record({ kind: of('issue-token' as const), actorId: id, token }),
  fc.record({ kind: of('revoke-token' as const), actorId: id, tokenId }),
);

const world = (): Roster =>
  given({ anna: [added(ANNA, ['admin']), keyAdded(keyOf('A'))], bert: [added(BERT)], carl: [added(CARL)] });
const held = (roster: Roster, what: (state: ActorState) => readonly string[]): string[] => roster.all().flatMap(what);
const theOne = (roster: Roster, actorId: string): ActorState => {
  const state = roster.get(actorId);
  if (state === undefined) throw new Error(`${actorId} is not there`);
  return state;
};
const isUnique = (names: readonly string[]): boolean => new Set(names).size === names.length;
const openKeys = ({ keys }: ActorState): string[] =>
  keys.filter(({ until }) => until === undefined).map((one) => one.key);
const openTokens = ({ tokens }: ActorState): string[] =>
  tokens.filter(({ revokedAt }) => revokedAt === null).map((one) => one.tokenHash);
const over = (state: ActorState): string[] => [
  ...(state.revokedAt === null ? [] : [state.actor.id]),
  ...state.keys.filter(({ until }) => until !== undefined).map((one) => one.key),
  ...state.tokens.filter(({ revokedAt }) => revokedAt !== null).map((one) => one.tokenId),
];

describe('whatever is ordered, in whatever order,', () => {
  it('a key, a login and a token are of one living actor, what is revoked stays so, and one person administers', () => {
    fc.assert(
      fc.property(fc.array(order, { maxLength: 40 }), (orders) => {
        const roster = world();
        let ended: string[] = [];
        for (const [index, one] of orders.entries()) {
          const decision = decideActor(roster, one, { by: ANNA, now: T0 + index });
          if (decision.kind !== 'accepted') continue;
          store(roster, one.actorId, decision.events);
          expect(isUnique(held(roster, openKeys))).toBe(true);
          expect(isUnique(held(roster, openTokens))).toBe(true);
          expect(isUnique(held(roster, ({ logins }) => logins.map(({ subject }) => subject)))).toBe(true);
          const now = held(roster, over);
          expect(now).toEqual(expect.arrayContaining(ended));
          ended = now;
          expect(roster.all().filter((state) => isAdmin(state))).not.toEqual([]);
          // Decided once more on what there is now, nothing new follows: the second of two is in vain, never twice.
          expect(decideActor(roster, one, { by: ANNA, now: T0 + index }).kind).not.toBe('accepted');
        }
      }),
      { numRuns: 60, seed: 15 },
    );
  });
});

function isAdmin(state: ActorState): boolean {
  const { revokedAt, roles, logins } = state;
  const ways = openKeys(state).length + openTokens(state).length + logins.length;
  return revokedAt === null && roles.includes('admin') && ways > 0;
}

describe('the roster', () => {
  it('is the same when a commit arrives twice, and knows what a command came to', () => {
    const roster = world();
    store(roster, 'bert', [keyAdded(keyOf('B'))], 'command-1');
    const before = roster.all();
    expect(roster.answered('command-1')).toEqual({ actorId: 'bert', proof: undefined });
    expect(roster.answered('command-2')).toBeUndefined();
    expect(roster.position).toBe(4);
    expect(roster.all()).toEqual(before);
    expect(roster.ownerOfKey(keyOf('B'))?.actor).toEqual(BERT);
  });

  it('refuses a log that does not begin with the actor, or begins twice', () => {
    expect(() => given({ anna: [keyAdded(keyOf('A'))] })).toThrow(/KEY_ADDED of anna comes before ACTOR_ADDED/u);
    expect(() => given({ anna: [added(ANNA), added(ANNA)] })).toThrow(/anna is added twice/u);
  });

  it('shows of an actor what others need, and no token that is revoked', () => {
    const roster = world();
    expect(entryOf(theOne(roster, 'anna'))).toEqual({
      actor: ANNA,
      roles: ['admin'],
      namespace: 'anna',
      keys: [{ key: keyOf('A'), from: at(0) }],
      tokens: [],
      logins: [],
      revision: 2,
    });
  });

  it('counts a key from its first instant until before its last', () => {
    const dated = { from: at(0), until: at(10) };
    expect([T0 - 1, T0, T0 + 9, T0 + 10].map((ms) => isValidKey(dated, ms))).toEqual([false, true, true, false]);
  });
});

describe('what setup knows', () => {
  const cli = { kind: 'person', id: 'cli' } as const;
  const console_ = { kind: 'system', id: 'console' } as const;
  const first = { actor: cli, roles: ['admin'], namespace: 'default', key: keyOf('A') } as const;
  const service = {
    actor: console_,
    roles: ['viewer'],
    namespace: 'default',
    mayVouch: true,
    key: keyOf('B'),
  } as const;
  const types = (roster: Roster, known: Parameters<typeof decideFirst>[1], now = T0): string[] => {
    const events = decideFirst(roster, known, now);
    if (events.length > 0) store(roster, known.actor.id, events);
    return events.map(({ type }) => type);
  };

  it('becomes facts once', () => {
    const roster = given({});
    for (const known of [first, service]) {
      expect(types(roster, known)).toEqual(['ACTOR_ADDED', 'KEY_ADDED']);
      expect(types(roster, known)).toEqual([]);
    }
    expect(roster.get('console')?.mayVouch).toBe(true);
  });

  it('counts since when version 0.1.0 knew it', () => {
    const roster = given({});
    types(roster, { ...first, since: at(-1_000) });
    expect(roster.get('cli')?.keys).toMatchObject([{ from: at(-1_000) }]);
  });

  it('replaces a key of its own, and none that people added', () => {
    const roster = given({});
    types(roster, first);
    store(roster, 'cli', [keyAdded(keyOf('C'), ANNA)]);
    expect(types(roster, { ...first, key: keyOf('D') })).toEqual(['KEY_REVOKED', 'KEY_ADDED']);
    expect(openKeys(theOne(roster, 'cli'))).toEqual([keyOf('C'), keyOf('D')]);
    expect(types(roster, first)).toEqual([]); // revoked stays revoked
  });

  it('leaves people as people have made them, and gives services the roles of their version', () => {
    const roster = given({});
    for (const known of [first, service]) types(roster, known);
    expect(types(roster, { ...first, roles: ['viewer'] })).toEqual([]);
    expect(types(roster, { ...service, roles: ['operator'] })).toEqual(['ROLES_CHANGED']);
    expect(roster.get('console')?.roles).toEqual(['operator']);
    store(roster, 'cli', [{ type: 'ACTOR_REVOKED', data: { by: ANNA, at: at(0), reason: '' } }]);
    expect(types(roster, { ...first, key: keyOf('E') })).toEqual([]);
  });
});
