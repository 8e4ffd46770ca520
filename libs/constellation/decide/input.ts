import type {
  Actor,
  AttemptFinished,
  Evaluation,
  PlanSource,
  Proposal,
  Refusal,
  Role,
  RunEventData,
  Sha256,
  TaskId,
  Usage,
} from '#proto';
import type { Asked } from './approvals.js';
import type { Control } from './control.js';
import type { RoundFailure } from './edit-cycle.js';

/** What a run is asked or told. Whatever waits for a run is decided together against one state. */
export type Input =
  | {
      readonly kind: 'submit';
      readonly requested: RunEventData<'RUN_REQUESTED'>;
      /** Content hash of the request by what a line without a type meant once. */
      readonly formerHash?: string | undefined;
      /** Why it may not become a run today. A run that it has become already is the same run still. */
      readonly refusal?: Refusal | undefined;
    }
  /** The first input of a run that begins where another one stood. */
  | { readonly kind: 'fork'; readonly id: string; readonly forked: RunEventData<'RUN_FORKED'> }
  | {
      readonly kind: 'attempt-ended';
      readonly taskId: TaskId;
      readonly attempt: number;
      readonly finished: AttemptFinished;
      readonly attemptHash: string;
    }
  /** An attempt waits for a person. */
  | ({ readonly kind: 'asked' } & Asked)
  | {
      readonly kind: 'late-result';
      readonly taskId: TaskId;
      readonly attempt: number;
      readonly text: string;
      readonly attemptHash: string;
    }
  /** The planner's answer to an edit round. */
  | ({ readonly kind: 'proposal' } & PlannedRound)
  /** The planner comes to no plan in this round. */
  | ({ readonly kind: 'round-failed' } & RoundFailure)
  /** A run that has ended was judged. */
  | {
      readonly kind: 'evaluated';
      readonly evaluation: Evaluation;
      readonly used: Usage;
      readonly planHash: Sha256;
    }
  /** A command with an id of its own, that is decided once however often it comes. */
  | {
      readonly kind: 'verb';
      readonly id: string;
      readonly by: Actor;
      readonly action: Control | Propose;
      /** What the sender may do at all, as it is known when the verb comes; without it nobody asks. */
      readonly roles?: readonly Role[] | undefined;
    }
  /** An input that could not be decided went to the dead letters: nothing new starts until a person has looked. */
  | { readonly kind: 'pause'; readonly reason: string }
  /** The clock or the fleet moved on: everything that is owed is decided. */
  | { readonly kind: 'wake' };

export interface Propose {
  readonly verb: 'PROPOSE';
  readonly proposal: Proposal;
  /** Sent by a program that somebody let act for him: nobody knows whether he has read it. */
  readonly delegated: boolean;
}

/** What the planner has recorded of a round before it proposed. */
export interface PlannedRound {
  readonly proposal: Proposal;
  readonly by: Actor;
  /** End of the chain of the planner's steps that led here; null when there are none. */
  readonly planHash: Sha256 | null;
  /** `model`: what it wrote is judged. A reviewed runbook and a rule are trusted like the request. */
  readonly source: PlanSource;
  readonly used: Usage;
}
