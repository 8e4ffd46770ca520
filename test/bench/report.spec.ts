import { describe, expect, it } from '@jest/globals';
import { tableOf, verdictOf, verdictsOf } from './report.js';
import type { Measured } from './workload.js';

const MEASURED: Measured = {
  workload: 'chain',
  measure: 'one step',
  tasks: 100,
  spread: { median: 2, p99: 9.127, min: 1.5, max: 10, count: 99 },
  tasksPerSecond: 400,
  floorMs: 0.8,
  ratio: 2.5,
  appendsPerTask: { RUNS: 1.01, ATTEMPTS: 1 },
  cpuPerThousand: { orchestrator: 0.5, nats: 0.25 },
  cpuPerThousandInAll: 0.75,
  rssBytes: { orchestrator: 150 * 1024 * 1024 },
  settledMs: 12.5,
  executedTwice: 0,
  loadBefore: 1,
  loadAfter: 2.25,
  window: [0, 1],
};

describe('report', () => {
  it('prints one row per workload with everything that belongs beside a figure', () => {
    const [, , row] = tableOf([MEASURED]).split('\n');
    expect(row).toBe(
      '| one step | 2 ms | 9.13 ms | 1.50 ms | 99 | 0.80 ms | 2.5 | 400 | RUNS 1.01, ATTEMPTS 1.00 | 0.75 (orchestrator 0.50, nats 0.25) | orchestrator 150 | 12.50 ms | 1.0-2.3 |',
    );
  });

  it('says by how much an aim was missed, whichever side is the better one', () => {
    const below = { what: 'step', limit: 2, unit: 'ms' };
    const above = { what: 'rate', limit: 300, unit: 'tasks/s', atLeast: true };
    const verdicts = [
      verdictOf('chain', below, 2),
      verdictOf('chain', below, 5),
      verdictOf('chain', above, 200),
      verdictOf('chain', above, 300),
    ];
    expect(verdictsOf(verdicts).split('\n')).toEqual([
      'met     chain: step 2 ms, aim 2 ms',
      'MISSED  chain: step 5 ms, aim 2 ms, off by a factor of 2.50',
      'MISSED  chain: rate 200 tasks/s, aim 300 tasks/s, off by a factor of 1.50',
      'met     chain: rate 300 tasks/s, aim 300 tasks/s',
    ]);
  });
});
