import { COMMAND_REFUSALS, type RunEvent } from '#proto';
import { assign } from '../edits/index.js';
import type { RunDraft } from '../fold/index.js';
import { type Bound, Purse, type Run, type TaskState } from '../state/index.js';
import { jsonBytes } from '../values/index.js';
import type { Circumstances } from './circumstances.js';
import { NOTHING_SEEN, type Seen, Waits } from './device-wait.js';
import { SlotView } from './slots.js';
import { taskFailed } from './task-failed.js';
import { missingOnBoard, start } from './start.js';

/** Waited for by a task for which no device is connected that would do. */
export const ANY_DEVICE = '*';

/** Starts beyond this go into the next commit, so that results and ends always fit into theirs. */
const STARTED_BYTES_MAX = 512 * 1024;
/** What one look at the ready tasks came to. */
export interface Started {
  /** Busy devices of which a ready task waits for a slot; ANY_DEVICE when it waits for one to connect. */
  readonly starvedOf: ReadonlySet<string>;
  /** A ready task could start but no longer fits into this commit. */
  readonly more: boolean;
  /** Tasks that can never be satisfied: they failed, so lines were judged and the commit is not closed yet. */
  readonly failed: number;
  /** When the circuit of a device may be tried; Infinity when none is waited for. */
  readonly until: number;
  /** The first ready task for which too little of the budget is left, and what. */
  readonly short: { readonly taskId: string; readonly bounds: readonly Bound[] } | null;
  readonly seen: Seen;
}

export const NOTHING_STARTED: Started = {
  starvedOf: new Set(),
  more: false,
  failed: 0,
  until: Infinity,
  short: null,
  seen: NOTHING_SEEN,
};

/** Starts, in their turn, the ready tasks for which there is a slot, a device and a budget; fails those that can get none. */
export function startReady(draft: RunDraft, held: (index: number) => boolean, { fleet, now }: Circumstances): Started {
  const { run } = draft;
  if (run.phase !== 'RUNNING' || run.ending !== null) return NOTHING_STARTED;
  const slots = new SlotView(fleet, run);
  const purse = new Purse(run);
  // A wide constellation on a busy fleet has thousands of ready tasks with the same needs: one answer serves them all.
  const waits = new Waits(draft, { fleet, now });
  const starts: RunEvent[] = [];
  const failures: RunEvent[] = [];
  const starvedOf = new Set<string>();
  let [more, bytes, until] = [false, 0, Infinity];
  let short: Started['short'] = null;
  for (const index of inOrder(run)) {
    const task = run.tasks.at(index);
    if (held(index)) continue;
    if (task.notBefore !== null && now < Date.parse(task.notBefore)) continue;
    if (bytes > STARTED_BYTES_MAX) {
      more = true;
      break;
    }
    if (slots.left <= 0) {
      // A task of this run that ends is an input of it; what others end wakes the runs that wait for any device.
      if (slots.isFleetFull) starvedOf.add(ANY_DEVICE);
      break;
    }
    const missing = missingOnBoard(run, task.star);
    if (missing !== undefined) {
      const error = { code: 'NOT_ON_BOARD', message: missing, outcome: 'failed' } as const;
      failures.push(taskFailed(draft, index, error, now));
      continue;
    }
    const known = waits.ofNeed(task.need);
    const bounds = known === undefined ? purse.lacking(task.star) : [];
    if (bounds.length > 0) {
      short ??= { taskId: task.star.id, bounds };
      continue;
    }
    const avoid = { session: lostSession(task), failedOn: task.failedOn };
    const assignment = known ?? assign(task.star, slots, avoid);
    if (assignment.kind === 'never') {
      const { code, path, message } = assignment.issue;
      failures.push(taskFailed(draft, index, { code, message: `${path}: ${message}`, outcome: 'failed' }, now));
    } else if (assignment.kind === 'wait') {
      if (known === undefined) {
        for (const device of assignment.busy) starvedOf.add(device);
        if (assignment.busy.length === 0) starvedOf.add(ANY_DEVICE);
        until = Math.min(until, assignment.until ?? Infinity);
      }
      const end = waits.take(index, assignment, avoid);
      if (end === undefined) continue;
      bytes += jsonBytes(end);
      failures.push(end);
    } else {
      const event = start(run, index, { device: assignment.device, budget: purse.take(task.star) }, now);
      bytes += jsonBytes(event.data);
      slots.take(assignment.device.deviceId);
      starts.push(event);
    }
  }
  // A failure may open a round, which may hold what would start: it comes first, and then all is looked at again.
  draft.add(...(failures.length > 0 ? failures : starts));
  return { starvedOf, more, failed: failures.length, until, short, seen: waits.seen };
}

/** By priority, then first ready first; the sort is stable. */
function inOrder(run: Run): Iterable<number> {
  if (!run.prioritized) return run.ready;
  const priority = (index: number) => run.tasks.at(index).star.priority ?? 0;
  return [...run.ready].toSorted((a, b) => priority(b) - priority(a));
}

/** A session that ended under the last attempt, or before it: nothing starts on it any more. */
function lostSession({ error, sessionId }: TaskState): string | null {
  const isOver = error?.outcome === 'device_lost' || error?.code === COMMAND_REFUSALS.notSent;
  return isOver ? sessionId : null;
}
