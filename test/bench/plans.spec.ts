import { describe, expect, it } from '@jest/globals';
import { chain, fan, layered } from './plans.js';

describe('plans', () => {
  it('makes a chain in which every task but the first waits for the one before', () => {
    expect(chain(3)).toEqual({
      name: 'chain-3',
      tasks: ['t0', 't1', 't2'],
      lines: [
        ['t0', 't1'],
        ['t1', 't2'],
      ],
    });
  });

  it('makes a fan that opens and closes', () => {
    const { tasks, lines } = fan(200);
    expect(tasks).toHaveLength(202);
    expect(lines.filter(([from]) => from === 'first')).toHaveLength(200);
    expect(lines.filter(([, to]) => to === 'last')).toHaveLength(200);
  });

  it('makes the same layered DAG for the same seed, another one for another', () => {
    const options = { tasks: 1_000, lines: 3_000, layers: 20 };
    const plan = layered({ ...options, seed: 1 });
    expect(layered({ ...options, seed: 1 })).toEqual(plan);
    expect(layered({ ...options, seed: 2 }).lines).not.toEqual(plan.lines);
  });

  it('draws every line of a layered DAG forwards and once, and leaves only the first layer without one', () => {
    const { tasks, lines } = layered({ tasks: 1_000, lines: 3_000, layers: 20, seed: 7 });
    const layerOf = (id: string) => Math.floor(Number(id.slice(1)) / 50);
    expect(new Set(lines.map((line) => line.join('-'))).size).toBe(3_000);
    expect(lines.every(([from, to]) => layerOf(from) < layerOf(to))).toBe(true);
    const waiting = new Set(lines.map(([, to]) => to));
    expect(tasks.filter((id) => !waiting.has(id))).toHaveLength(50);
  });

  it('refuses more lines than there is room for', () => {
    expect(() => layered({ tasks: 10, lines: 500, layers: 2, seed: 1 })).toThrow(RangeError);
  });
});
