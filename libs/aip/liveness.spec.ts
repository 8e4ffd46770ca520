import { describe, expect, it } from '@jest/globals';
import { alive, check, heard, type Liveness, type LivenessVerdict } from './liveness.js';

/** Asks at each instant; returns what was said. */
function verdicts(start: Liveness, instants: number[], heardAt: number[] = []): LivenessVerdict[] {
  let liveness = start;
  return instants.map((now) => {
    if (heardAt.includes(now)) liveness = heard(liveness, now);
    const [next, verdict] = check(liveness, now);
    liveness = next;
    return verdict;
  });
}

describe('liveness', () => {
  it('pings after 20 s of silence and gives up after 45 s', () =>
    expect(verdicts(alive(0), [5_000, 20_000, 25_000, 40_000, 44_999, 45_000])).toEqual([
      'alive',
      'ping',
      'alive',
      'ping',
      'alive',
      'dead',
    ]));

  it('starts again with every sign of life', () =>
    expect(verdicts(alive(0), [20_000, 21_000, 40_000, 41_000, 65_999, 66_000], [21_000])).toEqual([
      'ping',
      'alive',
      'alive',
      'ping',
      'ping',
      'dead',
    ]));
});
