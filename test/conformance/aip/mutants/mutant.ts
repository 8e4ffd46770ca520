export interface Edit {
  /** Relative to the root of the tree. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly text: string;
  readonly becomes: string;
}

/** A gateway that breaks a promise on purpose, and the checks that must find it. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly finds: readonly string[];
}

/** The usual mutant: one place is wrong. */
export const mutant = (
  name: string,
  file: string,
  change: readonly [text: string, becomes: string],
  finds: readonly string[],
): Mutant => ({
  name,
  edits: [{ file, text: change[0], becomes: change[1] }],
  finds,
});
