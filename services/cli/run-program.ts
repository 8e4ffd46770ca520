import { cleanText, CliError, messageOf, EXIT, type ExitCode } from './terminal/index.js';
import { runCli, type CliSurroundings } from './program.js';

/** Runs a command line and turns whatever goes wrong into one sentence on standard error and an exit code. */
export async function runProgram(words: readonly string[], surroundings: CliSurroundings): Promise<ExitCode> {
  try {
    return await runCli(words, surroundings);
  } catch (error) {
    return explain(error, words, surroundings);
  }
}

function explain(error: unknown, words: readonly string[], { terminal, env }: CliSurroundings): ExitCode {
  const message = messageOf(error);
  terminal.err(`orrery: ${cleanText(message)}`);
  const known = error instanceof CliError || isForPeople(error);
  if (env['ORRERY_LOG_LEVEL'] === 'debug' && error instanceof Error) terminal.err(cleanText(detailsOf(error)));
  else if (!known) terminal.err('This should not happen; ORRERY_LOG_LEVEL=debug shows more.');
  const exitCode = error instanceof CliError ? error.exitCode : EXIT.failure;
  if (words.includes('--json')) {
    terminal.out(
      JSON.stringify({ error: { message, exitCode, issues: error instanceof CliError ? error.issues : [] } }),
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
