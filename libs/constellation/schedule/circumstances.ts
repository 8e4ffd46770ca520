import type { FleetView } from '../edits/index.js';
import type { Truths } from '../plan/index.js';
import type { Run } from '../state/index.js';

/** What a decision depends on besides the run and its inputs. */
export interface Circumstances {
  readonly fleet: FleetView;
  /** Milliseconds since the epoch, server time. */
  readonly now: number;
  /** Somebody is there who makes plans. */
  readonly planner: boolean;
  /** What was found out of conditions that are not judged on the spot; without it all are, over what the events hold. */
  readonly truths?: Truths;
}

export function deadlinePassed({ deadlineAt }: Run, now: number): boolean {
  return deadlineAt !== null && now >= Date.parse(deadlineAt);
}
