import { Command, CommanderError } from 'commander';

export interface JoinOptions {
  readonly url: string;
  readonly tokenFile?: string;
  readonly dataDir?: string;
  readonly jailDir?: string;
  readonly config?: string;
  readonly id?: string;
  readonly logLevel?: string;
}

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Exit code for input that no waiting repairs. */
export const BAD_INPUT = 3;

const EXAMPLES = `
Examples:
  orrery-device join --url ws://10.0.0.5:5000/ws --token-file /etc/orrery-device/token
  printf %s "$TOKEN" | orrery-device join --url wss://orrery.example.org/ws
  orrery-device join --url ws://127.0.0.1:5000/ws --token-file t --config tools.yaml

More MCP servers, in the file given with --config:
  mcpServers:
    files: { command: npx, args: [-y, some-mcp-server, /srv/data], env: { API_KEY: "\${FILES_API_KEY}" } }
    search: { url: "https://tools.example.org/mcp", headers: { Authorization: "Bearer \${SEARCH_TOKEN}" } }

Exit codes: 0 stopped by SIGTERM or SIGINT, 1 the journal cannot be used, 3 bad input.`;

/** Parses the command line and calls the action; resolves with the exit code of bad input, of help, or of the action. */
export async function runCommandLine(
  args: readonly string[],
  output: Output,
  join: (options: JoinOptions) => Promise<number>,
): Promise<number> {
  let exitCode = 0;
  const program = new Command('orrery-device');
  program
    .description(
      'Makes this machine a device of an Orrery system: it dials the server and runs the commands it is sent.',
    )
    .configureOutput({ writeOut: output.out, writeErr: output.err })
    .exitOverride()
    .showHelpAfterError('Try "orrery-device join --help".');
  program
    .command('join')
    .description('connect to the server and stay connected')
    .requiredOption('--url <url>', 'WebSocket address of the gateway, e.g. ws://host:5000/ws')
    .option(
      '--token-file <file>',
      'file with the token of this device; without it the token is read from standard input',
    )
    .option('--data-dir <dir>', 'where the journal of commands is kept (default: ~/.orrery-device)')
    .option('--jail-dir <dir>', 'where commands start (default: <data-dir>/jail)')
    .option('--config <file>', 'YAML file with more MCP servers and limits')
    .option('--id <id>', 'name to register with, for foreign AIP servers only: ours take it from the token')
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent (default: ORRERY_LOG_LEVEL, or info)')
    .allowExcessArguments(false)
    .addHelpText('after', EXAMPLES)
    .action(async (options: JoinOptions) => {
      exitCode = await join(options);
    });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help was asked for or given instead of a missing command; everything else is bad input, already explained.
    return error.exitCode === 0 ? 0 : BAD_INPUT;
  }
}
