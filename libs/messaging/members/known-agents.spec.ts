import { expect, it } from '@jest/globals';
import { AGENTS_GRACE_MS, KnownAgents } from './known-agents.js';

it('a kind of agent is known while somebody serves it, and for a grace after the last sign of life', () => {
  const known = new KnownAgents();
  expect([...known.see([], 0)]).toEqual([]);
  expect([...known.see(['LinuxAgent'], 1_000)]).toEqual(['LinuxAgent']);
  expect([...known.see(['PumpAgent'], 2_000)]).toEqual(['LinuxAgent', 'PumpAgent']);
  expect([...known.see(['PumpAgent'], 1_000 + AGENTS_GRACE_MS)]).toEqual(['LinuxAgent', 'PumpAgent']);
  expect([...known.see(['PumpAgent'], 1_001 + AGENTS_GRACE_MS)]).toEqual(['PumpAgent']);
  expect([...known.see([], 1_002 + 2 * AGENTS_GRACE_MS)]).toEqual([]);
});
