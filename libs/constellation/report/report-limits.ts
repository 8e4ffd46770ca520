import { table } from './report-text.js';

export const REPORT_LIMITS = {
  /** Of stdout and of stderr of one command; less when there are many commands. */
  outputCharsMax: 8_000,
  outputCharsMin: 400,
  /** Of the outputs of all commands together. */
  outputsCharsMax: 2_000_000,
  commandLineCharsMax: 20_000,
  requestCharsMax: 100_000,
  rowsMax: 2_000,
  roundsMax: 500,
  /** Of what was said and proposed in all rounds together; and of one text of one try. */
  roundsCharsMax: 1_000_000,
  roundCharsMin: 200,
  traceCharsMax: 4_000,
  /** Of one round. */
  editsMax: 100,
  /** Attempts of agents, and all that is told of them together. */
  agentsMax: 500,
  agentsCharsMax: 1_500_000,
  /** Steps of one attempt that are told in full, the first and the last; and lines of its table. */
  stepsMax: 30,
  stepRowsMax: 250,
  /** Of one verdict of the policy. */
  reasonsMax: 20,
} as const;

/** A table that ends where it must, and says so. */
export function limited(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [table(head, rows.slice(0, REPORT_LIMITS.rowsMax)), ...more(rows.length)].join('\n\n');
}

/** What is left out of a list of this many. */
export function more(count: number, max: number = REPORT_LIMITS.rowsMax): string[] {
  return count > max ? [`${count - max} more are in the log, not in this report.`] : [];
}
