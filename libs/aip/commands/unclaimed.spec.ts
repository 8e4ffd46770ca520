import { describe, expect, it } from '@jest/globals';
import { AIP_LIMITS } from '#proto';
import { UnclaimedResults } from './unclaimed.js';

const { unclaimedMs } = AIP_LIMITS;

function keeping(...ids: string[]): UnclaimedResults {
  const results = new UnclaimedResults();
  for (const id of ids) results.keep(id, false, 0);
  return results;
}

describe('a result that nobody asks for', () => {
  it('is handed over after a while, once at a time', () => {
    const results = keeping('a');
    expect(results.due(unclaimedMs - 1)).toEqual([]);
    expect(results.due(unclaimedMs)).toEqual(['a']);
    expect(results.due(1_000_000)).toEqual([]);
    expect(results.size).toBe(1);
  });

  it('that is not taken is handed over again, each time later, and never given up', () => {
    const results = keeping('a');
    const waits: number[] = [];
    for (let nowMs = 0; waits.length < 9;) {
      const before = nowMs;
      do nowMs += unclaimedMs;
      while (results.due(nowMs).length === 0);
      results.undelivered('a', nowMs);
      waits.push((nowMs - before) / unclaimedMs);
    }
    expect(waits).toEqual([1, 1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('is left to who asks for it meanwhile, for some time', () => {
    const results = keeping('a');
    results.asked('a', 0);
    expect(results.due(6 * unclaimedMs - 1)).toEqual([]);
    expect(results.due(6 * unclaimedMs)).toEqual(['a']);
    results.keep('b', true, 0);
    expect(results.due(6 * unclaimedMs - 1)).toEqual([]);
  });

  it('is forgotten with its answer', () => {
    const results = keeping('a', 'b');
    results.forget('a');
    expect(results.due(unclaimedMs)).toEqual(['b']);
    results.forget('b');
    results.undelivered('b', unclaimedMs);
    expect(results.size).toBe(0);
  });

  it('is handed over with few others at the same time', () => {
    const results = keeping('a', 'b', 'c', 'd', 'e', 'f');
    expect(results.due(unclaimedMs)).toEqual(['a', 'b', 'c', 'd']);
    results.undelivered('b', unclaimedMs);
    expect(results.due(unclaimedMs)).toEqual(['e']);
  });
});
