import { describe, expect, it } from '@jest/globals';
import { LIMITS, type Actor } from '#proto';
import { decideActor, type ActorDecision, type ActorOrder } from './decide.js';
import { SETUP } from './first.js';
import type { Roster } from './roster.js';
import {
  added,
  ANNA,
  at,
  BERT,
  given,
  hashOf,
  keyAdded,
  keyOf,
  loginBound,
  store,
  T0,
  tokenIssued,
} from './testing/given.js';

const ALL = ['viewer', 'admin'] as const;
const anna = [added(ANNA, [...ALL]), keyAdded(keyOf('A'))];
const bert = [added(BERT), keyAdded(keyOf('B'))];
const LOGIN = { issuer: 'https://login.example.org', subject: '42' };
const decide = (roster: Roster, order: ActorOrder, by: Actor = ANNA, now = T0): ActorDecision =>
  decideActor(roster, order, { by, now });
const rejected = (reason: string) => ({ kind: 'rejected', reason });
const IGNORED = { kind: 'ignored' };
/** The types of the facts that follow, stored. */
function and(roster: Roster, order: ActorOrder, now = T0): string[] {
  const decision = decide(roster, order, ANNA, now);
  if (decision.kind !== 'accepted') throw new Error(JSON.stringify(decision));
  store(roster, order.actorId, decision.events);
  return decision.events.map(({ type }) => type);
}

describe('somebody new', () => {
  const order = { kind: 'add', actorId: 'carl', as: 'person', roles: ['viewer'], namespace: 'carl' } as const;

  it('is added with roles and a namespace, by somebody, at a time', () => {
    expect(decide(given({ anna }), { ...order, roles: ['viewer'] })).toEqual({
      kind: 'accepted',
      events: [
        {
          type: 'ACTOR_ADDED',
          data: { actor: { kind: 'person', id: 'carl' }, roles: ['viewer'], namespace: 'carl', by: ANNA, at: at(0) },
        },
      ],
    });
  });

  it('gets no name that somebody has, had, or that stands for setup', () => {
    const roster = given({
      anna,
      bert: [...bert, { type: 'ACTOR_REVOKED', data: { by: ANNA, at: at(0), reason: '' } }],
    });
    for (const actorId of ['anna', 'bert', 'setup']) {
      expect(decide(roster, { ...order, actorId, as: 'system', roles: [] })).toEqual(rejected('ACTOR_KNOWN'));
    }
  });
});

describe('roles', () => {
  it('are given and taken as far as that changes something', () => {
    const roster = given({ anna, bert });
    const order = { kind: 'role', actorId: 'bert', give: ['viewer', 'approver'], take: ['operator'] } as const;
    expect(decide(roster, order)).toMatchObject({ events: [{ data: { given: ['approver'], taken: [] } }] });
    and(roster, order);
    expect(roster.get('bert')?.roles).toEqual(['viewer', 'approver']);
    expect(decide(roster, order)).toEqual(IGNORED);
  });

  it('are not given and taken at once, and not to who is not there', () => {
    const roster = given({ anna, bert });
    const both = { kind: 'role', actorId: 'bert', give: ['admin'], take: ['admin'] } as const;
    expect(decide(roster, both)).toEqual(rejected('GIVEN_AND_TAKEN'));
    expect(decide(roster, { ...both, actorId: 'carl', take: [] })).toEqual(rejected('ACTOR_UNKNOWN'));
  });

  it('of a service of the installation come with its version', () => {
    const planner: Actor = { kind: 'system', id: 'planner' };
    const crm: Actor = { kind: 'system', id: 'crm' };
    const roster = given({ anna, planner: [added(planner)], crm: [added(crm, ['viewer'], ANNA)] });
    const give = { kind: 'role', give: ['admin'], take: [] } as const;
    expect(decide(roster, { ...give, actorId: 'planner' })).toEqual(rejected('SERVICE'));
    expect(decide(roster, { kind: 'revoke', actorId: 'planner', reason: '' })).toEqual(rejected('SERVICE'));
    expect(decide(roster, { ...give, actorId: 'crm' }).kind).toBe('accepted');
  });
});

describe('the last person who administers', () => {
  const ends: [string, ActorOrder][] = [
    ['gives the role away', { kind: 'role', actorId: 'anna', give: [], take: ['admin'] }],
    ['is revoked', { kind: 'revoke', actorId: 'anna', reason: '' }],
    ['loses the only key', { kind: 'revoke-key', actorId: 'anna', key: keyOf('A'), reason: '' }],
  ];

  it.each(ends)('stays: nobody %s', (_, order) => {
    const machine = [added({ kind: 'system', id: 'admin' }, ['admin']), keyAdded(keyOf('M'))];
    const unarmed = [added({ kind: 'person', id: 'carl' }, ['admin'])];
    expect(decide(given({ anna, bert, admin: machine, carl: unarmed }), order)).toEqual(rejected('LAST_ADMIN'));
  });

  it.each(ends)('may go when another one can come in: %s', (_, order) => {
    const admin = added({ kind: 'person', id: 'carl' }, ['admin']);
    for (const way of [keyAdded(keyOf('C')), loginBound('7'), tokenIssued('t1', 'c', ['admin'])]) {
      expect(decide(given({ anna, carl: [admin, way] }), order).kind).toBe('accepted');
    }
    expect(decide(given({ anna, carl: [admin, tokenIssued('t1', 'c', ['viewer'])] }), order).kind).toBe('rejected');
  });
});

describe('a key', () => {
  it("is one actor's at a time, and nobody's again when it was revoked", () => {
    const roster = given({ anna, bert });
    const key = keyOf('C');
    expect(and(roster, { kind: 'add-key', actorId: 'bert', key })).toEqual(['KEY_ADDED']);
    expect(decide(roster, { kind: 'add-key', actorId: 'bert', key })).toEqual(IGNORED);
    expect(decide(roster, { kind: 'add-key', actorId: 'anna', key })).toEqual(rejected('KEY_TAKEN'));
    expect(and(roster, { kind: 'revoke-key', actorId: 'bert', key, reason: 'lost' }, T0 + 5)).toEqual(['KEY_REVOKED']);
    expect(roster.get('bert')?.keys.at(-1)).toMatchObject({ key, until: at(5) });
    for (const actorId of ['anna', 'bert']) {
      expect(decide(roster, { kind: 'add-key', actorId, key })).toEqual(rejected('KEY_WAS_REVOKED'));
    }
    expect(decide(roster, { kind: 'revoke-key', actorId: 'bert', key, reason: '' })).toEqual(IGNORED);
    expect(decide(roster, { kind: 'revoke-key', actorId: 'anna', key, reason: '' })).toEqual(IGNORED);
  });
});

describe('a login', () => {
  it("is one person's at a time, and free again when it is unbound or its person revoked", () => {
    const roster = given({ anna, bert, crm: [added({ kind: 'external', id: 'crm' })] });
    const bind = (actorId: string): ActorOrder => ({ kind: 'bind-login', actorId, login: LOGIN });
    expect(decide(roster, bind('crm'))).toEqual(rejected('NO_PERSON'));
    expect(and(roster, bind('bert'))).toEqual(['LOGIN_BOUND']);
    expect(decide(roster, bind('bert'))).toEqual(IGNORED);
    expect(decide(roster, bind('anna'))).toEqual(rejected('LOGIN_TAKEN'));
    expect(and(roster, { kind: 'unbind-login', actorId: 'bert', login: LOGIN })).toEqual(['LOGIN_UNBOUND']);
    expect(and(roster, bind('bert'))).toEqual(['LOGIN_BOUND']);
    and(roster, { kind: 'revoke', actorId: 'bert', reason: 'has left' });
    expect(decide(roster, bind('anna')).kind).toBe('accepted');
  });
});

describe('a token', () => {
  const token = { tokenId: 'ci', tokenHash: hashOf('a'), scopes: ['viewer'], label: '', expiresAt: at(1_000) };
  const issue = (actorId: string, changes: object = {}): ActorOrder =>
    ({ kind: 'issue-token', actorId, token: { ...token, ...changes } }) as ActorOrder;

  it('has an id and a secret that nobody has or had', () => {
    const roster = given({ anna, bert });
    expect(and(roster, issue('bert'))).toEqual(['TOKEN_ISSUED']);
    and(roster, { kind: 'revoke-token', actorId: 'bert', tokenId: 'ci' });
    for (const changes of [{}, { tokenHash: hashOf('b') }, { tokenId: 'other' }]) {
      expect(decide(roster, issue('anna', changes))).toEqual(rejected('TOKEN_KNOWN'));
    }
    expect(decide(roster, issue('anna', { tokenId: 'other', tokenHash: hashOf('b') })).kind).toBe('accepted');
  });

  it('is not given when it is over already', () => {
    expect(decide(given({ anna, bert }), issue('bert'), ANNA, T0 + 1_000)).toEqual(rejected('TOKEN_OVER'));
  });

  it('says that it is used now and then only, and not when it is over', () => {
    const roster = given({ anna, bert: [...bert, tokenIssued('t1', 'a')] });
    const use: ActorOrder = { kind: 'use-token', actorId: 'bert', tokenId: 't1' };
    expect(and(roster, use)).toEqual(['TOKEN_USED']);
    expect(decide(roster, use, ANNA, T0 + LIMITS.tokenUseMs - 1)).toEqual(IGNORED);
    expect(and(roster, use, T0 + LIMITS.tokenUseMs)).toEqual(['TOKEN_USED']);
    and(roster, { kind: 'revoke-token', actorId: 'bert', tokenId: 't1' });
    expect(decide(roster, use, ANNA, T0 + 3 * LIMITS.tokenUseMs)).toEqual(rejected('TOKEN_OVER'));
    expect(decide(roster, { ...use, tokenId: 't2' })).toEqual(rejected('TOKEN_UNKNOWN'));
  });
});

describe('a standing approval', () => {
  const BOTH = { anna, bert: [added(BERT, ['approver']), keyAdded(keyOf('B'))] };
  const approval = { approvalId: 'w1', contentHash: hashOf('a'), about: { name: 'clean' }, expiresAt: at(1_000) };
  const give = (changes: Partial<typeof approval> = {}, actorId = 'bert'): ActorOrder => ({
    kind: 'approve-content',
    actorId,
    approval: { ...approval, ...changes },
  });
  const takeBack: ActorOrder = { kind: 'revoke-content', actorId: 'bert', approvalId: 'w1', reason: 'gone' };

  it('is the word of a person who may approve, for himself only, and for a time that ends', () => {
    const roster = given({ ...BOTH, crm: [added({ kind: 'system', id: 'crm' }, ['approver'])] });
    expect(decide(roster, give(), BERT).kind).toBe('accepted');
    expect(decide(roster, give(), ANNA)).toEqual(rejected('NO_APPROVER'));
    expect(decide(roster, give({}, 'anna'), ANNA)).toEqual(rejected('NO_APPROVER'));
    expect(decide(roster, give({}, 'crm'), { kind: 'system', id: 'crm' })).toEqual(rejected('NO_APPROVER'));
    for (const expiresAt of [at(0), at(-1), at(LIMITS.contentApprovalMsMax + 1)])
      expect(decide(roster, give({ expiresAt }), BERT)).toEqual(rejected('APPROVAL_TIME'));
  });

  it('is shown until it is taken back, once, by anybody, and what has ended makes room', () => {
    const roster = given(BOTH);
    const store1 = decide(roster, give(), BERT);
    if (store1.kind === 'accepted') store(roster, 'bert', store1.events);
    expect(decide(roster, give(), BERT)).toEqual(rejected('APPROVAL_KNOWN'));
    expect(roster.get('bert')?.approvals).toMatchObject([{ approvalId: 'w1', revokedAt: null }]);
    expect(and(roster, takeBack, T0 + 5)).toEqual(['CONTENT_REVOKED']);
    expect(roster.get('bert')?.approvals).toMatchObject([{ approvalId: 'w1', revokedAt: at(5) }]);
    expect(decide(roster, takeBack)).toEqual(IGNORED);
    for (let count = 0; count < LIMITS.contentApprovalsMax; count++) {
      const one = decide(roster, give({ approvalId: `x${count}` }), BERT, T0 + 10);
      if (one.kind === 'accepted') store(roster, 'bert', one.events);
    }
    expect(roster.get('bert')?.approvals).toHaveLength(LIMITS.contentApprovalsMax);
    expect(decide(roster, give({ approvalId: 'more' }), BERT, T0 + 10)).toEqual(rejected('TOO_MANY'));
    const later = give({ approvalId: 'more', expiresAt: at(9_000) });
    expect(decide(roster, later, BERT, T0 + 1_000).kind).toBe('accepted');
  });
});

describe('who is revoked', () => {
  const roster = given({ anna, bert: [...bert, tokenIssued('t1', 'a'), loginBound('7')] });
  and(roster, { kind: 'revoke', actorId: 'bert', reason: 'has left' }, T0 + 9);

  it('has no key, token or login any more, and when that ended is known', () => {
    expect(roster.get('bert')).toMatchObject({
      revokedAt: at(9),
      keys: [{ key: keyOf('B'), until: at(9) }],
      tokens: [{ tokenId: 't1', revokedAt: at(9) }],
      logins: [],
    });
  });

  it('gets nothing any more, and stays revoked', () => {
    const orders: ActorOrder[] = [
      { kind: 'role', actorId: 'bert', give: ['admin'], take: [] },
      { kind: 'add-key', actorId: 'bert', key: keyOf('C') },
      { kind: 'bind-login', actorId: 'bert', login: LOGIN },
      { kind: 'use-token', actorId: 'bert', tokenId: 't1' },
    ];
    for (const order of orders) expect(decide(roster, order)).toEqual(rejected('ACTOR_REVOKED'));
    expect(decide(roster, { kind: 'revoke', actorId: 'bert', reason: 'again' })).toEqual(IGNORED);
  });
});

it('setup is nobody who can be ordered', () => {
  expect(decide(given({ anna }), { kind: 'add-key', actorId: SETUP.id, key: keyOf('S') })).toEqual(
    rejected('ACTOR_UNKNOWN'),
  );
});
