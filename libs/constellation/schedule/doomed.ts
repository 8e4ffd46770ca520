import { instantOf, type RunEvent } from '#proto';
import type { RunDraft } from '../fold/index.js';
import { doomOf, judgeLines, type Run, undecidedInto } from '../state/index.js';
import { jsonBytes } from '../values/index.js';
import type { Circumstances } from './circumstances.js';
import { taskFailed } from './task-failed.js';

/** Skips beyond this go into the next commit, a wave at a time: one task that fails may doom all the others. */
const SKIPPED_BYTES_MAX = 512 * 1024;

/** What one look at the doomed tasks came to. */
export interface Doomed {
  /** Of the events so far. */
  readonly bytes: number;
  /** Some have failed: that may open a round, which may hold what hangs from them, and all is looked at again. */
  readonly failed: boolean;
  /** So many are doomed that the rest goes into the next commit. */
  readonly more: boolean;
}

/**
 * A task whose line can no longer be satisfied is skipped at once, and so is what hangs from it, unless an edit may save it.
 * One of which nobody can say whether it may run fails.
 */
export function endDoomed(
  draft: RunDraft,
  held: (index: number) => boolean,
  spent: number,
  { now }: Circumstances,
): Doomed {
  for (let bytes = spent; ;) {
    const { run } = draft;
    const doomed = [...run.doomed].filter((index) => !held(index) && isSettled(run, index));
    if (doomed.length === 0) return { bytes, failed: false, more: false };
    if (bytes > SKIPPED_BYTES_MAX) return { bytes, failed: false, more: true };
    const events = doomed.map((index): RunEvent => {
      const undecided = undecidedInto(run, index);
      if (undecided !== undefined) {
        const message = `nobody can say whether line ${undecided.lineId} lets it run: ${undecided.reason}`;
        return taskFailed(draft, index, { code: 'CONDITION_UNDECIDABLE', message, outcome: 'failed' }, now);
      }
      const { lineId, by, reason } = doomOf(run, index);
      const { star, result } = run.tasks.at(index);
      const lines = judgeLines(run, index, { status: 'SKIPPED', result }, draft.judge);
      const taskId = star.id;
      return { type: 'TASK_SKIPPED', data: { taskId, by, lineId, reason, lines, skippedAt: instantOf(now) } };
    });
    bytes += jsonBytes(events);
    draft.add(...events);
    if (events.some(({ type }) => type === 'TASK_FAILED')) return { bytes, failed: true, more: false };
  }
}

/** Of a task that waits for what is undecided alone, another line may still say no: whichever comes first, it comes to the same. */
function isSettled(run: Run, index: number): boolean {
  return run.tasks.at(index).linesOpen === 0 || undecidedInto(run, index) === undefined;
}
