import { visibleText } from '#libs/visible';

/** Where a command prints. Everything of a command goes through this, so that a test sees it and a pipe gets plain lines. */
export interface Terminal {
  /** Result: standard output. A line break is added. */
  out(text: string): void;
  /** Result that is no text: standard output as it is. Resolves when more is welcome. */
  bytes(data: Uint8Array): Promise<void>;
  /** What is said about the work, and errors: standard error. */
  err(text: string): void;
  /** A person is watching standard output: tables, drawings and colours are welcome. */
  readonly isTerminal: boolean;
  readonly color: boolean;
  readonly columns: number;
}

/** What every command gets. */
export interface CliContext {
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  readonly json: boolean;
  /** The context that was said on the command line; absent when none was. */
  readonly contextSaid?: string;
  /** Milliseconds since epoch. */
  readonly now: () => number;
  /** Aborted by Ctrl-C and SIGTERM, with the name of the signal as the reason: what waits ends, what was started is stopped. */
  readonly signal: AbortSignal;
  /** Says what a person is to know if the command ends before its work does: what goes on all the same, and how to see it. */
  readonly leaving?: (words: string) => void;
}

/** NO_COLOR (any value but the empty one) wins, then FORCE_COLOR, then whether a person is watching. */
export function wantsColor(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  if ((env['FORCE_COLOR'] ?? '') !== '') return env['FORCE_COLOR'] !== '0';
  return isTerminal && env['TERM'] !== 'dumb';
}

/** One JSON document, indented for a person, on one line for a program. */
export function printJson({ terminal }: Pick<CliContext, 'terminal'>, value: unknown): void {
  terminal.out(visibleText(JSON.stringify(value, null, terminal.isTerminal ? 2 : 0)));
}
