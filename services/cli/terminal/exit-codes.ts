/** What a script can tell from the exit code. */
export const EXIT = {
  ok: 0,
  /** `verify` found the record altered, or something went wrong that is none of the others. */
  failure: 1,
  /** The run failed, failed in parts, or was cancelled. */
  runFailed: 2,
  badInput: 3,
  /** Nobody answers, or nothing can be stored. */
  unreachable: 4,
} as const;

/** Of a command that a signal ended, as shells count: 128 and the number of the signal. */
const ENDED_BY = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT] | (typeof ENDED_BY)[keyof typeof ENDED_BY];

/** The signals that end a command. */
export const ENDING_SIGNALS = Object.keys(ENDED_BY) as (keyof typeof ENDED_BY)[];

/** Of the signal that is the reason of an abort; undefined while nobody has asked for an end. */
export function exitCodeOfSignal({ aborted, reason }: AbortSignal): ExitCode | undefined {
  if (!aborted) return undefined;
  return ENDED_BY[ENDING_SIGNALS.find((name) => name === reason) ?? 'SIGINT'];
}

interface RunEnd {
  readonly status: string;
  readonly outcome: string | null;
}

/** Only a run that did all it was asked for is a success. */
export function exitCodeOfRun({ status, outcome }: RunEnd): ExitCode {
  return status === 'COMPLETED' && outcome === 'succeeded' ? EXIT.ok : EXIT.runFailed;
}
