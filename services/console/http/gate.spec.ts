import { describe, expect, it } from '@jest/globals';
import { tokenHash } from '#libs/keys';
import { judge, type Knock } from './gate.js';

const RULES = { tokenHash: tokenHash('t0ken'), hosts: ['ops.example'] };
const KNOCK: Knock = { path: '/v1/runs', host: 'localhost:8080', origin: undefined, authorization: 'Bearer t0ken' };
const verdict = (knock: Partial<Knock>) => {
  const judged = judge({ ...KNOCK, ...knock }, RULES);
  return judged.kind === 'enter' ? 200 : judged.status;
};

describe('judge', () => {
  it('lets the token in', () => expect(verdict({})).toBe(200));

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer t0ken2',
    'Bearer t0 ken',
    't0ken',
    `Bearer ${'x'.repeat(600)}`,
    'Bearer t0ken\n',
  ])('does not take %j for the token', (authorization) => expect(verdict({ authorization })).toBe(401));

  it.each([
    undefined,
    '',
    ' ',
    'a b',
    'evil.example',
    'localhost:8080@evil.example',
    'localhost/evil',
    'localhost#',
    '[::2]',
    'localhost\\x',
  ])('does not take %j for our Host', (host) => expect(verdict({ host })).toBe(403));

  it.each(['http://localhost:1', 'https://ops.example', 'http://[::1]:5'])('takes the Origin %s', (origin) =>
    expect(verdict({ origin })).toBe(200),
  );

  it.each([
    '',
    'null',
    'ops.example',
    'ftp://ops.example',
    'http://ops.example@evil.example',
    'http://ops.example.evil',
  ])('does not take %j for our Origin', (origin) => expect(verdict({ origin })).toBe(403));

  it('asks probes for nothing, but the description of the interface for our Host', () => {
    const stranger = { host: 'pod-7', authorization: undefined };
    expect(['/healthz', '/readyz', '/metrics'].map((path) => verdict({ path, ...stranger }))).toEqual([200, 200, 200]);
    expect(verdict({ path: '/openapi.json', authorization: undefined })).toBe(200);
    expect(verdict({ path: '/openapi.json', ...stranger })).toBe(403);
    expect(verdict({ path: '/unknown', authorization: undefined })).toBe(401);
  });
});
