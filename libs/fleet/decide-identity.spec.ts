import { describe, expect, it } from '@jest/globals';
import type { FleetEvent } from '#proto';
import {
  decideClientEnrolment,
  decideEnrolment,
  decideJoin,
  decideRevocation,
  type Bearer,
  type Enrolment,
  type NewCredential,
} from './decide-identity.js';
import { credentialKind } from './device.js';
import {
  ANNA,
  at,
  clientEnrolled,
  clientRevoked,
  connected,
  enrolled,
  given,
  givenClient,
  invited,
  JOIN_HASH,
  joined,
  KEY,
  OTHER_KEY,
  REVOKED,
  revoked,
  T0,
} from './testing/given.js';

const TOKEN_HASH = 'a'.repeat(64);
const token: NewCredential = { kind: 'token', tokenHash: TOKEN_HASH };
const join: NewCredential = { kind: 'join', tokenHash: JOIN_HASH, expiresAt: T0 + 60_000 };

const device = (...facts: FleetEvent[]): Bearer => ({ device: given(...facts), client: undefined });
const client = (...facts: FleetEvent[]): Bearer => ({ device: undefined, client: givenClient(...facts) });
const NOBODY: Bearer = { device: undefined, client: undefined };

const accepted = (...events: FleetEvent[]): unknown => ({ kind: 'accepted', events });
const ignored = (reason: string): unknown => ({ kind: 'ignored', reason });
const rejected = (reason: string): unknown => ({ kind: 'rejected', reason });

describe('decideEnrolment', () => {
  const enrol = (known: Bearer, changes: Partial<Enrolment> = {}) =>
    decideEnrolment(known, { admin: undefined, manifest: undefined, credential: token, now: T0, ...changes });

  it('starts with nothing granted', () => expect(enrol(NOBODY)).toEqual(accepted(enrolled({}, TOKEN_HASH))));

  it('keeps what was granted when only the credential is a new one', () =>
    expect(enrol(device(enrolled({ tags: ['db'] })))).toEqual(accepted(enrolled({ tags: ['db'] }, TOKEN_HASH))));

  it('replaces what is granted anew', () =>
    expect(enrol(device(enrolled({ tags: ['db'] })), { admin: { tags: ['web'], capabilities: [] } })).toEqual(
      accepted(enrolled({ tags: ['web'] }, TOKEN_HASH)),
    ));

  it('with a join token records its hash, and until when it is good', () =>
    expect(enrol(NOBODY, { credential: join })).toEqual(accepted(invited())));

  it('with a join token leaves the static token as it is', () =>
    expect(enrol(device(enrolled({}, TOKEN_HASH)), { credential: join })).toEqual(
      accepted(invited(JOIN_HASH, TOKEN_HASH)),
    ));

  it('takes no name of a client', () => {
    for (const known of [client(clientEnrolled()), client(clientEnrolled(), clientRevoked())]) {
      expect(enrol(known)).toEqual(rejected('IS_CLIENT'));
    }
  });
});

describe('decideJoin', () => {
  const ask = (known: Bearer, publicKey = KEY, now = T0) =>
    decideJoin(known.device, { tokenHash: JOIN_HASH, publicKey, now });

  it('binds the key', () => expect(ask(device(invited()))).toEqual(accepted(joined())));
  it('is for one who has the token', () => {
    expect(ask(device(invited('f'.repeat(64))))).toEqual(rejected('TOKEN_UNKNOWN'));
    expect(ask(device(enrolled({}, JOIN_HASH)))).toEqual(rejected('TOKEN_UNKNOWN'));
    expect(ask(NOBODY)).toEqual(rejected('TOKEN_UNKNOWN'));
  });
  it('is too late when the time is over', () => {
    expect(ask(device(invited()), KEY, T0 + 59_999)).toEqual(
      accepted({ type: 'DEVICE_JOINED', data: expect.anything() } as never),
    );
    expect(ask(device(invited()), KEY, T0 + 60_000)).toEqual(rejected('TOKEN_EXPIRED'));
  });
  it('works once', () => expect(ask(device(invited(), joined()), OTHER_KEY)).toEqual(rejected('TOKEN_USED')));
  it('may be repeated by the same key, whenever', () => {
    expect(ask(device(invited(), joined()))).toEqual(ignored('ALREADY_JOINED'));
    expect(ask(device(invited(), joined()), KEY, T0 + 1e9)).toEqual(ignored('ALREADY_JOINED'));
    expect(ask(device(invited(), joined(), invited('f'.repeat(64))))).toEqual(ignored('ALREADY_JOINED'));
  });
  it('does not work with a token that was replaced', () =>
    expect(ask(device(invited(), invited('f'.repeat(64))))).toEqual(rejected('TOKEN_UNKNOWN')));
  it('does not work with a token of before the revocation, used or not', () => {
    expect(ask(device(invited(), revoked()))).toEqual(rejected('TOKEN_UNKNOWN'));
    expect(ask(device(invited(), joined(), revoked()))).toEqual(rejected('TOKEN_UNKNOWN'));
  });
});

describe('decideClientEnrolment', () => {
  const enrol = (known: Bearer, targets: string[] | null = null) =>
    decideClientEnrolment(known, { targets, tokenHash: TOKEN_HASH, now: T0 });

  it('records what the client may do', () => {
    expect(enrol(NOBODY, ['web-1'])).toEqual(accepted(clientEnrolled(TOKEN_HASH, ['web-1'])));
    expect(enrol(client(clientEnrolled(), clientRevoked()))).toEqual(accepted(clientEnrolled(TOKEN_HASH)));
  });
  it('takes no name of a device', () => expect(enrol(device(enrolled(), revoked()))).toEqual(rejected('IS_DEVICE')));
});

describe('decideRevocation', () => {
  const order = { by: ANNA, reason: 'stolen', now: T0 };

  it('records who revokes a device or a client, and why', () => {
    expect(decideRevocation(device(invited(), joined()), order)).toEqual(accepted(revoked()));
    expect(decideRevocation(client(clientEnrolled()), order)).toEqual(accepted(clientRevoked()));
  });
  it('lets the first revocation stand', () => {
    expect(decideRevocation(device(enrolled(), revoked()), order)).toEqual(ignored('ALREADY_REVOKED'));
    expect(decideRevocation(client(clientEnrolled(), clientRevoked()), order)).toEqual(ignored('ALREADY_REVOKED'));
  });
  it('ends a join token that nobody has used yet', () => {
    expect(decideRevocation(device(invited()), order)).toEqual(accepted(revoked()));
    expect(decideRevocation(device(enrolled(), revoked(), invited()), order)).toEqual(accepted(revoked()));
  });
  it('ignores who is not enrolled', () => expect(decideRevocation(NOBODY, order)).toEqual(ignored('NOT_ENROLLED')));
});

describe('how a device proves who it is', () => {
  const kind = (...facts: FleetEvent[]) => {
    const found = given(...facts);
    if (found === undefined) throw new Error('no device');
    return credentialKind(found);
  };

  it('is nothing before it has joined, and by its key from then on', () => {
    expect([kind(invited()), kind(invited(), joined()), kind(invited(), joined(), connected('s1'))]).toEqual([
      null,
      'key',
      'key',
    ]);
  });

  it('stays as it was until the next join token is used', () => {
    expect(given(invited(), joined(), invited('f'.repeat(64)))?.key).toMatchObject({ publicKey: KEY });
    const next = given(invited(), joined(), invited('f'.repeat(64)), joined(OTHER_KEY, 'f'.repeat(64)));
    expect(next).toMatchObject({ key: { publicKey: OTHER_KEY }, join: null });
    expect(kind(enrolled(), invited(JOIN_HASH, TOKEN_HASH))).toBe('token');
    expect(given(enrolled(), invited(JOIN_HASH, TOKEN_HASH), joined())).toMatchObject({ credentialHash: null });
  });

  it('is a static token at once, and nothing else, when it is given one', () =>
    expect(given(invited(), joined(), invited('f'.repeat(64)), enrolled({}, TOKEN_HASH))).toMatchObject({
      credentialHash: TOKEN_HASH,
      key: null,
      join: null,
    }));

  it('is nothing after a revocation, until it is enrolled and, with a join token, has joined', () => {
    expect(kind(enrolled(), revoked())).toBeNull();
    expect(given(invited(), joined(), revoked())).toMatchObject({ revoked: REVOKED, key: null });
    expect(given(invited(), joined(), revoked(), invited())).toMatchObject({ revoked: REVOKED, key: null });
    expect(given(invited(), joined(), revoked(), invited(), joined())).toMatchObject({ revoked: null });
    expect(given(invited(), joined(), revoked(), enrolled())).toMatchObject({ revoked: null });
    expect(givenClient(clientEnrolled(), clientRevoked())).toMatchObject({ revoked: REVOKED, credentialHash: null });
    expect(givenClient(clientEnrolled(), clientRevoked(), clientEnrolled())).toMatchObject({ revoked: null });
  });

  it('is what was said of it: facts of a client are none of a device, and the other way round', () => {
    expect(() => given(enrolled(), clientEnrolled())).toThrow(/cannot be said of the device/u);
    expect(() => givenClient(clientEnrolled(), enrolled())).toThrow(/is no device/u);
    expect(() => givenClient(clientRevoked())).toThrow(/comes before CLIENT_ENROLLED/u);
    expect(() => given(joined())).toThrow(/comes before DEVICE_ENROLLED/u);
  });

  it('has its time from the facts', () => expect(given(invited())?.join?.expiresAt).toBe(at(60_000)));
});
