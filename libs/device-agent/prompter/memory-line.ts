import type { Json } from '#proto';
import type { MemoryItem } from '../memory/index.js';
import { clipNamed, readName, withoutEmpty } from './memory-step.js';
import { outputOf, type OutputText } from '#libs/prompter';

/** How much of an older step one line of JSON tells. */
export interface LineBounds {
  /** Characters of the arguments of a command. */
  readonly commandChars: number;
  /** An output that is no longer stands there whole. */
  readonly wholeChars: number;
  /** Of a longer one: characters of its first and of its last line; 0 for its size only. */
  readonly edgeChars: number;
  readonly thoughtChars: number;
  readonly noteChars: number;
}

/** A step as one line: what was done, how it ended, what it showed in short, and all that was noted. */
export function stepLine(item: MemoryItem, bounds: LineBounds): string {
  const { step, agent, subtask, status, thought, notes, calls, answers, reads, problems } = item;
  const { thoughtChars, noteChars } = bounds;
  return JSON.stringify({
    step,
    ...withoutEmpty({
      agent: subtask === undefined ? '' : agent,
      status: status === 'CONTINUE' ? '' : status,
      thought: thoughtChars === 0 ? '' : clipNamed(thought, thoughtChars),
      did: calls.map((call) => callLine(call, bounds)),
      read: reads.map(readName).slice(0, 5),
      answers: answers.map(({ question, text }) => ({
        question: clipNamed(question, bounds.commandChars),
        answer: text === null ? null : clipNamed(text, bounds.wholeChars),
      })),
      problems: problems.map((problem) => clipNamed(problem, bounds.commandChars)).slice(0, 5),
      notes: notes.map((note) => clipNamed(note, noteChars)),
    }),
  });
}

const FILES_NAMED_MAX = 5;

function callLine({ index, command, ended }: MemoryItem['calls'][number], bounds: LineBounds): Json {
  const shell = command.arguments['command'];
  const text = typeof shell === 'string' ? shell : JSON.stringify(command.arguments);
  const named = withoutEmpty({
    index: index === 0 ? undefined : index,
    tool: command.tool,
    command: clipNamed(text, bounds.commandChars),
  });
  if (ended.kind === 'refused') {
    return { ...named, refused: `by ${ended.by}: ${clipNamed(ended.message, bounds.commandChars)}` };
  }
  const output = ended.result === null ? null : outputOf(ended.result);
  const exit = output?.exitCode ?? null;
  const ending = {
    ...(exit === null ? {} : { exit }),
    ...(exit !== null && ended.state === 'COMPLETED' ? {} : { ended: ended.state }),
  };
  const streams = (output?.streams ?? []).map((stream) => [stream.stream, streamLine(stream, bounds)] as const);
  const error = ended.message === null ? {} : withoutEmpty({ error: clipNamed(ended.message, bounds.commandChars) });
  const files = (ended.result?.files ?? []).slice(0, FILES_NAMED_MAX).map(({ name }) => name);
  return { ...named, ...ending, ...error, ...Object.fromEntries(streams), ...withoutEmpty({ files }) };
}

function streamLine({ head, tail, gapChars }: OutputText, { wholeChars, edgeChars }: LineBounds): Json {
  const chars = head.length + gapChars + tail.length;
  if (chars <= wholeChars) return head;
  if (edgeChars === 0) return `${chars} characters`;
  const start = head.slice(0, 4 * edgeChars).trimStart();
  const end = (gapChars === 0 ? head : tail).slice(-4 * edgeChars).trimEnd();
  return {
    characters: chars,
    first: edge(start.split('\n', 1)[0] ?? '', edgeChars),
    last: edge(end.slice(end.lastIndexOf('\n') + 1), edgeChars),
  };
}

/** Half a surrogate pair at a cut is shown as what it is: something that cannot be shown. */
const edge = (line: string, chars: number): string =>
  (line.length <= chars ? line : `${line.slice(0, chars)}...`).toWellFormed();
