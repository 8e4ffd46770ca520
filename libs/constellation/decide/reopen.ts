import type { Actor, LineId, LineResult } from '#proto';
import { sourceOf, targetOf } from '../plan/index.js';
import type { RunDraft } from '../fold/index.js';
import { boardOf, judgeLine, isTerminalTask, type Run, type TaskState } from '../state/index.js';

interface Reopened {
  readonly reason: 'retry_policy' | 'operator';
  readonly by: Actor | null;
  readonly notBefore: string;
}

/**
 * Opens a task again that has ended, and with it the tasks that were skipped because of it and for no other reason, and those
 * behind it that were cancelled before they had started. Lines to what has run stay as they were judged: what followed from
 * them has happened.
 */
export function reopenTask(draft: RunDraft, index: number, { reason, by, notBefore }: Reopened): void {
  const reopened = withFollowers(draft.run, index);
  for (const position of reopened) {
    const { star, attempt } = draft.run.tasks.at(position);
    const judged = judgedAnew(draft, position, reopened);
    draft.add({
      type: 'TASK_REOPENED',
      data: {
        taskId: star.id,
        attempt,
        reason,
        ...(by === null ? {} : { by }),
        notBefore,
        lines: [
          ...linesToOpen(draft.run, position),
          ...linesToWaitFor(draft.run, position),
          ...judged.map(({ id }) => id),
        ],
        ...(judged.length === 0 ? {} : { judged }),
      },
    });
  }
}

/** Undecided lines into a task whose sources have ended and stay as they are: what could not be judged then may be by now. */
function judgedAnew({ run, judge }: RunDraft, position: number, reopened: ReadonlySet<number>): LineResult[] {
  const { graph } = run;
  return graph.linesInto.at(position).flatMap((line) => {
    const source = sourceOf(graph, line);
    const { status, result } = run.tasks.at(source);
    const isAsked = run.lines.at(line).undecided === true && isTerminalTask(status) && !reopened.has(source);
    return isAsked ? (judgeLine(graph.lines.at(line), { status, result, board: boardOf(run) }, judge) ?? []) : [];
  });
}

/**
 * The task, of one on several devices those of them that have not completed, and, along its lines, every task that never got its turn and
 * all of whose unsatisfied lines come from here.
 */
function withFollowers(run: Run, index: number): ReadonlySet<number> {
  const { graph } = run;
  const reopened = new Set([index]);
  // A Set is walked in the order of insertion, and what is added on the way is walked, too.
  for (const position of reopened) {
    for (const part of undoneOf(run, position)) reopened.add(part);
    for (const line of graph.linesFrom.at(position)) {
      const target = targetOf(graph, line);
      if (!neverGotItsTurn(run.tasks.at(target))) continue;
      const blocked = graph.linesInto
        .at(target)
        .filter((into) => run.lines.at(into).satisfied === false)
        .some((into) => !reopened.has(graph.taskIndex.get(graph.lines.at(into).from) ?? -1));
      if (!blocked) reopened.add(target);
    }
  }
  return reopened;
}

/** Of a task on several devices those that have begun and not completed. */
function* undoneOf({ graph, tasks }: Run, position: number): Generator<number> {
  for (const { taskId } of tasks.at(position).fanOut?.parts ?? []) {
    const part = graph.taskIndex.get(taskId);
    const status = part === undefined ? undefined : tasks.at(part).status;
    if (part !== undefined && (status === 'FAILED' || status === 'CANCELLED')) yield part;
  }
}

/** No line let it run, nobody could say whether one did, or it was cancelled before. */
function neverGotItsTurn({ status, error, attempt }: TaskState): boolean {
  if (status === 'SKIPPED') return true;
  const isUndecidable = status === 'FAILED' && error.code === 'CONDITION_UNDECIDABLE';
  return attempt === 0 && (status === 'CANCELLED' || isUndecidable);
}

function linesToOpen(run: Run, position: number): LineId[] {
  const { graph } = run;
  return graph.linesFrom
    .at(position)
    .filter((line) => run.lines.at(line).satisfied !== null && !hasRun(run.tasks.at(targetOf(graph, line))))
    .map((line) => graph.lines.at(line).id);
}

/** Lines into a task whose source has been opened again since they were judged: the next try waits for it like the first one did. */
export function linesToWaitFor(run: Run, position: number): LineId[] {
  const { graph } = run;
  return graph.linesInto
    .at(position)
    .filter((line) => run.lines.at(line).satisfied !== null)
    .filter((line) => !isTerminalTask(run.tasks.at(sourceOf(graph, line)).status))
    .map((line) => graph.lines.at(line).id);
}

/** A task that has not may be opened later: then it waits for what is tried again now. */
function hasRun({ status, attempt, fanOut }: TaskState): boolean {
  if (fanOut !== null) return true;
  return attempt > 0 && status !== 'PENDING' && status !== 'SKIPPED';
}
