import { describe, expect, it } from '@jest/globals';
import { judge, type Knock } from './gate.js';

const HOSTS = ['ops.example'];
const KNOCK: Knock = { path: '/v1/runs', host: 'localhost:8080', origin: undefined };
const verdict = (knock: Partial<Knock>) => judge({ ...KNOCK, ...knock }, HOSTS).kind;

describe('judge', () => {
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
  ])('does not take %j for our Host', (host) => expect(verdict({ host })).toBe('refuse'));

  it.each(['http://localhost:1', 'https://ops.example', 'http://[::1]:5'])('takes the Origin %s', (origin) =>
    expect(verdict({ origin })).toBe('login'),
  );

  it.each([
    '',
    'null',
    'ops.example',
    'ftp://ops.example',
    'http://ops.example@evil.example',
    'http://ops.example.evil',
  ])('does not take %j for our Origin', (origin) => expect(verdict({ origin })).toBe('refuse'));

  it('asks probes for nothing, the description and the pages for our Host, and everything else for a login', () => {
    const probes = ['/healthz', '/readyz', '/metrics'];
    expect(probes.map((path) => verdict({ path, host: 'pod-7' }))).toEqual(['open', 'open', 'open']);
    for (const path of ['/openapi.json', '/asyncapi.json', '/login', '/login/start', '/login/callback', '/logout']) {
      expect([verdict({ path }), verdict({ path, host: 'pod-7' })]).toEqual(['open', 'refuse']);
    }
    for (const path of ['/', '/unknown', '/login/', '/LOGIN', '/v1/me', '//healthz'])
      expect(verdict({ path })).toBe('login');
  });
});
