import { describe, expect, it } from '@jest/globals';
import { tokenHash } from '#libs/keys';
import { ActorEntry, type Role } from '#proto';
import { roleRefusal } from './caller.js';
import { KnownLogins, tokenIdOf } from './known-logins.js';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const at = (ms: number) => new Date(NOW + ms).toISOString();
const token = (scopes: Role[], expiresAt: string | null = null) => ({
  tokenId: 't1',
  tokenHash: tokenHash('s3cret'),
  scopes,
  label: '',
  expiresAt,
});
const LOGIN = { issuer: 'https://id.example', subject: 'anna-1' };
const entry = (id: string, change: Partial<ActorEntry> = {}): ActorEntry =>
  ActorEntry.parse({
    actor: { kind: 'person', id },
    roles: ['viewer', 'approver'],
    namespace: id,
    keys: [],
    tokens: [],
    logins: [],
    revision: 1,
    ...change,
  });
const ofToken = (change: Partial<ActorEntry>, text = 's3cret') =>
  new KnownLogins([entry('anna', change)]).ofToken(tokenHash(text), NOW);

describe('a token', () => {
  it('is for the roles of its actor, as far as it goes', () => {
    expect(ofToken({ tokens: [token(['approver', 'admin'])] })).toMatchObject({
      actor: { kind: 'person', id: 'anna' },
      roles: ['approver'],
      issuer: 'orrery',
      subject: 'token:t1',
    });
    expect(ofToken({ tokens: [token(['admin'])] })?.roles).toEqual([]);
  });

  it.each<[string, Partial<ActorEntry>, string]>([
    ['another one', { tokens: [token(['viewer'])] }, 'other'],
    ['its own hash', { tokens: [token(['viewer'])] }, tokenHash('s3cret')],
    ['one that was revoked', { tokens: [] }, 's3cret'],
    ['one of somebody who was revoked', { tokens: [token(['viewer'])], revokedAt: at(-1) }, 's3cret'],
    ['one that ends now', { tokens: [token(['viewer'], at(0))] }, 's3cret'],
  ])('is not %s', (_, change, text) => expect(ofToken(change, text)).toBeUndefined());

  it('is good until its end', () => expect(ofToken({ tokens: [token(['viewer'], at(1))] })?.roles).toEqual(['viewer']));
});

describe('a login', () => {
  const of = (login: typeof LOGIN, change: Partial<ActorEntry> = {}) =>
    new KnownLogins([entry('anna', { logins: [LOGIN], tokens: [token(['viewer'])], ...change })]).ofLogin(login, NOW);

  it('belongs to who it was bound to', () => expect(of(LOGIN)).toMatchObject({ actor: { id: 'anna' }, ...LOGIN }));

  it.each([
    { issuer: 'https://evil.example', subject: 'anna-1' },
    { issuer: 'https://id.example', subject: 'anna' },
    { issuer: 'orrery', subject: 'anna-1' },
    { issuer: 'orrery', subject: 'token:t2' },
    { issuer: 'orrery', subject: 't1' },
  ])('is not %j', (login) => expect(of(login)).toBeUndefined());

  it('ends with its actor, and one by token with the token', () => {
    expect(of(LOGIN, { revokedAt: at(-1) })).toBeUndefined();
    const byToken = { issuer: 'orrery', subject: 'token:t1' };
    expect(of(byToken)?.roles).toEqual(['viewer']);
    expect(of(byToken, { tokens: [] })).toBeUndefined();
    expect(tokenIdOf(byToken)).toBe('t1');
    expect(tokenIdOf({ issuer: 'https://id.example', subject: 'token:t1' })).toBeUndefined();
  });
});

describe('the admin token', () => {
  it('is the first person, with the roles that she has', () => {
    const known = new KnownLogins([entry('cli'), entry('anna')]);
    expect(known.ofAdminToken()).toMatchObject({ actor: { id: 'cli' }, roles: ['viewer', 'approver'] });
  });

  it('is the first person with all roles while nobody is known at all, and nobody when the others are', () => {
    expect(new KnownLogins([]).ofAdminToken()?.roles).toHaveLength(6);
    expect(new KnownLogins([entry('anna')]).ofAdminToken()).toBeUndefined();
    expect(new KnownLogins([entry('cli', { revokedAt: at(-1) })]).ofAdminToken()).toBeUndefined();
  });

  it('is not needed any more when an administrator has a login of his own', () => {
    const admin = (change: Partial<ActorEntry>) =>
      new KnownLogins([entry('anna', { roles: ['admin'], ...change })]).hasAdministrator(NOW);
    expect([admin({}), admin({ tokens: [token(['viewer'])] }), admin({ tokens: [token(['admin'], at(0))] })]).toEqual([
      false,
      false,
      false,
    ]);
    expect([admin({ logins: [LOGIN] }), admin({ tokens: [token(['admin'])] })]).toEqual([true, true]);
    expect(admin({ roles: ['viewer'], logins: [LOGIN] })).toBe(false);
    expect(admin({ logins: [LOGIN], revokedAt: at(-1) })).toBe(false);
  });
});

describe('the only approver', () => {
  it('is the one living person who may approve', () => {
    const isOnly = (...entries: ActorEntry[]) => new KnownLogins(entries).isOnlyApprover('anna');
    const system = { kind: 'system' as const, id: 'robot' };
    expect(isOnly(entry('anna'), entry('bert', { roles: ['operator'] }))).toBe(true);
    expect(isOnly(entry('anna'), entry('bert', { revokedAt: at(-1) }), entry('robot', { actor: system }))).toBe(true);
    expect(isOnly(entry('anna'), entry('bert'))).toBe(false);
    expect(isOnly(entry('anna', { roles: ['admin'] }), entry('bert'))).toBe(false);
    expect(isOnly()).toBe(false);
  });
});

describe('roleRefusal', () => {
  const caller = (...roles: Role[]) => ({
    actor: { kind: 'person' as const, id: 'anna' },
    roles,
    namespace: 'anna',
    session: 's',
    ...LOGIN,
  });

  it('says which role is needed', () => {
    expect(roleRefusal(caller('viewer'), 'APPROVE')).toBe('APPROVE needs the role approver; anna has viewer.');
    expect(roleRefusal(caller(), 'logging.runs')).toContain('anna has none.');
    expect(roleRefusal(caller('approver'), 'APPROVE')).toBeUndefined();
  });

  it('leaves what may be his own to who decides, and what services ask among themselves to nobody', () => {
    expect(roleRefusal(caller('requester'), 'CANCEL')).toBeUndefined();
    expect(roleRefusal(caller('admin'), 'registry.identify')).toContain('is for services only');
  });
});
