import { describe, expect, it } from '@jest/globals';
import type { Actor, Vouched } from '#proto';
import { clientVouched, vouchedBy, type KnownLogin } from './vouching.js';

const CONSOLE: Actor = { kind: 'system', id: 'console' };
const GATEWAY: Actor = { kind: 'system', id: 'aip-gateway' };
const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const LOGIN = { issuer: 'https://login.example', subject: 'a-1' };
const keyOf = (name: string): string => `U${name}`;
const token = (tokenId: string, expiresAt: string | null): KnownLogin['tokens'][number] => ({
  tokenId,
  tokenHash: '0'.repeat(64),
  scopes: ['viewer', 'admin'],
  label: '',
  expiresAt,
});
const person = (id: string, change: Partial<KnownLogin> = {}): KnownLogin => ({
  actor: { kind: 'person', id },
  namespace: id === 'cli' ? 'default' : id,
  roles: ['viewer', 'approver'],
  keys: [
    { key: keyOf(id), from: '2026-11-01T12:00:00.000Z' },
    { key: keyOf(`${id}-over`), from: '2026-11-01T12:00:00.000Z', until: '2026-11-19T12:00:00.000Z' },
  ],
  tokens: [token(`${id}-t`, null), token(`${id}-over`, '2026-11-20T12:00:00.000Z')],
  logins: [{ ...LOGIN, subject: `${id}-1` }],
  isRevoked: false,
  ...change,
});
const PEOPLE = new Map(
  [
    person('cli'),
    person('ci', { actor: { kind: 'system', id: 'ci' } }),
    person('anna'),
    person('bert', { isRevoked: true }),
  ].map((one) => [one.actor.id, one]),
);
const vouchedFor = (signer: Actor, vouched: Vouched) =>
  vouchedBy(signer, vouched, { known: (id) => PEOPLE.get(id), now: NOW });
const FIRST: Vouched = { actor: 'cli', issuer: 'orrery', subject: 'admin-token', session: 's-1' };

describe('who speaks for somebody else', () => {
  it('is the console, for the first person who has logged in with the admin token', () => {
    expect(vouchedFor(CONSOLE, FIRST)).toEqual({
      actor: { kind: 'person', id: 'cli' },
      namespace: 'default',
      roles: ['viewer', 'approver'],
    });
  });

  it('is the console, for who is known by a login, or by a token and as far as that goes', () => {
    const anna = { actor: { kind: 'person', id: 'anna' }, namespace: 'anna' };
    const [login, byToken] = [
      { actor: 'anna', issuer: LOGIN.issuer, subject: 'anna-1', session: 's' },
      { actor: 'anna', issuer: 'orrery', subject: 'token:anna-t', session: 's' },
    ];
    expect(vouchedFor(CONSOLE, login)).toEqual({ ...anna, roles: ['viewer', 'approver'] });
    expect(vouchedFor(CONSOLE, byToken)).toEqual({ ...anna, roles: ['viewer'] });
  });

  it('is the console, for a person who has a key', () => {
    const byKey = { actor: 'anna', issuer: 'orrery', subject: 'key:Uanna', session: 's' };
    const anna = { actor: { kind: 'person', id: 'anna' }, namespace: 'anna' };
    expect(vouchedFor(CONSOLE, byKey)).toEqual({ ...anna, roles: ['viewer', 'approver'] });
  });

  it('is a gateway, for a client of its own, who is called as nobody else is', () => {
    const client = clientVouched('phone-1', 'session-1');
    expect(vouchedFor(GATEWAY, client)).toEqual({
      actor: { kind: 'external', id: 'aip:phone-1' },
      namespace: 'default',
      roles: ['requester'],
    });
    expect(vouchedFor(GATEWAY, { ...client, actor: 'phone-1' })).toContain('may not speak for phone-1');
    expect(vouchedFor(GATEWAY, { ...client, subject: 'phone-2' })).toContain('may not speak for aip:phone-1');
  });

  it.each<[string, Actor, Vouched]>([
    ['a gateway for a person', GATEWAY, FIRST],
    ['the console for a client', CONSOLE, clientVouched('phone-1', 's')],
    ['the console for a login that nobody has', CONSOLE, { ...FIRST, subject: 'else' }],
    ['the console for a stranger of the same name', CONSOLE, { ...FIRST, issuer: 'https://login.example' }],
    ['the console for anybody else with the admin token', CONSOLE, { ...FIRST, actor: 'anna' }],
    ['the console for one with the login of another', CONSOLE, { ...FIRST, ...LOGIN, actor: 'anna', subject: 'cli-1' }],
    ['the console for one with the token of another', CONSOLE, { ...FIRST, actor: 'anna', subject: 'token:cli-t' }],
    ['the console for one with the key of another', CONSOLE, { ...FIRST, actor: 'anna', subject: 'key:Ucli' }],
    ['the console for a key that was revoked', CONSOLE, { ...FIRST, subject: 'key:Ucli-over' }],
    ['the console for the key of somebody revoked', CONSOLE, { ...FIRST, actor: 'bert', subject: 'key:Ubert' }],
    ['the console for the key of a program', CONSOLE, { ...FIRST, actor: 'ci', subject: 'key:Uci' }],
    ['the console for a token that is over', CONSOLE, { ...FIRST, subject: 'token:cli-over' }],
    ['the console for a token of another issuer', CONSOLE, { ...FIRST, ...LOGIN, subject: 'token:cli-t' }],
    ['the console for who was revoked', CONSOLE, { ...FIRST, ...LOGIN, actor: 'bert', subject: 'bert-1' }],
    ['the console for nobody', CONSOLE, { ...FIRST, ...LOGIN, actor: 'carl', subject: 'carl-1' }],
    ['a person for another one', { kind: 'person', id: 'anna' }, FIRST],
    ['an external system for a person', { kind: 'external', id: 'external' }, FIRST],
    ['the planner for a client', { kind: 'system', id: 'planner' }, clientVouched('phone-1', 's')],
  ])('is not %s', (_, signer, vouched) => {
    expect(vouchedFor(signer, vouched)).toContain(`${signer.id} may not speak for ${vouched.actor}`);
  });
});
