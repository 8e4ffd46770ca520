import { expect, it } from '@jest/globals';
import { LIMITS } from '#proto';
import { attemptOf, newAttemptSecret } from './login-attempt.js';

const NOW = 1_790_000_000_000;

it('is made of its secret alone, and of no other one', () => {
  const secret = newAttemptSecret(NOW);
  const attempt = attemptOf(secret, NOW);
  expect(attemptOf(secret, NOW + 1)).toEqual(attempt);
  const other = attemptOf(newAttemptSecret(NOW), NOW);
  const values = [attempt, other].flatMap((one) => Object.values(one ?? {}));
  expect(new Set(values).size).toBe(8);
  // RFC 7636, 4.1: 43 to 128 characters that need no escape.
  expect(attempt?.verifier).toMatch(/^[\w-]{43,128}$/u);
});

it('ends after a while, and cannot be of the future', () => {
  const secret = newAttemptSecret(NOW);
  expect(attemptOf(secret, NOW + LIMITS.loginMs - 1)).toBeDefined();
  expect([attemptOf(secret, NOW + LIMITS.loginMs), attemptOf(secret, NOW - 1)]).toEqual([undefined, undefined]);
});

it.each([undefined, '', 'x', `${NOW}.`, `${NOW}.short`, `.${'a'.repeat(43)}`, `-1.${'a'.repeat(43)}`])(
  'is not made of %j',
  (secret) => expect(attemptOf(secret, NOW)).toBeUndefined(),
);
