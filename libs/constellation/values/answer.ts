import type { BoardFound, Refusal } from '#proto';

/** What is said to the requester. */
export type Answer =
  /**
   * `sequence` when it was decided before: the last event of the commit that followed then. `detail`: what there is to say beside it.
   * `waits`: it is one word of several that it takes. `board`: what stands there now that was written, or was in the way.
   */
  | {
      readonly kind: 'accepted';
      readonly sequence?: number;
      readonly detail?: string;
      readonly waits?: true;
      readonly board?: BoardFound | null;
    }
  /** `detail`: what is to be said of it instead of what the reason says to everybody. */
  | { readonly kind: 'ignored'; readonly reason: string; readonly detail?: string }
  /** `recorded`: the refusal is itself a fact. */
  | {
      readonly kind: 'rejected';
      readonly reason: Refusal;
      readonly recorded?: true;
      readonly board?: BoardFound | null;
    };

/** Why there was nothing to do, in words. */
export const IGNORED: Readonly<Record<string, string>> = {
  CANCELLED_BEFORE: 'the run was cancelled before',
  ENDING: 'the run is about to end already',
  PAUSED_BEFORE: 'the run is paused already',
  NOT_PAUSED: 'the run is not paused',
  PENDING: 'the task is waiting to start already',
  RETRIED_BEFORE: 'the task is being stopped for another try already',
  ROUND_IS_OVER: 'the edit round is over',
  REPEATED_TRY: 'this try of the round was judged before',
  ALREADY_GIVEN: 'you have approved it already',
  ALREADY_DECIDED: 'it was decided before',
  NOT_ENDED: 'the run has not ended yet',
  EVALUATED_BEFORE: 'the run was evaluated before',
  NOT_ON_BOARD: 'nothing stands on the board under this name',
  NO_CHANGE: 'the constellation is so already',
};

export const ACCEPTED: Answer = { kind: 'accepted' };

export function refuse(code: Refusal['code'], message: string): Answer {
  return { kind: 'rejected', reason: { code, message, issues: [] } };
}
