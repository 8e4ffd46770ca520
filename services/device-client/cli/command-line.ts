import { Command, CommanderError } from 'commander';

export interface JoinOptions {
  /** One at least; each may be a list with commas. */
  readonly url: readonly string[];
  readonly tokenFile?: string;
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly dataDir?: string;
  readonly jailDir?: string;
  readonly jail?: string;
  readonly policy?: string;
  readonly secrets?: string;
  readonly runAs?: string;
  readonly sandbox?: string;
  readonly config?: string;
  readonly id?: string;
  readonly logLevel?: string;
}

export interface InstallOptions {
  readonly url: readonly string[];
  readonly dir?: string;
  readonly caFile?: string;
}

export interface LogOptions {
  readonly lines: string;
  readonly follow?: true;
}

/** What the words make the program do; each resolves with the exit code. */
export interface Deeds {
  readonly join: (options: JoinOptions) => Promise<number>;
  readonly install: (options: InstallOptions) => Promise<number>;
  readonly run: () => Promise<number>;
  readonly start: () => Promise<number>;
  readonly status: (options: { readonly json?: true }) => Promise<number>;
  readonly logs: (options: LogOptions) => Promise<number>;
  readonly upgrade: () => Promise<number>;
  readonly leave: () => Promise<number>;
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
  orrery-device join --url wss://orrery.example.org/ws --ca-file ca.pem    # has joined before
  orrery-device join --url ws://a.example.org:5000/ws,ws://b.example.org:5000/ws --token-file t
  orrery-device join --url ws://127.0.0.1:5000/ws --token-file t --config tools.yaml
  sudo orrery-device join --url wss://orrery.example.org/ws --run-as orrery --jail /srv/orrery --sandbox bwrap \\
    --policy /etc/orrery-device/policy.yaml --secrets /etc/orrery-device/secrets

Tokens:
  join-...   used once: the device makes a key of its own, keeps it in <data-dir>/identity.json and needs no token again
  any other  static: sent at every connection

More MCP servers, in the file given with --config:
  mcpServers:
    files: { command: npx, args: [-y, some-mcp-server, /srv/data], env: { API_KEY: "\${FILES_API_KEY}" } }
    search: { url: "https://tools.example.org/mcp", headers: { Authorization: "Bearer \${SEARCH_TOKEN}" } }

Also in that file: commandsMax (16), onDisconnect: finish or kill (what becomes of commands while there is no server),
disconnectGraceMs (60000), credentialIn: header or query (query only for servers of other systems that want ?token=),
files: { paths: [/srv/data] } (where files may be read and written beside the jail directory), outputBytesMax (1073741824).

How commands are run, also in that file:
  exec:
    umask: "027"                                                    # default "022"
    limits: { cpuSeconds: 600, residentMb: 2048, processes: 256, fileMb: 1024, writtenMb: 4096 }
    sandbox: { commands: all, writable: [/srv/app], hidden: [/srv/keys], network: true } # default agents, [], [], false

A secret is used as {"env": {"DB_PASSWORD": {"secret": "db-password"}}} or {"stdin": {"secret": "db-password"}} in the
arguments of EXEC_CLI; what the command prints of it leaves the device as [secret:db-password].

Exit codes: 0 stopped by SIGTERM or SIGINT, 1 the journal cannot be used, 3 bad input, or the server refuses the join token,
4 this Node is too old.`;

/** Of a client that the script of "orrery devices enroll" has installed. */
function defineInstalled(program: Command, ended: (code: number) => void, deeds: Deeds): void {
  const verb = (name: string, words: string): Command =>
    program.command(name).description(words).allowExcessArguments(false);
  verb('status', 'whether the installed client is connected, as what, and what it does')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }) => ended(await deeds.status(options)));
  verb('logs', 'what the installed client has written')
    .option('-n, --lines <number>', 'the newest ones', '100')
    .option('-f, --follow', 'go on as it writes')
    .action(async (options: LogOptions) => ended(await deeds.logs(options)));
  verb('start', 'start the installed client where nothing else does').action(async () => ended(await deeds.start()));
  verb(
    'upgrade',
    'bring the release that the server offers; the one before comes back when it does not come up',
  ).action(async () => ended(await deeds.upgrade()));
  verb('leave', 'stop the installed client and remove it with its key; says what stays').action(async () =>
    ended(await deeds.leave()),
  );
  program.command('run', { hidden: true }).action(async () => ended(await deeds.run()));
  program
    .command('install', { hidden: true })
    .requiredOption('--url <url>', '', (url: string, before: string[] | undefined) => [...(before ?? []), url])
    .option('--dir <dir>')
    .option('--ca-file <file>')
    .action(async (options: InstallOptions) => ended(await deeds.install(options)));
}

/** Parses the command line and calls the action; resolves with the exit code of bad input, of help, or of the action. */
export async function runCommandLine(args: readonly string[], output: Output, deeds: Deeds): Promise<number> {
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
    .requiredOption(
      '--url <url>',
      'WebSocket address of the gateway, e.g. ws://host:5000/ws; several, with commas or by repeating it, are tried in turn',
      (url: string, before: string[] | undefined) => [...(before ?? []), url],
    )
    .option(
      '--token-file <file>',
      'file with the token of this device; without it the token is read from standard input. A device that has joined needs none',
    )
    .option('--ca-file <file>', 'trust servers with certificates of this authority (PEM) and no others')
    .option('--cert-file <file>', 'certificate to show to servers that ask for one (PEM), with --key-file')
    .option('--key-file <file>', 'its private key (PEM)')
    .option('--data-dir <dir>', 'where its key and the journal of commands are kept (default: ~/.orrery-device)')
    .option('--jail-dir <dir>', 'where commands start (default: <data-dir>/jail)')
    .option('--jail <dir>', 'the same, and a working directory outside of it is refused')
    .option(
      '--policy <file>',
      'policy of this device (YAML): it can refuse what the service allows (default: ORRERY_DEVICE_POLICY, or none)',
    )
    .option('--secrets <dir>', 'one file (mode 600 or 400) for each secret that commands may be given by its name')
    .option('--run-as <user>', 'user that commands run as, when the client runs as root')
    .option(
      '--sandbox <kind>',
      'wall around commands of agents: auto (the first that works), bwrap, util-linux, or none (default: ORRERY_DEVICE_SANDBOX, or auto)',
    )
    .option('--config <file>', 'YAML file with more MCP servers and limits')
    .option('--id <id>', 'name to register with, for foreign AIP servers only: ours take it from the token')
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent (default: ORRERY_LOG_LEVEL, or info)')
    .allowExcessArguments(false)
    .addHelpText('after', EXAMPLES)
    .action(async (options: JoinOptions) => {
      exitCode = await deeds.join(options);
    });
  defineInstalled(program, (code) => (exitCode = code), deeds);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help was asked for or given instead of a missing command; everything else is bad input, already explained.
    return error.exitCode === 0 ? 0 : BAD_INPUT;
  }
}
