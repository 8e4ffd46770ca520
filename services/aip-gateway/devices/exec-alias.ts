import { EXEC_ALIAS } from '#libs/constellation';
import { isObject, type CommandCall, type CommandOutcome, type ExecCliResult, type Json } from '#proto';

/*
 * Foreign Linux devices run a command line with a tool of another name: UFO's `execute_command(command, timeout, cwd)`. A
 * command of EXEC_CLI for such a device is sent under that name, and comes back with the result of EXEC_CLI as far as it is
 * true. What that tool does not let through stays its own answer.
 */
/** What an argument of EXEC_CLI is called there. */
const ARGUMENTS = { command: 'command', timeout: 'timeout', working_directory: 'cwd' } as const;

export type Aliased =
  { readonly ok: true; readonly command: CommandCall } | { readonly ok: false; readonly message: string };

/** The call as the device knows it. */
export function aliasedCall({ arguments: given }: CommandCall): Aliased {
  const names = new Map<string, string>(Object.entries(ARGUMENTS));
  const unknown = Object.keys(given).find((name) => !names.has(name));
  if (unknown !== undefined)
    return {
      ok: false,
      message: `arguments.${unknown}: this device has EXEC_CLI through ${EXEC_ALIAS}, which takes none`,
    };
  const renamed = Object.entries(given).map(([name, value]) => [names.get(name), whole(value)]);
  return { ok: true, command: { tool: EXEC_ALIAS, arguments: Object.fromEntries(renamed) as Record<string, Json> } };
}

/** Its time is in whole seconds. */
const whole = (value: Json): Json => (typeof value === 'number' ? Math.ceil(value) : value);

/** What came of it as a result of EXEC_CLI; without an exit code nothing ran, and the answer stays what it is. */
export function execOutcome(
  outcome: CommandOutcome,
  { command, sentAtMs, nowMs }: { readonly command: CommandCall; readonly sentAtMs: number; readonly nowMs: number },
): CommandOutcome {
  const { result } = outcome;
  if (!isObject(result)) return outcome;
  const { exit_code: code, stdout, stderr } = result;
  if (typeof code !== 'number' || !Number.isInteger(code) || typeof stdout !== 'string' || typeof stderr !== 'string')
    return outcome;
  const line = command.arguments['command'];
  const ours = {
    stdout,
    stderr,
    exit_code: code,
    command: typeof line === 'string' ? line : '',
    // As long as it took to answer: the device does not say more.
    execution_time: Math.max(0, nowMs - sentAtMs) / 1_000,
    timestamp: new Date(sentAtMs).toISOString(),
    status: code === 0 ? 'SUCCESS' : 'ERROR',
  } satisfies ExecCliResult;
  return { ...outcome, result: ours };
}
