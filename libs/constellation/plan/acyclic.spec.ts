import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { TaskConstellation } from '#proto';
import { findCycle, findCycleThrough } from './acyclic.js';
import { constellation } from '../testing/given.js';
import { buildGraph, descendantsOf, type Graph, graphOfConstellation } from './graph.js';

const graphOf = (tasks: readonly string[], lines: readonly string[]) =>
  graphOfConstellation(constellation(tasks, lines));

/** True when there is a line from each to the next, and from the last to the first. */
function isCycleOf(graph: Graph, cycle: readonly string[]): boolean {
  const lines = new Set([...graph.lines].map(({ from, to }) => `${from} ${to}`));
  return cycle.length > 0 && cycle.every((id, at) => lines.has(`${id} ${cycle[(at + 1) % cycle.length] ?? ''}`));
}

type Line = TaskConstellation['lines'][number];

const TASKS = 8;
const idOf = (index: number) => `t${index}`;
const lineBetween = (from: number, to: number, at: number): Line => ({
  id: `l${at}`,
  from: idOf(from),
  to: idOf(to),
  type: 'unconditional',
});
const ends = fc.tuple(fc.nat(TASKS - 1), fc.nat(TASKS - 1));
const taskIds = Array.from({ length: TASKS }, (_, index) => idOf(index));

describe('findCycle', () => {
  it.each([
    ['nothing', graphOf([], []), undefined],
    ['a chain', graphOf(['a', 'b', 'c'], ['a->b', 'b->c']), undefined],
    ['a diamond', graphOf(['a', 'b', 'c', 'd'], ['a->b', 'a->c', 'b->d', 'c->d']), undefined],
    ['a line to itself', graphOf(['a'], ['a->a']), ['a']],
    ['a cycle behind a chain', graphOf(['z', 'a', 'b'], ['z->a', 'a->b', 'b->a']), ['a', 'b']],
  ])('of %s', (_, graph, expected) => {
    expect(findCycle(graph)?.toSorted()).toEqual(expected);
  });

  it('finds what a search from every task finds, and names a cycle that is one', () => {
    fc.assert(
      fc.property(fc.array(ends, { maxLength: 16 }), (pairs) => {
        const graph = buildGraph({
          name: 'g',
          taskIds,
          lines: pairs.map(([from, to], at) => lineBetween(from, to, at)),
        });
        const found = findCycle(graph);
        const reachesItself = taskIds.some((_, index) => descendantsOf(graph, [index])[index] === 1);
        expect(found !== undefined).toBe(reachesItself);
        if (found !== undefined) expect(isCycleOf(graph, found)).toBe(true);
      }),
      { numRuns: 2_000, seed: 20_260_150 },
    );
  });
});

describe('findCycleThrough', () => {
  it('finds a cycle among new lines exactly where a full check finds one', () => {
    let [cyclic, sound] = [0, 0];
    fc.assert(
      fc.property(fc.array(ends, { maxLength: 14 }), fc.array(ends, { minLength: 1, maxLength: 12 }), (old, added) => {
        // The lines that are there lead from smaller to greater tasks: they form no cycle.
        const before = old.flatMap(([one, other], at) =>
          one === other ? [] : [lineBetween(Math.min(one, other), Math.max(one, other), at)],
        );
        const lines = [...before, ...added.map(([from, to], at) => lineBetween(from, to, old.length + at))];
        const graph = buildGraph({ name: 'g', taskIds, lines });
        const found = findCycleThrough(graph, new Set(added.map((_, at) => before.length + at)));
        expect(found !== undefined).toBe(findCycle(graph) !== undefined);
        if (found === undefined) sound++;
        else {
          cyclic++;
          expect(isCycleOf(graph, found)).toBe(true);
        }
      }),
      { numRuns: 5_000, seed: 20_260_151 },
    );
    expect(Math.min(cyclic, sound)).toBeGreaterThan(500);
  });

  it('looks at nothing when there is no new line', () => {
    expect(findCycleThrough(graphOf(['a', 'b'], ['a->b']), new Set())).toBeUndefined();
  });

  it('names the cycle in the order of its lines', () => {
    const graph = graphOf(['a', 'b', 'c'], ['a->b', 'b->c', 'c->a']);
    expect(findCycleThrough(graph, new Set([2]))).toEqual(['a', 'b', 'c']);
  });
});

describe('descendantsOf', () => {
  const reached = (graph: Graph, from: readonly number[]) =>
    [...descendantsOf(graph, from)].flatMap((flag, index) => (flag === 1 ? [graph.taskIds.at(index)] : []));

  it('is what lines lead to, through any number of them, the beginnings left out', () => {
    const graph = graphOf(['a', 'b', 'c', 'd', 'e'], ['a->b', 'b->c', 'd->c', 'a->c']);
    expect(reached(graph, [0])).toEqual(['b', 'c']);
    expect(reached(graph, [3])).toEqual(['c']);
    expect(reached(graph, [0, 1])).toEqual(['b', 'c']);
    expect(reached(graph, [4])).toEqual([]);
    expect(reached(graph, [])).toEqual([]);
  });

  it('is what a closure over the lines is', () => {
    fc.assert(
      fc.property(fc.array(ends, { maxLength: 14 }), fc.array(fc.nat(TASKS - 1), { maxLength: 3 }), (pairs, from) => {
        const graph = buildGraph({ name: 'g', taskIds, lines: pairs.map(([a, b], at) => lineBetween(a, b, at)) });
        const closure = new Set<number>();
        for (let before = -1; before < closure.size;) {
          before = closure.size;
          for (const [a, b] of pairs) if (from.includes(a) || closure.has(a)) closure.add(b);
        }
        expect(reached(graph, from)).toEqual([...closure].toSorted((a, b) => a - b).map(idOf));
      }),
      { numRuns: 1_000, seed: 20_260_152 },
    );
  });
});

describe('a graph', () => {
  it('refuses lines between tasks it does not have: such a one is never recorded', () => {
    expect(() => graphOf(['a'], ['a->z'])).toThrow('no task or line has the id z');
  });
});
