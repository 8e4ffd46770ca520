import { describe, expect, it } from '@jest/globals';
import {
  delayMs,
  failuresAfter,
  FIRST_DIAL,
  nextDial,
  type BackoffPolicy,
  type DialEnd,
  type Dialling,
} from './backoff.js';

const POLICY: BackoffPolicy = { msMin: 100, msMax: 1_000, uptimeMsMin: 5_000 };

describe('backoff', () => {
  it('doubles up to its maximum', () => {
    const longest = [1, 2, 3, 4, 5, 5_000].map((failures) => delayMs(POLICY, failures, 1));
    expect(longest).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it('spreads the tries of many devices over half of the wait', () => {
    expect(delayMs(POLICY, 3, 0)).toBe(200);
    expect(delayMs(POLICY, 3, 0.5)).toBe(300);
  });

  it('keeps growing against a server that accepts and drops at once', () => {
    expect(failuresAfter(POLICY, 3, 0)).toBe(4);
    expect(failuresAfter(POLICY, 4, 4_999)).toBe(5);
  });

  it('starts again after real uptime', () => expect(failuresAfter(POLICY, 7, 5_000)).toBe(1));
});

describe('several servers', () => {
  const dial = (servers: number, ...ends: DialEnd[]) => {
    let at: Dialling = FIRST_DIAL;
    return ends.map((end) => {
      const next = nextDial({ policy: POLICY, servers, random: 1 }, at, end);
      at = next.at;
      return [next.at.server, next.waitMs];
    });
  };
  const FAILED: DialEnd = { uptimeMs: 0, why: 'failed' };
  const UP: DialEnd = { uptimeMs: 5_000, why: 'failed' };
  const OWN: DialEnd = { uptimeMs: 0, why: 'own' };
  const UNWELCOME: DialEnd = { uptimeMs: 9_000, why: 'unwelcome' };

  it('are tried in turn, with a wait after every round that grows', () =>
    expect(dial(3, ...Array.from({ length: 7 }, () => FAILED))).toEqual([
      [1, 0],
      [2, 0],
      [0, 100],
      [1, 0],
      [2, 0],
      [0, 200],
      [1, 0],
    ]));

  it('a single one is waited for as ever', () =>
    expect(dial(1, FAILED, FAILED, FAILED)).toEqual([
      [0, 100],
      [0, 200],
      [0, 400],
    ]));

  it('the one that was up is dialled again first, after the shortest wait', () =>
    expect(dial(2, FAILED, FAILED, FAILED, UP, FAILED)).toEqual([
      [1, 0],
      [0, 100],
      [1, 0],
      [1, 100],
      [0, 0],
    ]));

  it('are all given time after real uptime, so that a fleet does not come back in one moment', () =>
    expect(dial(3, UP, FAILED)).toEqual([
      [0, 100],
      [1, 0],
    ]));

  it('are not changed by an end of our own, which waits like any other', () =>
    expect(dial(2, OWN, OWN)).toEqual([
      [0, 100],
      [0, 200],
    ]));

  it('are dialled again at once with a newer credential, which is no failure', () =>
    expect(dial(2, FAILED, { uptimeMs: 0, why: 'renewed' }, FAILED)).toEqual([
      [1, 0],
      [1, 0],
      [0, 100],
    ]));

  it('are left alone for the longest wait when another client has our identity', () =>
    expect(dial(2, UNWELCOME, FAILED)).toEqual([
      [0, 1_000],
      [1, 0],
    ]));
});
