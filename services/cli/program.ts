import { CommanderError, type Command } from 'commander';
import { LATEST_RUN, runsToFind, VERSION } from '#proto';
import { defineCommands } from './commands/index.js';
import {
  badInput,
  cleanLine,
  CliCommand,
  DESCRIPTION,
  ENVIRONMENT,
  EVERYWHERE,
  EXIT,
  EXIT_MEANINGS,
  FIRST_EXAMPLES,
  NAMES_OF_RUNS,
  type ExitCode,
  type CliContext,
} from './terminal/index.js';
import { untilStopped } from './until-stopped.runner.js';

export type CliSurroundings = Omit<CliContext, 'json'>;

/** Arguments that are runs. */
const RUN_ARGUMENTS: ReadonlySet<string> = new Set(['run', 'run|file', 'other']);

/** Commands that read and write no system, and with which contexts are mended. */
const OF_NO_SYSTEM: ReadonlySet<string> = new Set(['context', 'completion', 'man']);
/** Those about processes and files of a home. */
const OF_THIS_MACHINE: ReadonlySet<string> = new Set(['demo', 'up', 'down', 'restart', 'status', 'logs']);

/** Longer words push their meaning to the right. */
const ROW_WIDTH = 18;

const rows = (table: readonly (readonly [string, string])[]): string =>
  table.map(([word, meaning]) => `  ${word.padEnd(ROW_WIDTH)}  ${meaning}`).join('\n');

const AFTER = `
Exit codes:
${rows(EXIT_MEANINGS)}

Environment:
${rows(ENVIRONMENT)}

${NAMES_OF_RUNS}
`;

/** Runs one command line. The words are parsed here, the work is done elsewhere; nothing below ends the process. */
export async function runCli(words: readonly string[], surroundings: CliSurroundings): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  let { env } = surroundings;
  const program = new CliCommand(async (command, act) => {
    const { json } = command.optsWithGlobals<{ json?: boolean }>();
    const contextSaid = contextOf(command);
    const work = act({ ...surroundings, env, json: json ?? false, ...(contextSaid !== undefined && { contextSaid }) });
    exitCode = await (command.stopsItself ? work : untilStopped(work, surroundings.signal));
  }, 'orrery');
  describe(program, surroundings);
  defineCommands(program);
  program.hook('preAction', async (_, command) => {
    env = await environmentMeant(command as CliCommand, surroundings);
    await nameRuns(command as CliCommand, { ...surroundings, env });
  });
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.ok; // help or version was asked for, and printed
    if (error.code === 'commander.help') return EXIT.badInput; // no command was given; the help was printed
    throw badInput(sentenceFrom(error.message));
  }
  return exitCode;
}

/** The context that was said, before the command or behind it; what stands nearest to the end counts. */
function contextOf(command: Command): string | undefined {
  const said = command.getOptionValue('context') as string | undefined;
  return said ?? (command.parent === null ? undefined : contextOf(command.parent));
}

/** That of the system that is meant: the only place where a command line gets a context. Who changes something elsewhere is told where. */
async function environmentMeant(command: CliCommand, { env, terminal }: CliSurroundings): Promise<NodeJS.ProcessEnv> {
  const top = command.parent?.parent === null ? command.name() : (command.parent?.name() ?? '');
  if (OF_NO_SYSTEM.has(top)) return env;
  const { environmentOf, nameMeant, NO_CONTEXT, placeText, readContexts } = await import('./contexts/index.js');
  const contexts = await readContexts(env);
  const name = nameMeant(contextOf(command), env, contexts);
  const meant = environmentOf(name, env, contexts);
  const isElsewhere = name !== NO_CONTEXT && (meant['ORRERY_NATS_URL'] ?? '') !== '';
  if (isElsewhere && OF_THIS_MACHINE.has(top)) {
    throw badInput(
      `"${top}" is about a system of this machine, and the context ${name} is one elsewhere: try --context default.`,
    );
  }
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  if (name !== NO_CONTEXT && command.isChanging && json !== true) terminal.err(cleanLine(placeText(name, contexts)));
  return meant;
}

/** Puts ids in the place of what stands for runs: the only place where a command line gets the id of a run. */
async function nameRuns(command: CliCommand, surroundings: CliSurroundings): Promise<void> {
  for (const [index, argument] of command.registeredArguments.entries()) {
    const word = command.args[index];
    if (word === undefined || !RUN_ARGUMENTS.has(argument.name())) continue;
    const runId = await runFor(command, word, surroundings);
    command.args[index] = runId;
    command.processedArgs[index] = runId;
  }
  for (const option of command.options.filter(({ flags }) => flags.endsWith(' <run>'))) {
    const word = command.getOptionValue(option.attributeName()) as string | undefined;
    if (word !== undefined) command.setOptionValue(option.attributeName(), await runFor(command, word, surroundings));
  }
}

/** The id that a word stands for; the word itself where it cannot stand for one. */
async function runFor(command: CliCommand, word: string, surroundings: CliSurroundings): Promise<string> {
  if (runsToFind(word) === undefined) return word;
  const { runNamed } = await import('./sources/index.js');
  const runId = await untilStopped(runNamed({ ...surroundings, json: false }, word), surroundings.signal);
  if (word !== LATEST_RUN || !command.isForOneRun) return runId;
  throw badInput(
    `"${LATEST_RUN}" is for looking only, since somebody may ask for a run meanwhile. It is ${runId} now.`,
  );
}

function describe(program: CliCommand, { terminal }: CliSurroundings): void {
  for (const [flags, what] of EVERYWHERE) program.option(flags, what);
  program
    .description(DESCRIPTION)
    .version(VERSION)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
      outputError: () => {}, // said once, where it is caught
      getOutHelpWidth: () => terminal.columns,
      getErrHelpWidth: () => terminal.columns,
    })
    .addHelpText('after', AFTER)
    .shownBy(FIRST_EXAMPLES);
}

function sentenceFrom(message: string): string {
  const text = message.replace(/^error: /u, '').replaceAll('\n', ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!)]$/u.test(text) ? '' : '.'}`;
}
