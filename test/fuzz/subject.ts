import type { Dice } from '../simulation/random.js';
import type { FuzzFrame, Recipe } from './generator.js';

/** A promise that was broken: one sentence. Everything else that is thrown breaks the promise that nothing is. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export function hold(holds: boolean, sentence: string): asserts holds {
  if (!holds) throw new Violation(sentence);
}

/** Something that happens beside frames: time passes, a port answers. `value` says which way. */
export interface Act {
  readonly kind: 'act';
  readonly name: string;
  readonly value: number;
}

export type Outcome = 'answered' | 'refused' | 'closed' | 'taken' | 'silent' | 'after the end';

/** What came of one frame. */
export interface Verdict {
  readonly state: string;
  readonly outcome: Outcome;
  /** Whether the frame was JSON and a message. */
  readonly isMessage: boolean;
}

/** One endpoint with a world around it that watches what it does. */
export interface Subject {
  /** Gives it the frame and checks everything that has to be true then. Throws. */
  receive(frame: Pick<FuzzFrame, 'text' | 'binary'>): Verdict;
  act(act: Act): void;
  /** Where the session stands. */
  readonly state: string;
  /** The session is over: no frame counts any more. */
  readonly isOver: boolean;
  /** The last word, with the socket gone. Throws. */
  end(): void;
}

export interface Target {
  readonly name: string;
  /** The states in which cases begin. */
  readonly stages: readonly string[];
  /** What to send at a stage. */
  recipe(stage: string): Recipe;
  /** What may happen beside frames, each as likely as it is named here. */
  readonly acts: readonly string[];
  /** A new endpoint that has come to the stage. */
  open(stage: string, dice: Dice): Subject;
}
