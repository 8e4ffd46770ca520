import { describe, expect, it } from '@jest/globals';
import { makeDeviceSecret } from '#libs/keys';
import { httpUrl } from './identity.client.js';
import { NOBODY, wayIn, type KeptIdentity } from './identity.js';

const [ONE, OTHER] = ['1'.repeat(64), '2'.repeat(64)];
const secret = makeDeviceSecret();
const joined: KeptIdentity = {
  ...NOBODY,
  joined: { deviceId: 'web-1', secret, url: 'ws://h/ws', tokenHash: ONE },
};

describe('wayIn', () => {
  it('needs a token as long as the device has not joined', () => {
    expect(wayIn(NOBODY, undefined)).toEqual({ kind: 'no-token' });
    expect(wayIn(NOBODY, ONE)).toEqual({ kind: 'join', secret: undefined, tokenHash: ONE });
  });

  it('tries again with the key that was perhaps bound already, if the token is the same', () => {
    const joining = { ...NOBODY, joining: { secret, tokenHash: ONE } };
    expect(wayIn(joining, ONE)).toEqual({ kind: 'join', secret, tokenHash: ONE });
    expect(wayIn(joining, OTHER)).toEqual({ kind: 'join', secret: undefined, tokenHash: OTHER });
    expect(wayIn(joining, undefined)).toEqual({ kind: 'no-token' });
  });

  it('needs nothing but the key once it has joined, also when the used token is still there', () => {
    expect(wayIn(joined, undefined)).toMatchObject({ kind: 'key', joined: { deviceId: 'web-1' } });
    expect(wayIn(joined, ONE)).toMatchObject({ kind: 'key' });
  });

  it('joins anew, with another key, when it is given another token', () => {
    expect(wayIn(joined, OTHER)).toEqual({ kind: 'join', secret: undefined, tokenHash: OTHER });
  });
});

describe('httpUrl', () => {
  it.each([
    ['ws://127.0.0.1:5000/ws', 'http://127.0.0.1:5000/v1/join'],
    ['wss://orrery.example.org/ws', 'https://orrery.example.org/v1/join'],
    ['wss://example.org/orrery/ws?x=1', 'https://example.org/orrery/v1/join'],
  ])('%s is asked at %s', (url, wanted) => expect(httpUrl(url, 'join').href).toBe(wanted));
});
