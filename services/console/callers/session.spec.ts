import { expect, it } from '@jest/globals';
import { LIMITS } from '#proto';
import { csrfTokenOf, isSessionId, newSessionId, sessionKey, sessionName, stateOf } from './session.js';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const ago = (ms: number) => new Date(NOW - ms).toISOString();
const state = (age: number, idle: number) =>
  stateOf({ actorId: 'anna', issuer: 'i', subject: 's', createdAt: ago(age), seenAt: ago(idle) }, NOW);

it('ends when it is not used, and at the latest', () => {
  expect(state(LIMITS.sessionMs - 1, 0)).toBe('good');
  expect(state(LIMITS.sessionMs, 0)).toBe('over');
  expect(state(LIMITS.sessionMs - 1, LIMITS.sessionIdleMs)).toBe('over');
  expect(state(LIMITS.sessionMs - 1, LIMITS.sessionIdleMs - 1)).toBe('seen');
  expect(state(LIMITS.sessionSeenMs, LIMITS.sessionSeenMs - 1)).toBe('good');
});

it('has an id of 256 bit, which is in nothing that others see', () => {
  const id = newSessionId();
  expect(Buffer.from(id, 'base64url')).toHaveLength(32);
  expect([isSessionId(id), isSessionId(`${id}x`), isSessionId(''), isSessionId(`${id.slice(1)}.`)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  const [key, name, csrf] = [sessionKey(id), sessionName(id), csrfTokenOf(id)];
  expect(key).toMatch(/^[0-9a-f]{64}$/u);
  expect(new Set([id, key, name, csrf, newSessionId(), csrfTokenOf(newSessionId())]).size).toBe(6);
});
