import type { RunbookFile, RunbookInfo } from '#proto';

/** A pattern of goals: `texts[0] {names[0]} texts[1] ...`, one text more than names; in lower case. */
export interface GoalPattern {
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

/** A runbook that was checked when it was loaded. */
export interface Runbook {
  readonly info: RunbookInfo;
  readonly file: RunbookFile;
  readonly patterns: readonly GoalPattern[];
}

/** Ids of the lines that do not say when they are satisfied: who wrote them may have meant something else than is meant now. */
export function untypedLines({ constellation }: RunbookFile): string[] {
  return constellation.dependencies.flatMap(({ dependency_id: id, type, condition }) =>
    type === undefined && condition === undefined ? [id] : [],
  );
}
