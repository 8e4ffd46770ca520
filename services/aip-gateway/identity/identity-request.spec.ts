import { describe, expect, it } from '@jest/globals';
import { readIdentityBody, readRoute, identityStatusOf } from './identity-request.js';

const ORIGINS = ['https://console.example'];
const route = (url: string, { method = 'POST', origin }: { method?: string; origin?: string } = {}) =>
  readRoute({ method, url, headers: { origin } }, ORIGINS);

describe('readRoute', () => {
  it('knows two paths', () => {
    expect(route('/v1/join')).toEqual({ kind: 'join' });
    expect(route('/v1/credential')).toEqual({ kind: 'renew' });
    expect(route('/v1/credential?x=1')).toEqual({ kind: 'renew' });
  });

  it.each(['/', '/ws', '/v1/joined', '/v1', 'http://['])('has nothing to do with %s', (url) => {
    expect(route(url)).toBeUndefined();
  });

  it('refuses other methods, and pages of foreign sites', () => {
    expect(route('/v1/join', { method: 'GET' })).toMatchObject({ kind: 'refused', status: 405 });
    expect(route('/v1/join', { origin: 'https://evil.example' })).toMatchObject({ kind: 'refused', status: 403 });
    expect(route('/v1/join', { origin: 'https://console.example' })).toEqual({ kind: 'join' });
  });
});

describe('readBody', () => {
  it('takes what each of them needs, and nothing else', () => {
    expect(readIdentityBody('join', '{"token":"t","assertion":"a"}')).toEqual({
      ok: true,
      request: { kind: 'join', token: 't', assertion: 'a' },
    });
    expect(readIdentityBody('renew', '{"assertion":"a"}')).toEqual({
      ok: true,
      request: { kind: 'renew', assertion: 'a' },
    });
    expect(readIdentityBody('renew', '{"token":"t","assertion":"a"}')).toEqual({
      ok: false,
      message: 'token: unknown field',
    });
  });

  it.each([
    ['', 'The body is not JSON.'],
    ['{"token":', 'The body is not JSON.'],
    ['[]', 'must be an object'],
    ['{"token":"canary"}', 'assertion: '],
    ['{"token":["canary"],"assertion":"a"}', 'token: '],
    [`{"token":"${'canary'.repeat(100)}","assertion":"a"}`, 'token: '],
    [`{"token":"canary","assertion":"${'a'.repeat(5_000)}"}`, 'assertion: '],
  ])('refuses %j without repeating it', (text, message) => {
    const read = readIdentityBody('join', text);
    expect(read).toEqual({ ok: false, message: expect.stringContaining(message) });
    expect(JSON.stringify(read)).not.toContain('canary');
  });
});

describe('statusOf', () => {
  it.each([
    ['TOKEN_UNKNOWN', 401],
    ['UNAUTHORIZED', 401],
    ['CLOCK_SKEW', 401],
    ['TOKEN_USED', 409],
    ['TOKEN_EXPIRED', 410],
    ['TRY_AGAIN', 503],
    ['INVALID_REQUEST', 400],
    ['INVALID_STATE', 403],
  ] as const)('%s is %i', (code, status) => expect(identityStatusOf(code)).toBe(status));
});
