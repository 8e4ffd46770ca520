import { describe, expect, it } from '@jest/globals';
import { afterAttempt, circuitAt, CLOSED, type CircuitState } from './circuit.js';
import { T0 } from '../testing/given.js';

type Outcome = Parameters<typeof afterAttempt>[1];

const after = (outcomes: readonly Outcome[], from: CircuitState = CLOSED) =>
  outcomes.reduce((state, outcome) => afterAttempt(state, outcome, T0), from);

describe('the circuit of a device', () => {
  it.each(['device_lost', 'timed_out', 'unknown'] as const)(
    'opens after three attempts that ended as %s',
    (outcome) => {
      expect(circuitAt(after([outcome, outcome]), T0)).toEqual({ state: 'closed' });
      expect(circuitAt(after([outcome, outcome, outcome]), T0)).toEqual({ state: 'open', until: T0 + 30_000 });
    },
  );

  it.each(['completed', 'failed'] as const)('closes when an attempt %s: the device works', (outcome) => {
    expect(after(['unknown', 'unknown', outcome, 'unknown', 'unknown'])).toMatchObject({ openUntil: null });
    expect(after(['unknown', 'unknown', 'unknown', outcome])).toEqual(CLOSED);
  });

  it('is not changed by an attempt that we stopped', () => {
    const state = after(['unknown', 'unknown']);
    expect(afterAttempt(state, 'cancelled', T0)).toBe(state);
  });

  it('is half open when its time is over, and then open for twice as long when that fails, up to five minutes', () => {
    let state = after(['unknown', 'unknown', 'unknown']);
    expect(circuitAt(state, T0 + 29_999)).toEqual({ state: 'open', until: T0 + 30_000 });
    expect(circuitAt(state, T0 + 30_000)).toEqual({ state: 'half-open' });
    const openFor: number[] = [];
    for (let tries = 0; tries < 6; tries++) {
      const now = state.openUntil ?? T0;
      state = afterAttempt(state, 'unknown', now);
      openFor.push((state.openUntil ?? 0) - now);
    }
    expect(openFor).toEqual([60_000, 120_000, 240_000, 300_000, 300_000, 300_000]);
  });

  it('closes with the first try that the device ends properly', () => {
    const state = after(['unknown', 'unknown', 'unknown']);
    expect(circuitAt(afterAttempt(state, 'failed', T0 + 30_000), T0 + 30_000)).toEqual({ state: 'closed' });
  });
});
