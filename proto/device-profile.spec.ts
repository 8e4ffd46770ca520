import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { isSecretName, PROFILE_GROUPS, ProfileChange, wrongKey, wrongTogether, wrongValue } from './device-profile.js';
import { LIMITS } from './limits.js';
import { parseWith } from './parse.js';

const Change = z.strictObject(ProfileChange);
const issues = (text: string): string[] => {
  const parsed = parseWith(Change, { set: JSON.parse(text) as unknown });
  return parsed.ok ? [] : parsed.issues.map(({ path }) => path);
};

describe('a name', () => {
  it.each(['os', 'rack', 'gpu.memory_gb', 'paths.logs', 'rack.row.position.slot', 'gpu.model', 'max_tokens'])(
    '%s may be given a value',
    (key) => expect(wrongKey(key)).toBeUndefined(),
  );

  it.each([
    ['', /one to four parts/u],
    ['a.b.c.d.e', /one to four parts/u],
    ['9lives', /one to four parts/u],
    ['rack row', /one to four parts/u],
    ['ra\u202eck', /one to four parts/u],
    ['__proto__', /one to four parts/u],
    ['constructor', /one to four parts/u],
    ['rack.toString', /one to four parts/u],
    ['db_password', /secret/u],
    ['apiKey', /secret/u],
    ['paths.ssh_key', /secret/u],
    ['tags', /enroll/u],
    ['gpu', /set gpu\.<name>, such as gpu\.count/u],
    ['gpu.memory_bg', /did you mean "gpu\.memory_gb"/u],
  ])('%j may not, and it is said why', (key, why) => expect(wrongKey(key)).toMatch(why));

  it('of a secret is known however it is written', () => {
    expect(['dbPassword', 'a.token', 'AUTH_TOKEN', 'private_key', 'my-secret'].filter(isSecretName)).toHaveLength(5);
    expect(['monkey', 'tokens_max', 'keyboard', 'passage'].filter(isSecretName)).toEqual([]);
  });

  it('stands for a group where it has others behind it', () =>
    expect(PROFILE_GROUPS.toSorted()).toEqual(['addresses', 'cpu', 'disk', 'gpu', 'memory', 'paths', 'preferences']));
});

describe('a value', () => {
  it.each([
    ['gpu.memory_gb', 23.9],
    ['gpu.count', 0],
    ['roles', ['db', 'web']],
    ['rack', { row: 7, free: [true, 'x'] }],
    ['preferences.parallel', 4],
    ['big', Number.MAX_SAFE_INTEGER],
  ])('of %s may be %j', (key, value) => expect(wrongValue(key, value)).toBeUndefined());

  it.each([
    ['gpu.memory_gb', '24', /must be a number/u],
    ['gpu.count', 1.5, /whole number/u],
    ['cpu.count', -1, /not negative/u],
    ['roles', 'db', /list of texts/u],
    ['paths.logs', 7, /must be a text/u],
    ['os', 'Ubuntu 24.04', /os_version/u],
    ['rack', NaN, /finite/u],
    ['rack', Infinity, /finite/u],
    ['rack', 2 ** 60, /loses digits/u],
    ['rack', null, /unset/u],
    ['rack', 'a\u0000b', /control/u],
    ['rack', ['\u202e'], /control/u],
    ['rack', { 'a\u200eb': 1 }, /control/u],
    ['rack', { token: 'x' }, /secret/u],
    ['rack', '-----BEGIN OPENSSH PRIVATE KEY-----', /private key/u],
    ['rack', [[[[[1]]]]], /deeper than 4/u],
  ])('of %s may not be %j', (key, value, why) => expect(wrongValue(key, value)).toMatch(why));
});

it('refuses what JSON can say and nobody can mean, with its path', () => {
  expect(issues('{"__proto__": {"os": "linux"}}')).toEqual(['set.__proto__']);
  expect(issues('{"rack": 1e999}')).toEqual(['set.rack']);
  expect(issues('{"rack": 1, "constructor": 2}')).toEqual(['set.constructor']);
  expect(({} as { os?: string }).os).toBeUndefined();
});

describe('all values together', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));

  it('have limits on how many and how large they are', () => {
    expect(wrongTogether(many(LIMITS.profileKeysMax))).toBeUndefined();
    expect(wrongTogether(many(LIMITS.profileKeysMax + 1))).toMatch(/at most 64 names/u);
    expect(wrongTogether({ a: 'x'.repeat(64 * 1024) })).toMatch(/at most 16384 bytes/u);
    expect(wrongTogether({ a: 'é'.repeat(8_192) })).toMatch(/at most 16384 bytes/u);
  });

  it('have each place once', () =>
    expect(wrongTogether({ rack: { row: 1 }, 'rack.row': 2 })).toMatch(/both rack and rack\.row/u));
});
