import type { BoardName, ConstellationSnapshot, ConstellationToolCall, Json, RunBoard, RunId, VerbId } from '#proto';

/** The constellation after a call, or why it is as it was: a sentence per violation, each with what would be valid. */
export type DeskAnswer =
  | { readonly ok: true; readonly snapshot: ConstellationSnapshot }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Port: one constellation that tools look at and change. What it says of a refusal is shown to the caller as it is. */
export interface ConstellationDesk {
  /** Throws DeskError when there is nothing to be seen. */
  snapshot(): Promise<ConstellationSnapshot>;
  /** Idempotent: what is so already is a success. Throws DeskError when nobody can say what came of it. */
  apply(call: ConstellationToolCall): Promise<DeskAnswer>;
}

/** What is said to a run beside its plan: words, and values of its board. */
export type RunWord =
  /** `id`: of these words; the same again is said once. */
  | { readonly does: 'say'; readonly text: string; readonly id?: VerbId | undefined }
  /** `revision`: what the caller has seen there; 0: nothing. */
  | { readonly does: 'set'; readonly name: BoardName; readonly value: Json; readonly revision?: number | undefined }
  | { readonly does: 'take-off'; readonly name: BoardName; readonly revision?: number | undefined };

/** A word is a fact of the run as of `sequence`, or was not taken, and why. */
export type WordAnswer =
  | { readonly ok: true; readonly runId: RunId; readonly sequence: number; readonly note: string }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Port: the run behind the constellation: people and programs say something to it, and share its board. */
export interface RunDesk {
  /** Throws DeskError when there is nothing to be seen. */
  board(): Promise<RunBoard>;
  /** Throws DeskError when nobody can say what came of it. */
  tell(word: RunWord): Promise<WordAnswer>;
}

/** The message is one sentence for the caller of a tool; everything else that a desk throws is a fault that nobody is told. */
export class DeskError extends Error {
  override readonly name: string = 'DeskError';
}
