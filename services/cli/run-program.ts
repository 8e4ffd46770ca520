import { visibleText } from '#libs/visible';
import { cleanText, CliError, failure, messageOf, EXIT, exitCodeOfSignal, type ExitCode } from './terminal/index.js';
import { runCli, type CliSurroundings } from './program.js';

/** Runs a command line and turns whatever goes wrong into one sentence on standard error and an exit code. */
export async function runProgram(words: readonly string[], surroundings: CliSurroundings): Promise<ExitCode> {
  let left = '';
  const leaving = (lastWords: string): void => void (left = lastWords);
  try {
    const exitCode = await runCli(words, { ...surroundings, leaving });
    if (exitCode === EXIT.ok || !surroundings.signal.aborted) return exitCode;
    return explain(failure('Stopped.'), words, { ...surroundings, left });
  } catch (error) {
    return explain(error, words, { ...surroundings, left });
  }
}

type Left = CliSurroundings & {
  /** What a person is to know who leaves before the work is done; empty when there is nothing. */
  readonly left: string;
};

function explain(thrown: unknown, words: readonly string[], { terminal, env, signal, left }: Left): ExitCode {
  const stopped = exitCodeOfSignal(signal);
  // What breaks because everything is ended is no news.
  const error = stopped === undefined || thrown instanceof CliError ? thrown : failure('Stopped.', thrown);
  const ownCode = error instanceof CliError ? error.exitCode : EXIT.failure;
  const exitCode = stopped ?? ownCode;
  const isLeft = stopped !== undefined || ownCode === EXIT.unreachable;
  const message = isLeft && left !== '' ? `${messageOf(error)} ${left}` : messageOf(error);
  terminal.err(`orrery: ${cleanText(message)}`);
  const known = error instanceof CliError || isForPeople(error);
  if (env['ORRERY_LOG_LEVEL'] === 'debug' && error instanceof Error) terminal.err(cleanText(detailsOf(error)));
  else if (!known) terminal.err('This should not happen; ORRERY_LOG_LEVEL=debug shows more.');
  if (words.includes('--json')) {
    terminal.out(
      visibleText(
        JSON.stringify({
          error: {
            message,
            exitCode,
            ...(error instanceof CliError ? { code: error.code, issues: error.issues } : { issues: [] }),
          },
        }),
      ),
    );
  }
  return exitCode;
}

/** Errors of libraries of ours whose message is one sentence for a person. */
const FOR_PEOPLE = new Set([
  'EmbeddedServerError',
  'ProvisionError',
  'UnsafeServerError',
  'BusError',
  'ConfigError',
  'LoadError',
]);

function isForPeople(error: unknown): boolean {
  return error instanceof Error && FOR_PEOPLE.has(error.name);
}

function detailsOf(error: Error): string {
  const own = error.stack ?? error.message;
  return error.cause instanceof Error ? `${own}\ncaused by ${detailsOf(error.cause)}` : own;
}
