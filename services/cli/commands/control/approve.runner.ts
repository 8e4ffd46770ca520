import { wallText } from '#libs/constellation';
import { visibleLine } from '#libs/visible';
import {
  CommandCall as CommandCallSchema,
  parseWith,
  sentenceOf,
  parseJson,
  type CommandCall,
  type CommandWall,
} from '#proto';
import { approvalFrom } from './approval-id.js';
import { commandText } from '../../text/index.js';
import { withBus } from '../../bus/index.js';
import { badInput, type ExitCode, type CliContext } from '../../terminal/index.js';
import { findApproval } from './approvals.runner.js';
import { say, type ControlOptions } from './control.runner.js';
import { wallBy } from './sandbox-words.js';

export interface ApproveOptions extends ControlOptions {
  readonly note: string | undefined;
  /** Instead of the command line that was asked about. */
  readonly line: string | undefined;
  /** Instead of all arguments, as JSON. */
  readonly json: string | undefined;
  readonly grantMs: number | undefined;
  /** What it is given in place of what is shown: each word of --sandbox. */
  readonly sandbox: readonly string[] | undefined;
}

/** Says yes to what is recorded as asked, or to what stands in its place. */
export async function approve(context: CliContext, id: string, words: ApproveOptions): Promise<ExitCode> {
  const { approvalId } = approvalFrom(id);
  const { line, json, grantMs, note, sandbox } = words;
  const command =
    line === undefined && json === undefined ? undefined : await edited(context, approvalId, { line, json });
  const wall = sandbox === undefined ? undefined : await widened(context, approvalId, sandbox);
  const as = command === undefined ? '' : ` as ${commandText(command)}`;
  const held = wall === undefined ? '' : ` with: ${visibleLine(wallText(wall))}`;
  return say(context, approvalId, {
    verb: 'APPROVE',
    fields: { command, wall, grantMs, note },
    words,
    more: { as, with: held },
  });
}

async function widened(context: CliContext, id: string, words: readonly string[]): Promise<CommandWall> {
  const { ask } = await withBus(context, (nc) => findApproval(nc, id));
  if (ask.kind !== 'approval') throw badInput(`${id} is a question; see: orrery answer --help`);
  return wallBy(words, ask.wall);
}

/** The command that was asked about with another line or other arguments: the tool stays the same. */
async function edited(
  context: CliContext,
  id: string,
  { line, json }: Pick<ApproveOptions, 'line' | 'json'>,
): Promise<CommandCall> {
  if (line !== undefined && json !== undefined) throw badInput('Say --command or --arguments, not both.');
  const { ask } = await withBus(context, (nc) => findApproval(nc, id));
  if (ask.kind !== 'approval') throw badInput(`${id} is a question; see: orrery answer --help`);
  const { command } = ask;
  if (line !== undefined) {
    if (typeof command.arguments['command'] === 'string') {
      return { ...command, arguments: { ...command.arguments, command: line } };
    }
    throw badInput(`${command.tool} takes no command line; change its arguments with --arguments.`);
  }
  return { ...command, arguments: argumentsFrom(json ?? '') };
}

function argumentsFrom(json: string): CommandCall['arguments'] {
  const value = parseJson(json);
  if (value === undefined) throw badInput('--arguments: must be a JSON object, for example {"info_type":"disk"}.');
  const parsed = parseWith(CommandCallSchema.shape.arguments, value);
  if (parsed.ok) return parsed.value;
  throw badInput(`--arguments: ${parsed.issues.map(sentenceOf).join('; ')}`, parsed.issues);
}
