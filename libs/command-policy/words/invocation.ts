import type { Glyphs } from './path-pattern.js';
import type { Word } from './word.js';

/** Where a command can be when it runs, each without a slash at its end; `.` is the device's own directory. */
export type WorkingPlaces = readonly Glyphs[];

export interface Redirect {
  readonly operator: string;
  readonly target: Word;
}

/** What a command reads when it reads its standard input. */
export type StandardInput =
  | { readonly kind: 'none' }
  /** What these wrote. */
  | { readonly kind: 'pipe'; readonly upstream: readonly Invocation[] }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file' | 'unknown' };

/** One program that would be started, or a built-in that would be called. */
export interface Invocation {
  /** The program first; empty when there is none, only assignments and redirections. */
  readonly words: readonly Word[];
  readonly assignments: readonly VariableAssignment[];
  readonly redirects: readonly Redirect[];
  readonly input: StandardInput;
  readonly places: WorkingPlaces;
  /** Names of the functions that the text defines. */
  readonly functions: ReadonlySet<string>;
  /** As it is written. */
  readonly text: string;
}

export interface VariableAssignment {
  readonly name: string;
  readonly value: Word | undefined;
  /** A program that is started gets it. */
  readonly exported: boolean;
}
