import { describe, expect, it } from '@jest/globals';
import { alive, check, heard, livenessPolicy, trickled, type Liveness, type LivenessVerdict } from './liveness.js';

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

  it('is proven by bytes of a frame that is not whole yet, and the peer is pinged all the same', () => {
    let liveness = alive(0);
    const said = [15_000, 20_000, 30_000, 40_000, 60_000, 70_000, 104_000, 105_000].map((now) => {
      if (now <= 60_000) liveness = trickled(liveness, now);
      const [next, verdict] = check(liveness, now);
      liveness = next;
      return verdict;
    });
    expect(said).toEqual(['alive', 'ping', 'alive', 'ping', 'ping', 'alive', 'ping', 'dead']);
  });

  it('keeps the proportion of pings to patience when that is set', () =>
    expect(livenessPolicy(9_000)).toEqual({ deadAfterMs: 9_000, pingEveryMs: 4_000 }));
});
