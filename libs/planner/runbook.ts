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
