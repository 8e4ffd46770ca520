import type { TaskId } from '#proto';
import { type Graph, sourceOf, targetOf } from './graph.js';

/** From so many new lines on, one pass over the whole graph is cheaper than a search behind each. */
const SEARCHES_MAX = 8;

/**
 * The ids of one cycle in order, or undefined when the graph has none (I2). Kahn peels off what waits for nothing;
 * following predecessors inside of what is left must come back to where it was. O(tasks + lines).
 */
export function findCycle(graph: Graph): TaskId[] | undefined {
  const waitingFor = [...graph.linesInto].map((lines) => lines.length);
  const peeled = waitingFor.flatMap((count, index) => (count === 0 ? [index] : []));
  for (const index of peeled) {
    for (const lineIndex of graph.linesFrom.at(index)) {
      const to = targetOf(graph, lineIndex);
      const left = (waitingFor[to] ?? 0) - 1;
      waitingFor[to] = left;
      if (left === 0) peeled.push(to);
    }
  }
  if (peeled.length === graph.taskIds.length) return undefined;
  return cycleAmong(graph, waitingFor);
}

/** The same for a graph that was acyclic before some lines were added: only what they lead to can close a cycle. */
export function findCycleThrough(graph: Graph, newLines: ReadonlySet<number>): TaskId[] | undefined {
  if (newLines.size > SEARCHES_MAX) return findCycle(graph);
  for (const line of newLines) {
    const path = pathBetween(graph, targetOf(graph, line), sourceOf(graph, line));
    if (path !== undefined) return path.map((index) => graph.taskIds.at(index));
  }
  return undefined;
}

function pathBetween(graph: Graph, from: number, to: number): number[] | undefined {
  const cameFrom = new Map<number, number>([[from, from]]);
  const open = [from];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (index === to) return pathBack(cameFrom, from, to);
    for (const line of graph.linesFrom.at(index)) {
      const target = targetOf(graph, line);
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, index);
      open.push(target);
    }
  }
  return undefined;
}

function pathBack(cameFrom: ReadonlyMap<number, number>, from: number, to: number): number[] {
  const path = [to];
  for (let at = to; at !== from;) {
    at = cameFrom.get(at) ?? from;
    path.push(at);
  }
  return path.toReversed();
}

function cycleAmong(graph: Graph, waitingFor: readonly number[]): TaskId[] {
  const stuck = (index: number) => (waitingFor[index] ?? 0) > 0;
  let at = waitingFor.findIndex((count) => count > 0);
  const path: number[] = [];
  const seenAt = new Map<number, number>();
  while (!seenAt.has(at)) {
    seenAt.set(at, path.length);
    path.push(at);
    const previous = graph.linesInto
      .at(at)
      .map((line) => sourceOf(graph, line))
      .find(stuck);
    if (previous === undefined) throw new Error('a task that is stuck has a predecessor that is stuck');
    at = previous;
  }
  const cycle = path.slice(seenAt.get(at)).toReversed();
  return cycle.map((index) => graph.taskIds.at(index));
}
