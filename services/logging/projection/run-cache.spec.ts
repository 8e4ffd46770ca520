import { describe, expect, it } from '@jest/globals';
import { emptyRun, type Run } from '#libs/constellation';
import { RunCache } from './run-cache.js';

const run = (runId: string, number: number, phase: Run['phase'] = 'RUNNING'): Run =>
  ({ ...emptyRun(runId), number, phase }) as Run;

describe('RunCache', () => {
  it('gives a run only as it was after the commit asked for', () => {
    const cache = new RunCache(100);
    cache.put({ run: run('a', 3), bytes: 1 });
    expect([cache.get('a', 2), cache.get('a', 3)?.run.number, cache.get('b', 3)]).toEqual([undefined, 3, undefined]);
  });

  it('drops the least recently put when the bytes exceed the limit', () => {
    const cache = new RunCache(100);
    cache.put({ run: run('a', 1), bytes: 60 });
    cache.put({ run: run('b', 1), bytes: 30 });
    cache.put({ run: run('a', 2), bytes: 65 });
    cache.put({ run: run('c', 1), bytes: 20 });
    expect([cache.get('a', 2) !== undefined, cache.get('b', 1), cache.get('c', 1) !== undefined]).toEqual([
      true,
      undefined,
      true,
    ]);
    cache.put({ run: run('d', 1), bytes: 500 });
    expect(cache.size).toBe(0);
    cache.put({ run: run('e', 1), bytes: 100 });
    expect(cache.size).toBe(1);
  });

  it('holds no run that has ended', () => {
    const cache = new RunCache(100);
    cache.put({ run: run('a', 1), bytes: 60 });
    cache.put({ run: run('a', 2, 'COMPLETED'), bytes: 60 });
    expect([cache.size, cache.get('a', 2)]).toEqual([0, undefined]);
    // Opened again it is one like any other.
    cache.put({ run: run('a', 3), bytes: 60 });
    expect(cache.get('a', 3)?.bytes).toBe(60);
  });
});
