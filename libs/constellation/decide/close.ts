import type { RunDraft } from '../fold/index.js';
import {
  type Circumstances,
  type Doomed,
  endDoomed,
  isHeld,
  NOTHING_STARTED,
  noteWaits,
  type Started,
  startReady,
  waitTriggers,
  wakeAt,
} from '../schedule/index.js';
import { isTerminal, mayGetMore } from '../state/index.js';
import { type Advanced, advanceFanOuts, dueWaves, NOTHING_ADVANCED } from '../waves/index.js';
import { enforceApprovals } from './approvals.js';
import { enforceRunDeadline, enforceTaskDeadlines, enforceTimeouts } from './deadlines.js';
import { enforceEditDeadline } from './edit-cycle.js';
import { abandonEdit, openEdit, openEditFor } from './edit-rounds.js';
import { beginToEnd, end } from './ending.js';

export interface ClosedDraft {
  /** When the run must be looked at again, milliseconds since the epoch; null when it is terminal. */
  readonly wakeAt: number | null;
  readonly starvedOf: ReadonlySet<string>;
}

const OVER: ClosedDraft = { wakeAt: null, starvedOf: new Set() };

/** Adds all that follows from the state a draft has reached, until nothing more does, and says what the run waits for. */
export function close(draft: RunDraft, circumstances: Circumstances): ClosedDraft {
  if (draft.run.phase === 'NONE' || isTerminal(draft.run)) return OVER;
  enforceRunDeadline(draft, circumstances);
  enforceTaskDeadlines(draft, circumstances);
  enforceTimeouts(draft, circumstances);
  enforceApprovals(draft, circumstances);
  enforceEditDeadline(draft, circumstances);
  if (isTerminal(draft.run)) return OVER;
  let started: Started;
  let doomed: Doomed = { bytes: 0, failed: false, more: false };
  let fanned: Advanced = NOTHING_ADVANCED;
  do {
    openEdit(draft, circumstances);
    const held = isHeld(draft.run);
    doomed = endDoomed(draft, held, doomed.bytes, circumstances);
    fanned = doomed.failed ? NOTHING_ADVANCED : advanceFanOuts(draft, held, circumstances);
    started = doomed.failed || fanned.ended > 0 ? NOTHING_STARTED : startReady(draft, held, circumstances);
  } while (doomed.failed || (fanned.ended > 0 && !fanned.more) || (started.failed > 0 && !started.more));
  const more = doomed.more || fanned.more;
  noteWaits(draft, started.seen, circumstances.now);
  openEditFor(draft, waitTriggers(draft.run, started.seen, circumstances), circumstances.now);
  enforceBudget(draft, started, circumstances);
  end(draft, circumstances);
  if (isTerminal(draft.run)) return OVER;
  const starvedOf =
    fanned.starvedOf.size === 0 ? started.starvedOf : new Set([...started.starvedOf, ...fanned.starvedOf]);
  if (more || started.more) return { wakeAt: circumstances.now, starvedOf };
  const due = [...dueWaves(draft.run, circumstances.now)].map((at) => Date.parse(at));
  const until = Math.min(started.until, ...due.filter((at) => at > circumstances.now));
  return { wakeAt: wakeAt(draft.run, { starvedOf, until }, circumstances.now), starvedOf };
}

/** A task has to start, too little is left for it, and nobody runs or plans who could give some back: the run ends. */
function enforceBudget(draft: RunDraft, { short }: Started, { now }: Circumstances): void {
  if (short === null || mayGetMore(draft.run)) return;
  const note = `nothing is left of the budget (${short.bounds.join(', ')}) for task "${short.taskId}"`;
  abandonEdit(draft, { code: 'RUN_ENDING', message: 'the budget of the run is used up' }, now);
  beginToEnd(draft, { reason: 'budget', by: null, note }, now);
}
