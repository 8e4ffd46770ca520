/** What a script can tell from the exit code. */
export const EXIT = {
  ok: 0,
  /** `verify` found the record altered, or something went wrong that is none of the others. */
  failure: 1,
  /** The run failed, failed in parts, or was cancelled. */
  runFailed: 2,
  badInput: 3,
  unreachable: 4,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

interface RunEnd {
  readonly status: string;
  readonly outcome: string | null;
}

/** Only a run that did all it was asked for is a success. */
export function exitCodeOfRun({ status, outcome }: RunEnd): ExitCode {
  return status === 'COMPLETED' && outcome === 'succeeded' ? EXIT.ok : EXIT.runFailed;
}
