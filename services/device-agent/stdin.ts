import { AIP_LIMITS, ExecCliResult, StdinFrom, type CommandCall, type Json, type TaskId } from '#proto';

/** An agent made it: the text that it finished with, not what a tool answered. */
export const AGENT = 'agent';

/** What one source of `stdin: {"from": [...]}` delivers: who made it and its whole answer; null when it has none. */
export interface Input {
  readonly taskId: TaskId;
  readonly madeBy: typeof AGENT | { readonly tool: string } | null;
  readonly value: Json | null;
}

/** Room for what a request says besides the command. */
const REQUEST_BYTES = 4 * 1024;

export type Stdin =
  | { readonly kind: 'ready'; readonly command: CommandCall }
  | { readonly kind: 'too-large'; readonly bytes: number; readonly bytesMax: number };

/** The sources of a command's standard input, in the order in which they are delivered; none when it takes no outputs. */
export function sourcesOf(command: CommandCall): readonly TaskId[] {
  const parsed = StdinFrom.safeParse(command.arguments['stdin']);
  return parsed.success ? parsed.data.from : [];
}

/** The command with the outputs of its predecessors put in: results flow along lines as data, never as text of a command line. */
export function withInputs(command: CommandCall, inputs: readonly Input[]): Stdin {
  const sources = sourcesOf(command);
  if (sources.length === 0) return { kind: 'ready', command };
  const byTask = new Map(inputs.map((input) => [input.taskId, input]));
  const stdin = sources.map((taskId) => textOf(byTask.get(taskId))).join('');
  const bytesMax = AIP_LIMITS.commandBytesMax - REQUEST_BYTES;
  const delivered = { ...command, arguments: { ...command.arguments, stdin } };
  const bytes = Buffer.byteLength(JSON.stringify(delivered));
  return bytes > bytesMax ? { kind: 'too-large', bytes, bytesMax } : { kind: 'ready', command: delivered };
}

/** Standard output, or an agent's text, as it was; any other answer as one line of JSON; nothing of a source without any. */
function textOf(input: Input | undefined): string {
  if (input === undefined || input.madeBy === null) return '';
  if (input.madeBy === AGENT && typeof input.value === 'string') return input.value;
  const output = input.madeBy !== AGENT && input.madeBy.tool === 'EXEC_CLI' ? stdoutOf(input.value) : undefined;
  return output ?? `${JSON.stringify(input.value)}\n`;
}

function stdoutOf(value: Json | null): string | undefined {
  const parsed = ExecCliResult.shape.stdout.safeParse((value as { stdout?: unknown } | null)?.stdout);
  return parsed.success ? parsed.data : undefined;
}
