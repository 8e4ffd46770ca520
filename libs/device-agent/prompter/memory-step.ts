import { fileText, type Json, type TaskResult } from '#proto';
import type { MemoryItem } from '../memory/index.js';
import { type CountTokens, excerpt, outputOf, type OutputText } from '#libs/prompter';
import { readOnCall } from './read-output.js';

/** A piece of a prompt: ours, or data with a label, which gets a fence. `tokens` of the data, where they were counted already. */
export type Piece =
  { readonly own: string } | { readonly label: string; readonly data: string; readonly tokens?: number };

/** How one step is shown in full: what bounds it. */
export interface StepBounds {
  readonly countTokens: CountTokens;
  /** For all outputs of the step together. */
  readonly outputTokens: number;
  /** Characters of what the agent said, and of the arguments of a command. */
  readonly saidChars: number;
  /** Characters of each note. */
  readonly noteChars: number;
}

/** A step with its outputs as they were, each in a fence of its own. What is left out is said, with the call that reads it. */
export function stepPieces(item: MemoryItem, bounds: StepBounds): Piece[] {
  const { step, calls, reads } = item;
  const each = { ...bounds, outputTokens: shareOf(bounds.outputTokens, outputChars(item)) };
  return [
    { own: `[Step ${step}]` },
    { label: `step ${step}`, data: said(item, bounds) },
    ...calls.flatMap((call) => callPieces(step, call, each)),
    ...reads.flatMap((read) => readPieces(step, read, each)),
  ];
}

/** What the agent said and was told in a step, as one line of JSON. */
function said(item: MemoryItem, { saidChars, noteChars }: StepBounds): string {
  const { agent, subtask, status, observation, thought, plan, notes, answers, problems } = item;
  return JSON.stringify(
    withoutEmpty({
      agent,
      subtask: clipNamed(subtask ?? '', saidChars),
      status,
      observation: clipNamed(observation, saidChars),
      thought: clipNamed(thought, saidChars),
      plan: clipNamed(plan.join(' | '), saidChars),
      notes: notes.map((note) => clipNamed(note, noteChars)),
      answers: answers.map(({ question, text, note }) => ({
        question: clipNamed(question, saidChars),
        answer: text === null ? null : clipNamed(text, saidChars),
        ...(note === '' ? {} : { note: clipNamed(note, saidChars) }),
      })),
      problems: problems.map((problem) => clipNamed(problem, saidChars)),
    }),
  );
}

type Call = MemoryItem['calls'][number];

function callPieces(step: number, { index, command, ended }: Call, bounds: StepBounds): Piece[] {
  const name = `step ${step} command ${index}`;
  const text = `${command.tool} ${clipNamed(JSON.stringify(command.arguments), bounds.saidChars)}`;
  const action: Piece[] = [{ own: `[Action ${index}]` }, { label: name, data: text }];
  if (ended.kind === 'refused') {
    const why = { label: `${name} refusal`, data: clipNamed(`${ended.code}: ${ended.message}`, bounds.saidChars) };
    return [...action, { own: `[Status] did not run: refused by the ${ended.by}` }, why];
  }
  const output = ended.result === null ? null : outputOf(ended.result);
  const exit = output?.exitCode === null || output === null ? '' : `, exit code ${output.exitCode}`;
  const error: Piece[] =
    ended.message === null || ended.message === ''
      ? []
      : [{ own: '[Error]' }, { label: `${name} error`, data: clipNamed(ended.message, bounds.saidChars) }];
  const streams = output?.streams ?? [];
  const results = streams.flatMap((stream) => outputPieces({ step, index, name }, stream, bounds));
  const silent: Piece[] = results.length === 0 ? [{ own: '[Result] no output' }] : results;
  return [...action, { own: `[Status] ${ended.state}${exit}` }, ...error, ...silent, ...filePieces(name, ended.result)];
}

const FILES_SHOWN_MAX = 10;

/** Files that came with an answer: that they are there, and not what is in them. */
function filePieces(name: string, result: TaskResult | null): Piece[] {
  const files = result?.files ?? [];
  if (files.length === 0) return [];
  const more = files.length > FILES_SHOWN_MAX ? [`and ${files.length - FILES_SHOWN_MAX} more`] : [];
  const data = [...files.slice(0, FILES_SHOWN_MAX).map(fileText), ...more].join('\n');
  return [{ own: '[Files] kept as artifacts, and not shown' }, { label: `${name} files`, data }];
}

interface Place {
  readonly step: number;
  readonly index: number;
  readonly name: string;
}

function outputPieces(place: Place, output: OutputText, { countTokens, outputTokens }: StepBounds): Piece[] {
  const { step, index, name } = place;
  const { stream } = output;
  const shown = excerpt(output, outputTokens, countTokens);
  const label = `${name} ${stream}`;
  const { tokens } = shown;
  if (shown.omitted === null) return [{ own: `[Result] ${stream}` }, { label, data: shown.head, tokens }];
  const { chars, fromLine } = shown.omitted;
  const more = readOnCall({ step, index, stream, fromLine });
  return [
    { own: `[Result] ${stream}, in part: its beginning` },
    { label: `${label} beginning`, data: shown.head, tokens },
    { own: `[${chars} characters are left out here. To read them: ${more}] ... and its end` },
    { label: `${label} end`, data: shown.tail, tokens: 0 },
  ];
}

/** What was read, in our words. */
export function readName(read: MemoryItem['reads'][number]): string {
  if ('step' in read) return `step ${read.step} command ${read.index}`;
  if ('board' in read) return read.board === 'read' ? 'board of the run' : 'answer of the board';
  return read.field === undefined ? `result of task ${read.task}` : `a field of the result of task ${read.task}`;
}

function readPieces(step: number, read: MemoryItem['reads'][number], bounds: StepBounds): Piece[] {
  const label = `step ${step} read of ${readName(read)}`;
  const output = { head: read.text, tail: '', gapChars: 0 };
  const { head, tail, omitted, tokens } = excerpt(output, bounds.outputTokens, bounds.countTokens);
  const title =
    'step' in read ? `[Read] output of step ${read.step}, command ${read.index}` : `[Read] ${readName(read)}`;
  if (omitted === null) return [{ own: title }, { label, data: head, tokens }];
  const less = `[${omitted.chars} characters of what was read are left out here; read fewer lines at once] ... and its end`;
  return [
    { own: `${title}, in part` },
    { label: `${label} beginning`, data: head, tokens },
    { own: less },
    { label: `${label} end`, data: tail, tokens: 0 },
  ];
}

/** The size of each output of a step. */
function outputChars({ calls, reads }: MemoryItem): number[] {
  const outputs = calls.flatMap(({ ended }) =>
    ended.kind === 'finished' && ended.result !== null ? outputOf(ended.result).streams : [],
  );
  return [...outputs.map(({ head, tail }) => head.length + tail.length), ...reads.map(({ text }) => text.length)];
}

/** Most tokens that one of several outputs may have: what short ones do not need is for the long ones. */
function shareOf(tokens: number, sizes: readonly number[]): number {
  let left = tokens;
  const ascending = sizes.toSorted((one, other) => one - other);
  for (const [index, chars] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    // Every character may be a token of its own.
    if (chars > share) return share;
    left -= chars;
  }
  return tokens;
}

/** What is cut says so, and what it is. */
export function clipNamed(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return `${text.slice(0, chars).toWellFormed()}... (${text.length - chars} more characters)`;
}

/** Without fields that say nothing. */
export function withoutEmpty(fields: Readonly<Record<string, Json | undefined>>): Record<string, Json> {
  const kept = Object.entries(fields).filter(([, value]) => {
    if (value === undefined || value === '' || value === null) return false;
    return !Array.isArray(value) || value.length > 0;
  });
  return Object.fromEntries(kept) as Record<string, Json>;
}
