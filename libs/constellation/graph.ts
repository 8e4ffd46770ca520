import type { LineId, TaskConstellation, TaskId, TaskStar, TaskStarLine } from '#proto';

/** The structure of a constellation, by position: what does not change while tasks run. */
export interface Graph {
  readonly name: string;
  readonly tasks: readonly TaskStar[];
  readonly lines: readonly TaskStarLine[];
  readonly taskIndex: ReadonlyMap<TaskId, number>;
  readonly lineIndex: ReadonlyMap<LineId, number>;
  /** Positions of the lines that leave, and that enter, the task at a position. */
  readonly linesFrom: readonly (readonly number[])[];
  readonly linesInto: readonly (readonly number[])[];
  /** What each task needs of a device: tasks with the same text are served by the same devices. */
  readonly needs: readonly string[];
  /** Some task has a priority other than 0. */
  readonly prioritized: boolean;
}

/** Throws on a constellation that `validateConstellation` would refuse: such a one is never recorded. */
export function buildGraph({ name, tasks, lines }: TaskConstellation): Graph {
  const taskIndex = new Map(tasks.map((task, index) => [task.id, index]));
  const linesFrom: number[][] = tasks.map(() => []);
  const linesInto: number[][] = tasks.map(() => []);
  lines.forEach((line, index) => {
    linesFrom[positionOf(taskIndex, line.from)]?.push(index);
    linesInto[positionOf(taskIndex, line.to)]?.push(index);
  });
  const lineIndex = new Map(lines.map((line, index) => [line.id, index]));
  const needs = tasks.map(({ target, command }) => JSON.stringify([target, command.tool]));
  const prioritized = tasks.some(({ priority = 0 }) => priority !== 0);
  return { name, tasks, lines, taskIndex, lineIndex, linesFrom, linesInto, needs, prioritized };
}

/** Position of a task or line; an unknown id in a recorded fact means that the log and the code disagree. */
export function positionOf(index: ReadonlyMap<string, number>, id: string): number {
  const position = index.get(id);
  if (position === undefined) throw new Error(`no task or line has the id ${id}`);
  return position;
}

/**
 * The ids of one cycle in order, or undefined when the graph has none (I2). Kahn peels off what waits for nothing;
 * following predecessors inside of what is left must come back to where it was. O(tasks + lines).
 */
export function findCycle(
  graph: Pick<Graph, 'tasks' | 'lines' | 'taskIndex' | 'linesFrom' | 'linesInto'>,
): TaskId[] | undefined {
  const waitingFor = graph.linesInto.map((lines) => lines.length);
  const peeled = waitingFor.flatMap((count, index) => (count === 0 ? [index] : []));
  for (const index of peeled) {
    for (const lineIndex of graph.linesFrom[index] ?? []) {
      const to = targetOf(graph, lineIndex);
      const left = (waitingFor[to] ?? 0) - 1;
      waitingFor[to] = left;
      if (left === 0) peeled.push(to);
    }
  }
  if (peeled.length === graph.tasks.length) return undefined;
  return cycleAmong(graph, waitingFor);
}

function cycleAmong(
  graph: Pick<Graph, 'tasks' | 'lines' | 'taskIndex' | 'linesInto'>,
  waitingFor: readonly number[],
): TaskId[] {
  const stuck = (index: number) => (waitingFor[index] ?? 0) > 0;
  let at = waitingFor.findIndex((count) => count > 0);
  const path: number[] = [];
  const seenAt = new Map<number, number>();
  while (!seenAt.has(at)) {
    seenAt.set(at, path.length);
    path.push(at);
    const previous = (graph.linesInto[at] ?? []).map((line) => sourceOf(graph, line)).find(stuck);
    if (previous === undefined) throw new Error('a task that is stuck has a predecessor that is stuck');
    at = previous;
  }
  const cycle = path.slice(seenAt.get(at)).toReversed();
  return cycle.map((index) => graph.tasks[index]?.id ?? '');
}

export function targetOf(graph: Pick<Graph, 'lines' | 'taskIndex'>, lineIndex: number): number {
  return positionOf(graph.taskIndex, graph.lines[lineIndex]?.to ?? '');
}

export function sourceOf(graph: Pick<Graph, 'lines' | 'taskIndex'>, lineIndex: number): number {
  return positionOf(graph.taskIndex, graph.lines[lineIndex]?.from ?? '');
}
