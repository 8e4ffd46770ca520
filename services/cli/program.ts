import { CommanderError } from 'commander';
import { defineCommands } from './commands/index.js';
import { badInput, CliCommand, EXIT, type ExitCode, type CliContext } from './terminal/index.js';

export type CliSurroundings = Omit<CliContext, 'json'>;

const DESCRIPTION = `Runs one request as a constellation of tasks on a fleet of devices, from an event log that anybody can replay.`;
const AFTER = `
Exit codes:
  0  done, or nothing was to be done; with --wait and watch: the run succeeded
  1  verify found something altered, or the command could not do its work
  2  the run failed, failed in parts, or was cancelled
  3  bad input, or refused; nothing was changed
  4  the bus or a service cannot be reached, or nobody knows what came of it

Environment:
  ORRERY_HOME            data of the embedded system (default ~/.orrery, as root /var/lib/orrery)
  ORRERY_NATS_URL        use this bus, with the key in ORRERY_NATS_SEED_FILE, instead of the embedded one
  ORRERY_NATS_PORT, ORRERY_POSTGRES_PORT, ORRERY_CONSOLE_PORT, ORRERY_AIP_PORT, ORRERY_MCP_PORT   ports of "up"; 0 is any free one
  NO_COLOR               no colours

Examples:
  $ orrery demo
  $ orrery up --devices 2
  $ orrery submit -f deploy/examples/fleet-health.json --wait
  $ orrery verify --all`;

/** Runs one command line. The words are parsed here, the work is done elsewhere; nothing below ends the process. */
export async function runCli(words: readonly string[], surroundings: CliSurroundings): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const program = new CliCommand(async (command, act) => {
    const { json } = command.optsWithGlobals<{ json?: boolean }>();
    exitCode = await act({ ...surroundings, json: json ?? false });
  }, 'orrery');
  describe(program, surroundings);
  defineCommands(program);
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

function describe(program: CliCommand, { terminal }: CliSurroundings): void {
  program
    .description(DESCRIPTION)
    .version('0.1.0')
    .option('--json', 'print JSON')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
      outputError: () => {}, // said once, where it is caught
      getOutHelpWidth: () => terminal.columns,
      getErrHelpWidth: () => terminal.columns,
    })
    .addHelpText('after', AFTER);
}

function sentenceFrom(message: string): string {
  const text = message.replace(/^error: /u, '').replaceAll('\n', ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!)]$/u.test(text) ? '' : '.'}`;
}
