import { NO_COMMITS } from '#libs/event-log';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GENESIS_HASH } from '#proto';
import { emptyRun } from '#libs/constellation';
import { NO_PLAN } from '#libs/planner';
import { KeptRuns, type KeptRun } from './kept-runs.js';

/** What was read of a run, of so many bytes: half of them of its plans. */
function keptOf(bytes: number): KeptRun {
  const commit = { runId: 'r', commit: 'c', number: 1, at: '', by: { service: '', instance: '' }, causes: [] };
  const last = { commit: { ...commit, prevHash: GENESIS_HASH, hash: GENESIS_HASH, events: [] }, sequence: 1 };
  return {
    read: { run: emptyRun('r'), opening: null, conversation: [], last, bytes: Math.ceil(bytes / 2) },
    plan: { state: { state: NO_PLAN, commits: [], bytes: Math.floor(bytes / 2) }, end: NO_COMMITS },
  };
}

describe('runs that are kept', () => {
  it('are found as they were put last, until they are let go', () => {
    const runs = new KeptRuns({ runsMax: 2, bytesMax: 100 });
    const [first, second] = [keptOf(10), keptOf(20)];
    runs.put('a', first);
    expect(runs.get('a')).toBe(first);
    runs.put('a', second);
    expect(runs.get('a')).toBe(second);
    expect([runs.size, runs.bytes]).toEqual([1, 20]);
    runs.letGo('a');
    runs.letGo('never-there');
    expect(runs.get('a')).toBeUndefined();
    expect([runs.size, runs.bytes]).toEqual([0, 0]);
  });

  it('go when there are too many, the one first that was not put for longest', () => {
    const runs = new KeptRuns({ runsMax: 2, bytesMax: 100 });
    for (const runId of ['a', 'b', 'a', 'c']) runs.put(runId, keptOf(1));
    expect(['a', 'b', 'c'].filter((runId) => runs.get(runId) !== undefined)).toEqual(['a', 'c']);
  });

  it('go when they are too large together, as many as it takes', () => {
    const runs = new KeptRuns({ runsMax: 10, bytesMax: 100 });
    for (const runId of ['a', 'b', 'c']) runs.put(runId, keptOf(30));
    runs.put('d', keptOf(60));
    expect(['a', 'b', 'c', 'd'].filter((runId) => runs.get(runId) !== undefined)).toEqual(['c', 'd']);
    expect(runs.bytes).toBe(90);
  });

  it('do not go for one that is too large by itself, of which nothing stays', () => {
    const runs = new KeptRuns({ runsMax: 10, bytesMax: 100 });
    for (const runId of ['a', 'b']) runs.put(runId, keptOf(50));
    runs.put('b', keptOf(101));
    expect(['a', 'b'].filter((runId) => runs.get(runId) !== undefined)).toEqual(['a']);
    expect(runs.bytes).toBe(50);
  });

  it('never are more than may be, and are counted right', () => {
    const step = fc.record({ runId: fc.constantFrom('a', 'b', 'c', 'd'), bytes: fc.integer({ min: 0, max: 60 }) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const runs = new KeptRuns({ runsMax: 3, bytesMax: 100 });
        const put = new Map<string, number>();
        for (const { runId, bytes } of steps) {
          if (bytes === 0) runs.letGo(runId);
          else runs.put(runId, keptOf(bytes));
          put.set(runId, bytes);
          const there = [...put.keys()].filter((id) => runs.get(id) !== undefined);
          expect(runs.size).toBe(there.length);
          expect(runs.bytes).toBe(there.reduce((sum, id) => sum + (put.get(id) ?? 0), 0));
          expect(runs.size <= 3 && runs.bytes <= 100).toBe(true);
          if (bytes > 0) expect(there).toContain(runId);
        }
      }),
    );
  });
});
