import { AIP_LIMITS, StdinParts, type CommandCall, type Json, type StdinPart } from '#proto';

/** The one tool whose input a device takes as a file. */
const TAKES_FILES = 'EXEC_CLI';
/** Room for what a request says besides the command. */
const REQUEST_BYTES = 4 * 1024;
/** A request with its command. */
const BYTES_MAX = AIP_LIMITS.commandBytesMax - REQUEST_BYTES;
/** Texts that travel in a command although others travel as files. */
const INLINE_BYTES_MAX = 256 * 1024;

/** The command with what it reads; null when that does not fit into a request. */
export function withText(command: CommandCall, text: string): CommandCall | null {
  return fitting(withStdin(command, text));
}

/** The command with what its device gets as files; null when its tool does not take them, or the list does not fit. */
export function withParts(command: CommandCall, parts: readonly StdinPart[]): CommandCall | null {
  if (command.tool !== TAKES_FILES || !StdinParts.safeParse({ parts }).success) return null;
  return fitting(withStdin(command, { parts: [...parts] }));
}

/** Which of the texts travel in the command itself: the first ones, as many as have room. */
export function inlineTexts(parts: readonly StdinPart[]): ReadonlySet<StdinPart> {
  const inline = new Set<StdinPart>();
  let bytes = 0;
  for (const part of parts) {
    if (!('text' in part)) continue;
    const length = Buffer.byteLength(part.text);
    if (bytes + length > INLINE_BYTES_MAX) continue;
    bytes += length;
    inline.add(part);
  }
  return inline;
}

/** Bytes of a piece as the command reads it. */
export const bytesOf = (part: StdinPart): number =>
  'text' in part ? Buffer.byteLength(part.text) : part.artifact.bytes;

const withStdin = (command: CommandCall, stdin: Json): CommandCall => ({
  ...command,
  arguments: { ...command.arguments, stdin },
});

const fitting = (command: CommandCall): CommandCall | null =>
  Buffer.byteLength(JSON.stringify(command)) > BYTES_MAX ? null : command;
