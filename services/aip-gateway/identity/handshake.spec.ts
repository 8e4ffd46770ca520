import { describe, expect, it } from '@jest/globals';
import { readHandshake, type RequestHead } from './handshake.js';

const CREDENTIAL = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ3ZWItMSJ9.c2lnbmF0dXJl';
const read = (request: Partial<RequestHead>, origins: string[] = []) =>
  readHandshake({ method: 'GET', url: '/ws', headers: {}, ...request }, origins);
const bearer = (text: string) => read({ headers: { authorization: `Bearer ${text}` } });
const REFUSED = { kind: 'refused', status: 401 };

describe('readHandshake', () => {
  it('takes the token of our device from the header', () =>
    expect(bearer('t0k')).toEqual({ kind: 'bearer', bearer: 't0k', foreign: false }));

  it('takes a credential, which is longer than any token, from the header', () => {
    const long = `${CREDENTIAL}${'x'.repeat(1_000)}`;
    expect(bearer(long)).toEqual({ kind: 'bearer', bearer: long, foreign: false });
    expect(bearer(`${CREDENTIAL}${'x'.repeat(4_096)}`)).toEqual(REFUSED);
  });

  it('takes the token of a foreign client from the URL', () =>
    expect(read({ url: '/ws?token=t0k' })).toEqual({ kind: 'bearer', bearer: 't0k', foreign: true }));

  it('takes no credential from the URL: who has one can send a header', () =>
    expect(read({ url: `/ws?token=${CREDENTIAL}` })).toEqual(REFUSED));

  it('does not fall back to the URL when the header is bad', () =>
    expect(read({ url: '/ws?token=t0k', headers: { authorization: 'Basic eA==' } })).toEqual(REFUSED));

  it.each([
    ['no token', '/ws'],
    ['an empty token', '/ws?token='],
    ['a token with control characters', '/ws?token=a%0Ab'],
    ['an endless token', `/ws?token=${'x'.repeat(513)}`],
  ])('refuses %s with 401', (_, url) => expect(read({ url })).toEqual(REFUSED));

  it('refuses a page of a foreign site, whatever its token', () => {
    const headers = { origin: 'https://evil.example', authorization: 'Bearer t0k' };
    expect(read({ headers })).toEqual({ kind: 'refused', status: 403 });
    expect(read({ headers: { ...headers, origin: 'null' } })).toEqual({ kind: 'refused', status: 403 });
    expect(read({ headers }, ['https://evil.example'])).toMatchObject({ kind: 'bearer' });
  });

  it('refuses other paths, other methods and what is no URL', () => {
    expect(read({ url: '/other' })).toEqual({ kind: 'refused', status: 404 });
    expect(read({ method: 'POST' })).toEqual({ kind: 'refused', status: 400 });
    expect(read({ url: 'http://[' })).toEqual({ kind: 'refused', status: 400 });
    expect(read({ url: `/ws?token=${'x'.repeat(3_000)}` })).toEqual({ kind: 'refused', status: 400 });
  });
});
