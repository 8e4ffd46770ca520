import type { Json, LineResult, TaskStarLine } from '#proto';
import { boardValues } from '../board/index.js';
import { type Doomer, type TaskEnding, type Judge, LINE_KINDS, sourceOf } from '../plan/index.js';
import { type Run } from './run.js';

/** What the lines that leave a task come to when it ends: judged once, recorded in the task's terminal event. */
export function judgeLines(run: Run, taskIndex: number, ending: TaskEnding, judge: Judge): LineResult[] {
  const { graph } = run;
  const known = { board: boardOf(run), ...ending };
  return graph.linesFrom
    .at(taskIndex)
    .filter((index) => run.lines.at(index).satisfied === null)
    .flatMap((index) => judgeLine(graph.lines.at(index), known, judge) ?? []);
}

/** What a condition finds on the board as it stands. */
export const boardOf =
  (run: Pick<Run, 'board' | 'blackboard'>) =>
  (names: readonly string[] | null): Json =>
    boardValues(run, names);

/** What one line comes to when its predecessor has ended; undefined when that has to be found out first. */
export function judgeLine(line: TaskStarLine, ending: TaskEnding, judge: Judge): LineResult | undefined {
  const { id, type } = line;
  const truth = LINE_KINDS[type].judge(line, ending, judge);
  if (truth === undefined) return undefined;
  if (truth.truth === 'satisfied') return { id, satisfied: true };
  const reason = shortened(truth.reason);
  return truth.truth === 'undecided'
    ? { id, satisfied: false, undecided: true, reason }
    : { id, satisfied: false, reason };
}

/** Thousands of lines may be judged in one commit: together their reasons have to fit into it. */
const REASON_CHARS_MAX = 100;

function shortened(reason: string): string {
  if (reason.length <= REASON_CHARS_MAX) return reason;
  return `${reason.slice(0, REASON_CHARS_MAX - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}

/** Which of a task's lines dooms it, and whether a condition or a failure is behind it (further up, too). */
export interface Doom {
  readonly lineId: string;
  readonly by: Doomer;
  readonly reason: string;
}

export function doomOf(run: Run, taskIndex: number): Doom {
  const { graph } = run;
  const unsatisfied = graph.linesInto.at(taskIndex).filter((index) => isUnsatisfied(run, index));
  const causes = unsatisfied.map((index) => {
    const line = graph.lines.at(index);
    const source = run.tasks.at(sourceOf(graph, index));
    const by = LINE_KINDS[line.type].doomedBy(source.skippedBy);
    const reason = run.lines.at(index).reason ?? 'not satisfied';
    return { lineId: line.id, by, reason: `line ${line.id}: ${reason}` };
  });
  const cause = causes.find(({ by }) => by === 'failure') ?? causes[0];
  if (cause === undefined) throw new Error(`task at ${taskIndex} of run ${run.runId} is doomed by no line`);
  return cause;
}

/** Of a task that no line is known to forbid, and of which somebody cannot say whether all allow it: the first such line. */
export function undecidedInto(run: Run, taskIndex: number): { lineId: string; reason: string } | undefined {
  const { graph } = run;
  const into = graph.linesInto.at(taskIndex);
  if (into.some((index) => isUnsatisfied(run, index))) return undefined;
  const index = into.find((line) => run.lines.at(line).undecided === true);
  if (index === undefined) return undefined;
  const { id: lineId } = graph.lines.at(index);
  return { lineId, reason: run.lines.at(index).reason ?? 'nobody can say' };
}

/** The reason of a line in a view begins with this word where nobody can say whether its condition holds. */
export const UNDECIDED = 'undecided: ';

/** A line is known not to be satisfied: what is undecided may be. */
export function isUnsatisfied(run: Run, line: number): boolean {
  const { satisfied, undecided } = run.lines.at(line);
  return satisfied === false && undecided !== true;
}
