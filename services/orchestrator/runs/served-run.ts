import type { Cause, RunId } from '#proto';
import type { Answer, Input, Run } from '#libs/constellation';

/** What becomes of something that waited for a run. */
export type Settled =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly sequence: number }
  /** Infrastructure: nothing is known to be stored; the same input comes again. */
  | { readonly kind: 'retry'; readonly reason: string }
  /** The input is itself bad, or its run cannot be folded: for the dead letters. */
  | { readonly kind: 'poison'; readonly reason: string };

/** One input with its cause, and who waits for what becomes of it. */
export interface Waiting {
  readonly input: Input;
  readonly cause: Cause;
  /** Size of the facts it may leave in a commit. */
  readonly bytes: number;
  /** It is the run's armed wake-up that fired: another one is armed before it is settled. */
  readonly due?: boolean;
  /** Server time the input carries, for a due wake-up: the run is decided at the later of it and the clock. */
  readonly at?: number;
  /** Read from ATTEMPTS or PLANS when the run was loaded: nobody waits for what becomes of it. */
  readonly isStored?: boolean;
  settle(settled: Settled): void;
}

/** A run in memory, and what waits for it. */
export interface ServedRun {
  readonly runId: RunId;
  waiting: Waiting[];
  busy: boolean;
  /** Its partition was given up while it was busy: what is in memory ends with what is in work. */
  givenUp: boolean;
  loaded: { readonly run: Run; readonly end: number } | undefined;
  armedAt: number | undefined;
}

/** An end of an attempt, or a word of the planner, as it is stored: for a run that is loaded while a dead replica still holds its inputs. */
export type StoredEnd = Pick<Waiting, 'input' | 'cause' | 'bytes'>;
