// No Nest here: the client runs on every device, also on small ones. Without it the process starts in a fraction of the time
// and memory, and there is nothing to inject that this one screen does not show.
import { mkdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino, type Logger } from 'pino';
import type { ClientMessage, ServerMessage } from '#proto';
import { CommandHandler } from './command.handler.js';
import { lockDataDir } from './data-dir-lock.adapter.js';
import { type DeviceConfig, toolServersOf } from './device-client.config.js';
import { DeviceLink } from './device-link.client.js';
import { EXEC_LIMITS } from './exec-cli.js';
import { ForeignCommandHandler } from './foreign-command.handler.js';
import { JournalFile } from './journal-file.adapter.js';
import { describeMachine } from './machine.adapter.js';
import { registerMessage } from './messages.js';
import { Toolbox, type ToolboxServer } from './toolbox.client.js';

export interface DeviceClientOptions {
  readonly url: string;
  readonly token: () => Promise<string>;
  readonly clientId: string | null;
  readonly dataDir: string;
  readonly jailDir: string;
  readonly config: DeviceConfig;
  readonly logLevel: string;
}

/** What runs when the client is told to stop may go on for this long. */
const DRAIN_MS = 3_000;

/** Runs the device client until SIGTERM or SIGINT; resolves with the exit code. */
export async function runDeviceClient(options: DeviceClientOptions): Promise<number> {
  const { dataDir, jailDir, config, url, token, clientId } = options;
  const logger = createLogger(options.logLevel);
  const [now, monotonicMs] = [() => Date.now(), () => performance.now()];
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await mkdir(jailDir, { recursive: true, mode: 0o700 });
  await lockDataDir(dataDir);
  const ending = new AbortController();
  let exitCode = 0;
  const onFatal = (error: unknown): void => {
    logger.fatal({ reason: error instanceof Error ? error.message : String(error) }, 'the journal cannot be used');
    exitCode = 1;
    ending.abort();
  };

  // The parts know each other only through these closures, none of which is called before `link.run`.
  const send = (message: ClientMessage): void => link.send(message);
  const link: DeviceLink = new DeviceLink({
    url,
    token,
    clientId,
    now,
    monotonicMs,
    logger,
    random: () => Math.random(),
    register: () =>
      registerMessage({ clientId, journalId, machine: describeMachine(), tools: tools.telemetry() }, now()),
    onReady: (sessionId) => {
      logger.info({ url, sessionId, journalId, tools: tools.telemetry().length }, 'registered');
      process.send?.({ ready: true });
      commands.redeliver();
    },
    onMessage: (message) => dispatch(message, commands, foreign),
  });
  const servers = [ownServer(jailDir), ...toolServersOf(config, process.env)];
  const tools = new Toolbox({ servers, logger, monotonicMs, onChange: () => link.registerAgain() });
  const [file] = await Promise.all([JournalFile.open(dataDir), tools.start()]);
  const { journalId } = file.journal;
  if (file.tornBytes > 0)
    logger.warn({ bytes: file.tornBytes }, 'the last record of the journal was torn and is dropped');
  const { commandsMax } = config;
  const commands = new CommandHandler({ file, tools, send, now, monotonicMs, logger, onFatal, commandsMax });
  const foreign = new ForeignCommandHandler({ tools, send, now, logger });

  process.once('SIGTERM', () => ending.abort());
  process.once('SIGINT', () => ending.abort());
  const lost = new AbortController();
  const linked = link.run(lost.signal);
  await aborted(ending.signal);
  // Results of what still ends in time are sent; the others are in the journal.
  await Promise.all([commands.drain(DRAIN_MS), foreign.drain()]);
  lost.abort();
  await linked;
  await tools.close();
  await file.close();
  logger.info({ exitCode }, 'stopped');
  return exitCode;
}

function dispatch(message: ServerMessage, commands: CommandHandler, foreign: ForeignCommandHandler): void {
  switch (message.type) {
    case 'command': {
      const { orrery } = message;
      return orrery ? commands.onCommand({ ...message, orrery }) : foreign.onCommand(message);
    }
    case 'stop_attempt':
      return commands.onStop(message.orrery.attempt);
    case 'result_stored':
      return commands.onStored(message.orrery.command_id);
    case 'heartbeat':
    case 'error':
      return;
  }
}

/** The device's own tools, as a child process on real MCP. */
export function ownServer(jailDir: string): ToolboxServer {
  const main = fileURLToPath(new URL(`./device-mcp.main${extname(import.meta.url)}`, import.meta.url));
  const locale = ['LANG', 'LC_ALL', 'LC_CTYPE', 'TZ'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    name: 'device',
    // A command has its own timeout; this one only ends a call that the child has forgotten.
    timeoutMs: (EXEC_LIMITS.timeoutSecondsMax + 60) * 1_000,
    spec: {
      kind: 'stdio',
      command: process.execPath,
      args: [...process.execArgv, main, join(jailDir)],
      env: Object.fromEntries(locale),
    },
  };
}

/** One JSON line per fact; written at once, so that the line before an end is never lost. */
function createLogger(level: string): Logger {
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: { service: 'device-client' }, timestamp: pino.stdTimeFunctions.isoTime, formatters });
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}
