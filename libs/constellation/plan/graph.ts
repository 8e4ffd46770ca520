import type { TaskConstellation, TaskId, TaskStarLine } from '#proto';
import { IdIndex, PersistentArray } from '../values/index.js';

/** The structure of a constellation, by position. Only edits change it; what a task is and became stands in its TaskState. */
export interface Graph {
  readonly name: string;
  readonly taskIds: PersistentArray<TaskId>;
  readonly lines: PersistentArray<TaskStarLine>;
  readonly taskIndex: IdIndex;
  readonly lineIndex: IdIndex;
  /** Positions of the lines that leave, and that enter, the task at a position. */
  readonly linesFrom: PersistentArray<readonly number[]>;
  readonly linesInto: PersistentArray<readonly number[]>;
}

interface Parts {
  readonly name: string;
  readonly taskIds: readonly TaskId[];
  readonly lines: readonly TaskStarLine[];
}

/** Throws on a constellation that `validateConstellation` would refuse: such a one is never recorded. */
export function buildGraph({ name, taskIds, lines }: Parts): Graph {
  const taskIndex = IdIndex.of(taskIds);
  const linesFrom: number[][] = taskIds.map(() => []);
  const linesInto: number[][] = taskIds.map(() => []);
  lines.forEach((line, index) => {
    linesFrom[positionOf(taskIndex, line.from)]?.push(index);
    linesInto[positionOf(taskIndex, line.to)]?.push(index);
  });
  return {
    name,
    taskIds: PersistentArray.from(taskIds),
    lines: PersistentArray.from(lines),
    taskIndex,
    lineIndex: IdIndex.of(lines.map(({ id }) => id)),
    linesFrom: PersistentArray.from<readonly number[]>(linesFrom),
    linesInto: PersistentArray.from<readonly number[]>(linesInto),
  };
}

/** Before there is a plan. */
export const NO_GRAPH = buildGraph({ name: '', taskIds: [], lines: [] });

export function graphOfConstellation({ name, tasks, lines }: TaskConstellation): Graph {
  return buildGraph({ name, taskIds: tasks.map(({ id }) => id), lines });
}

/** Position of a task or line; an unknown id in a recorded fact means that the log and the code disagree. */
export function positionOf(index: IdIndex, id: string): number {
  const position = index.get(id);
  if (position === undefined) throw new Error(`no task or line has the id ${id}`);
  return position;
}

export function targetOf(graph: Graph, lineIndex: number): number {
  return positionOf(graph.taskIndex, graph.lines.at(lineIndex).to);
}

export function sourceOf(graph: Graph, lineIndex: number): number {
  return positionOf(graph.taskIndex, graph.lines.at(lineIndex).from);
}

/** Everything that can be reached along lines from some tasks, themselves left out unless they are reached again. O(tasks + lines). */
export function descendantsOf(graph: Graph, from: Iterable<number>): Uint8Array {
  const reached = new Uint8Array(graph.taskIds.length);
  const open = [...from];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    for (const line of graph.linesFrom.at(index)) {
      const target = targetOf(graph, line);
      if (reached[target] === 1) continue;
      reached[target] = 1;
      open.push(target);
    }
  }
  return reached;
}
