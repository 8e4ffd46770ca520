import { describe, expect, it } from '@jest/globals';
import { readHandshake, type UpgradeRequest } from './handshake.js';

const read = (request: Partial<UpgradeRequest>, origins: string[] = []) =>
  readHandshake({ method: 'GET', url: '/ws', headers: {}, ...request }, origins);

describe('readHandshake', () => {
  it('takes the token of our device from the header', () =>
    expect(read({ headers: { authorization: 'Bearer t0k' } })).toEqual({
      kind: 'credential',
      token: 't0k',
      foreign: false,
    }));

  it('takes the token of a foreign client from the URL', () =>
    expect(read({ url: '/ws?token=t0k' })).toEqual({ kind: 'credential', token: 't0k', foreign: true }));

  it('does not fall back to the URL when the header is bad', () =>
    expect(read({ url: '/ws?token=t0k', headers: { authorization: 'Basic eA==' } })).toEqual({
      kind: 'refused',
      status: 401,
    }));

  it.each([
    ['no token', '/ws'],
    ['an empty token', '/ws?token='],
    ['a token with control characters', '/ws?token=a%0Ab'],
    ['an endless token', `/ws?token=${'x'.repeat(513)}`],
  ])('refuses %s with 401', (_, url) => expect(read({ url })).toEqual({ kind: 'refused', status: 401 }));

  it('refuses a page of a foreign site, whatever its token', () => {
    const headers = { origin: 'https://evil.example', authorization: 'Bearer t0k' };
    expect(read({ headers })).toEqual({ kind: 'refused', status: 403 });
    expect(read({ headers }, ['https://evil.example'])).toMatchObject({ kind: 'credential' });
  });

  it('refuses other paths, other methods and what is no URL', () => {
    expect(read({ url: '/other' })).toEqual({ kind: 'refused', status: 404 });
    expect(read({ method: 'POST' })).toEqual({ kind: 'refused', status: 400 });
    expect(read({ url: 'http://[' })).toEqual({ kind: 'refused', status: 400 });
  });
});
