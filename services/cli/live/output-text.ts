import type { TaskId } from '#proto';
import { visibleText } from '#libs/visible';
import { cleanText, clipToWidth, plain, type Paint } from '../terminal/index.js';
import type { OutputLine, TaskOutputPiece } from '#libs/output';

const TAB_STOP = 8;

/** A line as it may stand on a terminal: without escape sequences, nothing hidden, columns still below each other. */
export function cleanOutput(text: string): string {
  return expandTabs(cleanText(text)).trimEnd();
}

const COLOURS = { stdout: 'dim', stderr: 'yellow', thought: 'blue', result: 'dim', answer: 'blue' } as const;

/** What stands before a line, in the colour of its stream. */
export function paintOutput(paint: Paint, stream: OutputLine['stream'], text: string): string {
  return paint(COLOURS[stream], text);
}

interface LabelOptions {
  readonly paint?: Paint;
  /** What is longer is cut. */
  readonly charsMax?: number;
}

/** `disk stdout | 12 GB free`: nothing in the line can look like the output of another task, or like an event. */
export function labelledOutput({ taskId, stream, text }: OutputLine, options: LabelOptions = {}): string {
  const { paint = plain, charsMax = Number.MAX_SAFE_INTEGER } = options;
  const label = `${taskId} ${stream} |`;
  const whole = clipToWidth(`${label} ${cleanOutput(text)}`.trimEnd(), charsMax);
  return `${paintOutput(paint, stream, whole.slice(0, label.length))}${whole.slice(label.length)}`;
}

/** The lines of `alone` need no label: no other task writes, or no other is asked for. */
export function outputLineText(line: OutputLine, alone: TaskId | undefined, paint: Paint = plain): string {
  // What a model thinks is never taken for what a command has written.
  return line.taskId === alone && line.stream !== 'thought' ? cleanOutput(line.text) : labelledOutput(line, { paint });
}

/** One JSON object on one line; `type` tells it from the events of a run. */
export function outputJson(piece: TaskOutputPiece): string {
  const { taskId, attempt, commandId, deviceId, stream, offset, text } = piece;
  const object = { type: 'output', taskId, attempt, commandId, deviceId, stream, offset, text };
  return visibleText(JSON.stringify(object));
}

function expandTabs(text: string): string {
  const [first = '', ...others] = text.split('\t');
  return others.reduce((before, part) => {
    const { length } = Array.from(before);
    return `${before}${' '.repeat(TAB_STOP - (length % TAB_STOP))}${part}`;
  }, first);
}
