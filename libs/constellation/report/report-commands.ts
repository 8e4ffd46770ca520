import {
  ExecCliResult,
  type AttemptCommit,
  type CommandFinished,
  type CommandId,
  type DeviceId,
  type Instant,
  type Json,
  type TaskId,
  type CommandState,
} from '#proto';
import { cutParts, type CutPart } from '../values/index.js';

/** What is known of one command after its end, flat: a row of a projection as well as a paragraph of a report. */
export interface ReportedCommand {
  readonly commandId: CommandId;
  readonly taskId: TaskId;
  readonly attempt: number;
  readonly deviceId: DeviceId;
  readonly sessionId: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, Json>>;
  readonly state: CommandState;
  /** Of EXEC_CLI only. */
  readonly exitCode: number | null;
  readonly stdout: string | null;
  readonly stderr: string | null;
  /** What any other tool answered, as JSON text. */
  readonly output: string | null;
  readonly error: string | null;
  /** By the device's clock. */
  readonly startedAt: Instant | null;
  readonly durationMs: number | null;
  /** What its event holds head and tail of only, and where the whole is; null where that was not asked when it was projected. */
  readonly cut: readonly CutPart[] | null;
}

/** The commands that the commits of attempts tell of, in their order. */
export function commandsOf(commits: readonly AttemptCommit[]): ReportedCommand[] {
  return commits.flatMap(({ taskId, attempt, events }) =>
    events.flatMap((event) => (event.type === 'COMMAND_FINISHED' ? [recordOf({ taskId, attempt }, event.data)] : [])),
  );
}

function recordOf(of: { taskId: TaskId; attempt: number }, data: CommandFinished): ReportedCommand {
  const { commandId, deviceId, sessionId, command, state, result, error, startedAt, durationMs } = data;
  const cli = ExecCliResult.safeParse(result?.value);
  return {
    ...of,
    commandId,
    deviceId,
    sessionId,
    tool: command.tool,
    arguments: command.arguments,
    state,
    exitCode: cli.data?.exit_code ?? null,
    stdout: cli.data?.stdout ?? null,
    stderr: cli.data?.stderr ?? null,
    output: result === null || cli.success ? null : JSON.stringify(result.value, null, 2),
    error: error === null ? null : `${error.code}: ${error.message}`,
    startedAt,
    durationMs,
    cut: result === null ? [] : cutParts(result),
  };
}
