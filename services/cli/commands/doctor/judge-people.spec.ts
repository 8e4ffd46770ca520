import { describe, expect, it } from '@jest/globals';
import type { Role } from '#proto';
import { judgeAdminToken, judgePeople, type KnownPerson } from './judge-people.js';

const person = (id: string, roles: Role[], more: Partial<KnownPerson> = {}): KnownPerson => ({
  actor: { kind: 'person', id },
  roles,
  keys: [{ key: `U-${id}` }],
  ...more,
});
const anna = person('anna', ['approver', 'admin']);
const berta = person('berta', ['approver']);
const states = (known: readonly KnownPerson[], letIn?: readonly { id: string; key: string }[]): string[] =>
  judgePeople(known, letIn).map(({ area, state }) => `${area} ${state}`);

describe('people', () => {
  it('are well when two may approve and one may administer', () =>
    expect(states([anna, berta])).toEqual(['people ok']));
  it('of whom one alone may approve are told', () => expect(states([anna])).toEqual(['people warn']));
  it.each<[string, KnownPerson[]]>([
    ['nobody is known', []],
    ['the only approver was revoked', [{ ...anna, revokedAt: '2026-11-20T12:00:00.000Z' }]],
    ['only a system has the role', [{ ...anna, actor: { kind: 'system', id: 'x' } }]],
  ])('cannot decide when %s', (_, known) => expect(states(known)[0]).toBe('people bad'));
  it('whose commands are judged are named, with what would change it; operators and who is gone are not', () => {
    const carla = person('carla', ['requester', 'viewer']);
    const gone = person('gone', ['requester'], { revokedAt: '2026-11-20T12:00:00.000Z' });
    const known = [anna, berta, carla, gone, person('olga', ['requester', 'operator'])];
    const told = judgePeople(known, undefined).at(-1);
    expect(told).toMatchObject({ area: 'commands', state: 'ok' });
    expect(told?.what).toMatch(/^what carla may ask for is judged.*people role <id> --give operator$/u);
  });
});

describe('a key that the bus lets in', () => {
  it('has a fact', () => {
    expect(states([anna, berta], [{ id: 'anna', key: 'U-anna' }])).toEqual(['people ok', 'keys ok']);
  });

  it.each<[string, KnownPerson]>([
    ['nobody knows', person('anna', [])],
    ['is of somebody else', person('anna', [], { keys: [{ key: 'U-x' }] })],
    ['was revoked', person('carl', [], { keys: [{ key: 'U-x', until: '2026-11-20T12:00:00.000Z' }] })],
    [
      'is of somebody who was revoked',
      person('carl', [], { keys: [{ key: 'U-x' }], revokedAt: '2026-11-20T12:00:00.000Z' }),
    ],
  ])('and that %s is named', (_, other) => {
    expect(states([anna, berta, other], [{ id: 'carl', key: 'U-x' }])).toEqual(['people ok', 'keys bad']);
  });
});

describe('the admin token', () => {
  const login = { issuer: 'https://id.example', subject: 'anna' };
  const off = 'printf off > file';

  it('is what the first start is for', () => {
    expect(judgeAdminToken([{ logins: [] }], [], off)).toMatchObject({ state: 'ok' });
    const over = judgeAdminToken([{ logins: [login], revokedAt: '2026-11-20' }], [{ revokedAt: '2026-11-20' }], off);
    expect(over).toMatchObject({ state: 'ok' });
  });

  it('is to be turned off when there is a token or a login by name, and it is said how', () => {
    for (const [people, tokens] of [
      [[{ logins: [login] }], []],
      [[], [{ revokedAt: null }]],
    ] as const) {
      expect(judgeAdminToken(people, tokens, off)).toMatchObject({
        state: 'warn',
        remedy: expect.stringContaining(off),
      });
    }
  });
});
