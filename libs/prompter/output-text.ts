import type { Json, TaskResult } from '#proto';

export type OutputStream = 'stdout' | 'stderr' | 'result';

/** One stream of what a tool answered, as lines can be counted in it. */
export interface OutputText {
  readonly stream: OutputStream;
  /** All of it, or, when `gap` is there, its beginning. */
  readonly head: string;
  /** What comes after the gap. */
  readonly tail: string;
  /** Characters that this result does not hold; the whole lies elsewhere. 0 when `head` is everything. */
  readonly gapChars: number;
}

/** The numbers and words of a command's result beside its streams. */
export interface OutputFacts {
  readonly exitCode: number | null;
  readonly streams: readonly OutputText[];
}

/**
 * What a result holds for a reader: `stdout` and `stderr` of a shell command, `result` of any other answer. A string that was
 * cut when it was recorded is parted again where the cut was made, so that the mark of the cut is not taken for output.
 */
export function outputOf({ value, cut = [] }: TaskResult): OutputFacts {
  if (!isShellResult(value)) {
    return { exitCode: null, streams: [part('result', outputText(value, 'result'), cut.length > 0)] };
  }
  const streams = (['stdout', 'stderr'] as const).map((stream) => part(stream, value[stream], cut.includes(stream)));
  return { exitCode: value.exit_code, streams: streams.filter(({ head }) => head !== '') };
}

/**
 * The text in which lines of a stream are counted: the stream itself, a string as it is, anything else as indented JSON.
 * Empty for a stream that the answer does not have.
 */
export function outputText(value: Json, stream: OutputStream): string {
  if (stream !== 'result') return isShellResult(value) ? value[stream] : '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
}

function isShellResult(value: unknown): value is ShellResult {
  if (typeof value !== 'object' || value === null) return false;
  const { stdout, stderr, exit_code: exitCode } = value as Record<string, unknown>;
  return typeof stdout === 'string' && typeof stderr === 'string' && typeof exitCode === 'number';
}

/** Written by the service that records results, in the middle of what it keeps. */
const CUT_MARK = /\n\[\.\.\. (\d{1,15}) characters cut \.\.\.\]\n/gu;

function part(stream: OutputStream, text: string, isCut: boolean): OutputText {
  if (isCut) {
    for (const { 0: mark, 1: chars, index } of text.matchAll(CUT_MARK)) {
      // Both sides were made equally long, but for half a surrogate pair: a mark elsewhere was written by the command.
      const after = text.length - index - mark.length;
      if (Math.abs(after - index) > 2) continue;
      return { stream, head: text.slice(0, index), tail: text.slice(index + mark.length), gapChars: Number(chars) };
    }
  }
  return { stream, head: text, tail: '', gapChars: 0 };
}
