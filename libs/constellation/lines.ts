import type { Json, LineResult, TaskStarLine, TaskStatus } from '#proto';
import { evaluateCondition } from './condition.js';
import { sourceOf } from './graph.js';
import { graphOf, type Run } from './run.js';

/** How a task ended, as far as its lines ask. */
export interface Ending {
  readonly status: TaskStatus;
  readonly result: Json;
}

/** What the lines that leave a task come to when it ends: judged once, recorded in the task's terminal event. */
export function judgeLines(run: Run, taskIndex: number, ending: Ending): LineResult[] {
  const graph = graphOf(run);
  return graph.linesFrom
    .at(taskIndex)
    .filter((index) => run.lines.at(index).satisfied === null)
    .map((index) => judgeLine(graph.lines.at(index), ending));
}

/** What one line comes to when its predecessor has ended. */
export function judgeLine({ id, type, condition = '', from }: TaskStarLine, ending: Ending): LineResult {
  switch (type) {
    case 'unconditional':
      return { id, satisfied: true };
    case 'success-only':
      if (ending.status === 'COMPLETED') return { id, satisfied: true };
      return { id, satisfied: false, reason: `${from} is ${ending.status}` };
    case 'conditional': {
      const value = evaluateCondition(condition, ending);
      return value.satisfied ? { id, satisfied: true } : { id, satisfied: false, reason: shortened(value.reason) };
    }
  }
}

/** Thousands of lines may be judged in one commit: together their reasons have to fit into it. */
const REASON_CHARS_MAX = 100;

function shortened(reason: string): string {
  if (reason.length <= REASON_CHARS_MAX) return reason;
  return `${reason.slice(0, REASON_CHARS_MAX - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}

/** Which of a task's lines dooms it, and whether a condition or a failure is behind it (further up, too). */
export function doomOf(run: Run, taskIndex: number): { lineId: string; by: 'condition' | 'failure'; reason: string } {
  const graph = graphOf(run);
  const unsatisfied = graph.linesInto.at(taskIndex).filter((index) => run.lines.at(index).satisfied === false);
  const causes = unsatisfied.map((index) => {
    const line = graph.lines.at(index);
    const source = run.tasks.at(sourceOf(graph, index));
    const chosen = source.status === 'SKIPPED' ? source.skippedBy === 'condition' : line.type === 'conditional';
    const reason = run.lines.at(index).reason ?? 'not satisfied';
    const by = chosen ? ('condition' as const) : ('failure' as const);
    return { lineId: line.id, by, reason: `line ${line.id}: ${reason}` };
  });
  const cause = causes.find(({ by }) => by === 'failure') ?? causes[0];
  if (cause === undefined) throw new Error(`task at ${taskIndex} of run ${run.runId} is doomed by no line`);
  return cause;
}
