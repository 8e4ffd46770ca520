import { describe, expect, it } from '@jest/globals';
import { checkInvariants, evolveCommit, viewOf, type Run } from '#libs/constellation';
import { generateAskedHistory } from './asked-history.js';
import { runCommitsOf } from './histories.js';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

describe('histories in which agents ask', () => {
  it('hold every way in which an approval can end', () => {
    const seen = new Set<string>();
    for (const seed of SEEDS) {
      let run: Run | undefined;
      for (const commit of runCommitsOf(generateAskedHistory({ seed }))) {
        run = evolveCommit(run, commit);
        expect(checkInvariants(run)).toEqual([]);
        for (const { state } of viewOf(run).approvals) seen.add(state);
        for (const { type, data } of commit.events)
          if (type === 'APPROVAL_DECIDED' && data.grantOf) seen.add('granted');
      }
    }
    const states = ['open', 'approved', 'edited', 'rejected', 'answered', 'expired', 'revoked', 'withdrawn', 'granted'];
    expect([...seen].sort()).toEqual(states.sort());
  });

  it('are the same for the same seed', () => {
    expect(generateAskedHistory({ seed: 3 })).toEqual(generateAskedHistory({ seed: 3 }));
  });
});
