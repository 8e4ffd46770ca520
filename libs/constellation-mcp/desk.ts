import type { ConstellationSnapshot, ConstellationToolCall } from '#proto';

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

/** The message is one sentence for the caller of a tool; everything else that a desk throws is a fault that nobody is told. */
export class DeskError extends Error {
  override readonly name: string = 'DeskError';
}
