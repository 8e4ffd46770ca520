import type { FleetView } from '../edits/index.js';
import type { Truths } from '../plan/index.js';
import type { Approvers, Run, StandingApprovals } from '../state/index.js';

/** What a decision depends on besides the run and its inputs. */
export interface Circumstances {
  readonly fleet: FleetView;
  /** Milliseconds since the epoch, server time. */
  readonly now: number;
  /** Somebody is there who makes plans. */
  readonly planner: boolean;
  /** And has a model to ask; undefined: nobody knows. */
  readonly model?: boolean | undefined;
  /** Persons who may approve, all of them; without it nobody knows, and whoever had a part in a run approves nothing in it. */
  readonly approvers?: Approvers;
  /** Words that were given for plans before; without it there are none. */
  readonly standing?: StandingApprovals | undefined;
  /** What was found out of conditions that are not judged on the spot; without it all are, over what the events hold. */
  readonly truths?: Truths;
}

export function deadlinePassed({ deadlineAt }: Run, now: number): boolean {
  return deadlineAt !== null && now >= Date.parse(deadlineAt);
}
