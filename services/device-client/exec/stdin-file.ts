import { StdinParts, type Json } from '#proto';
import { EXEC_CLI_DEFINITION } from './exec-cli.js';

/*
 * A standard input that does not fit into a frame comes as a list of its pieces. The client puts them into one file before the
 * command is written down as started, and tells the process of the tools its name beside the arguments of the call.
 */
export const STDIN_FILE_META = 'orrery/stdin-file';

/** A name in the directory for inputs, made by the client. */
export const STDIN_FILE_NAME = /^[0-9a-f]{32}$/;

type Arguments = Readonly<Record<string, Json>>;

/** The pieces of what a command reads; undefined when it stands in its arguments, or there is none. */
export function stdinPartsOf(tool: string, args: Arguments): StdinParts['parts'] | undefined {
  return tool === EXEC_CLI_DEFINITION.name ? StdinParts.safeParse(args['stdin']).data?.parts : undefined;
}

/** The arguments without the pieces: the tool gets a file. */
export const withoutStdin = (args: Arguments): Arguments =>
  Object.fromEntries(Object.entries(args).filter(([name]) => name !== 'stdin'));

/** As who wrote the command would have it judged: it reads what others wrote, and nobody knows what that is. */
export const withUnknownStdin = (args: Arguments): Arguments => ({ ...args, stdin: { from: ['stdin'] } });
