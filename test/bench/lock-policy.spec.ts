import { describe, expect, it } from '@jest/globals';
import { PAPER, POLICIES, type PolicyResult, sample, SHAPES, study, studyTable } from './lock-policy.js';

const [FAN_IN, BRANCHES] = SHAPES;
const [PAPERS] = POLICIES;

describe('the study of lock policies', () => {
  it('plays the same request for the same seed', () => {
    if (FAN_IN === undefined || PAPERS === undefined) throw new Error('there is nothing to play');
    expect(sample(FAN_IN, PAPERS, 7)).toEqual(sample(FAN_IN, PAPERS, 7));
    expect(sample(FAN_IN, PAPERS, 7)).not.toEqual(sample(FAN_IN, PAPERS, 8));
  });

  it('is never below the bound, and above it by what the planner holds up', () => {
    const results = study(50);
    const of = (shape: string | undefined, policy: string): PolicyResult => {
      const found = results.find((result) => result.shape === shape && result.policy.startsWith(policy));
      if (found === undefined) throw new Error(`nothing was measured for ${policy}`);
      return found;
    };
    for (const { ratio } of results) expect(ratio).toBeGreaterThanOrEqual(1);
    // Where every task depends on every result there is nothing that the narrower lock could let go on.
    expect(of(FAN_IN?.name, 'scoped + every-result').endToEnd).toBe(of(FAN_IN?.name, 'strict').endToEnd);
    expect(of(BRANCHES?.name, 'scoped + every-result').endToEnd).toBeLessThan(of(BRANCHES?.name, 'strict').endToEnd);
    for (const { name } of SHAPES) {
      const whenNeeded = of(name, 'scoped + when-needed');
      const last = results.filter(({ shape }) => shape === name).at(-1);
      expect(last?.rounds).toBe(2); // one for the plan and one at its end
      expect(last?.ratio).toBeLessThan(1.1);
      expect(whenNeeded.endToEnd).toBeGreaterThan(last?.endToEnd ?? Infinity);
      expect(whenNeeded.bound).toBeCloseTo(PAPER.criticalPath + 18, 0);
    }
  });

  it('says so in a table', () => {
    expect(studyTable(study(1)).split('\n')).toHaveLength(2 + SHAPES.length * POLICIES.length);
  });
});
