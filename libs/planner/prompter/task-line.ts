import { fileText, type Json, type TaskId, type TaskResult } from '#proto';
import { fanOutText, fanOutView, type Graph, type Run, type TaskState, wavesOf } from '#libs/constellation';
import { outputOf, type OutputText } from '#libs/prompter';
import { clipped, jsonLine } from './bounded.js';

/** How much one line tells of a task: where it stands, what came of it in short, all that an edit needs to know. */
export type LineTier = 'short' | 'line' | 'long';

interface Bounds {
  readonly nameChars: number;
  /** Characters of the description, and of all tips together. */
  readonly descriptionChars: number;
  readonly commandChars: number;
  /** A result that is no longer stands there whole; of a longer one its beginning and end, each half of it. */
  readonly resultChars: number;
  readonly messageChars: number;
  /** Of all notes of the task together, the newest of them. */
  readonly noteChars: number;
  readonly linesMax: number;
  /** Whether a dependency is told with its type and condition. */
  readonly types: boolean;
}

const BOUNDS: Readonly<Record<LineTier, Bounds>> = {
  short: {
    nameChars: 0,
    descriptionChars: 0,
    commandChars: 0,
    resultChars: 0,
    messageChars: 0,
    noteChars: 0,
    linesMax: 4,
    types: false,
  },
  line: {
    nameChars: 60,
    descriptionChars: 0,
    commandChars: 80,
    resultChars: 120,
    messageChars: 120,
    noteChars: 120,
    linesMax: 8,
    types: true,
  },
  long: {
    nameChars: 200,
    descriptionChars: 1_200,
    commandChars: 600,
    resultChars: 500,
    messageChars: 500,
    noteChars: 500,
    linesMax: 20,
    types: true,
  },
};

export interface LineOptions {
  readonly tier: LineTier;
  /** Marks the tasks that made the round necessary. */
  readonly trigger: boolean;
  /** The result stands elsewhere. */
  readonly withoutResult?: boolean;
  /** 1 for all characters that the tier allows, less for less. */
  readonly share?: number;
}

/** Whose result stands in full behind the lines has more room for what was noted about it, too. */
const NOTES_IN_FULL = 4;

/** A task as one line of JSON, so that no text in it can pretend to be another task. */
export function taskLine(run: Run, position: number, options: LineOptions): string {
  const { tier, trigger, withoutResult = false, share = 1 } = options;
  const bounds = scaled(BOUNDS[tier], share);
  const task = run.tasks.at(position);
  const { star, status } = task;
  const isPending = status === 'PENDING';
  const isLong = tier === 'long';
  return jsonLine({
    task: star.id,
    trigger,
    status,
    on: isPending ? whereOf(task) : (task.deviceId ?? undefined),
    name: bounds.nameChars === 0 || star.name === star.id ? '' : clipped(star.name, bounds.nameChars),
    attempts: task.attempt > 1 ? task.attempt : undefined,
    ...(isPending || isLong ? { after: linesInto(run, position, bounds) } : {}),
    ...(isLong ? { before: successors(run, position, bounds.linesMax) } : {}),
    ...(bounds.descriptionChars > 0 ? definition(task, bounds) : {}),
    command: bounds.commandChars > 0 && (isPending || isLong) ? commandOf(task, bounds.commandChars) : '',
    devices: devicesOf(run, task),
    waits_for_device_since: isPending ? task.deviceWait?.since : undefined,
    ...endOf(task, bounds),
    ...resultFields(taskResultOf(task), withoutResult ? 0 : bounds.resultChars),
    ...noteFields(run, star.id, withoutResult ? bounds.noteChars * NOTES_IN_FULL : bounds.noteChars),
  });
}

/** What a task answered, also one that failed. */
export function taskResultOf({ result, error }: TaskState): TaskResult | null {
  return result ?? error?.output ?? null;
}

function scaled(bounds: Bounds, share: number): Bounds {
  if (share === 1) return bounds;
  const less = (chars: number): number => Math.floor(chars * share);
  return {
    ...bounds,
    descriptionChars: less(bounds.descriptionChars),
    commandChars: less(bounds.commandChars),
    resultChars: less(bounds.resultChars),
    messageChars: less(bounds.messageChars),
    noteChars: less(bounds.noteChars),
    nameChars: less(bounds.nameChars),
    linesMax: Math.max(1, less(bounds.linesMax)),
  };
}

/** Of a task on several devices, how far it is. */
function devicesOf(run: Run, task: TaskState): string | undefined {
  const view = fanOutView(run, task, 0);
  return view && fanOutText(view);
}

function whereOf({ star: { target } }: TaskState): Json {
  return 'device' in target ? target.device : (target as Json);
}

function definition({ star }: TaskState, { descriptionChars }: Bounds): Readonly<Record<string, Json | undefined>> {
  const tips: string[] = [];
  let left = descriptionChars;
  for (const tip of star.tips) {
    if (left <= 0) break;
    tips.push(clipped(tip, left));
    left -= tip.length;
  }
  return {
    description: clipped(star.description, descriptionChars),
    tips,
    tips_not_shown: star.tips.length - tips.length || undefined,
    inputs: star.inputs?.slice(0, 20) as Json[] | undefined,
    leaves_and_takes_files:
      star.files === undefined ? undefined : clipped(JSON.stringify(star.files), descriptionChars),
    writes_on_the_board: star.board as Json[] | undefined,
    verify: star.verify === undefined ? undefined : clipped(JSON.stringify(star.verify), descriptionChars),
    review: star.review === true,
    idempotent: star.idempotent === true,
    tries_in_all: star.retry?.attempts,
    replaces: star.replaces,
    waves: wavesOf(star.forEach) as Json | undefined,
    deadline_seconds: star.deadlineMs === undefined ? undefined : star.deadlineMs / 1_000,
  };
}

function commandOf({ star: { command } }: TaskState, chars: number): string {
  if (command === undefined) return '';
  const { command: shell, ...others } = command.arguments;
  const hasOthers = Object.keys(others).length > 0;
  const text = typeof shell === 'string' && !hasOthers ? shell : JSON.stringify(command.arguments);
  return clipped(`${command.tool} ${text}`, chars);
}

function endOf({ error, reason, stopping }: TaskState, { messageChars }: Bounds): Readonly<Record<string, Json>> {
  if (messageChars === 0) return error === null ? {} : { error: error.code };
  return {
    ...(error === null ? {} : { error: `${error.code}: ${clipped(error.message, messageChars)}` }),
    ...(error === null || error.outcome === 'failed' ? {} : { outcome: error.outcome }),
    ...(reason === null ? {} : { reason: clipped(reason, messageChars) }),
    ...(stopping === null ? {} : { stopping: stopping.reason }),
  };
}

/** What the agent of the task left for others: the newest notes, in the order in which they were made. */
function noteFields(run: Run, taskId: TaskId, chars: number): Readonly<Record<string, Json | undefined>> {
  if (chars === 0) return {};
  const notes = run.blackboard.flatMap((entry) => (entry.taskId === taskId ? [entry.note] : []));
  const shown: string[] = [];
  let left = chars;
  for (const note of notes.toReversed()) {
    if (left <= 0) break;
    shown.unshift(clipped(note, left));
    left -= note.length;
  }
  return { notes: shown, notes_not_shown: notes.length - shown.length || undefined };
}

/** Dependencies that lead to a task, by their ids, which edits need. */
function linesInto(run: Run, position: number, { linesMax, types }: Bounds): Json {
  const { graph } = run;
  const into = graph.linesInto.at(position);
  const shown = into.slice(0, linesMax).map((index) => [graph.lines.at(index).id, lineWords(run, index, types)]);
  const more = into.length > linesMax ? [['(more)', into.length - linesMax]] : [];
  return Object.fromEntries([...shown, ...more]) as Json;
}

function lineWords(run: Run, index: number, types: boolean): string {
  const { from, type, condition } = run.graph.lines.at(index);
  const { satisfied, undecided, reason } = run.lines.at(index);
  const not = undecided === true ? `, undecided (${reason ?? 'nobody can say'})` : ', not satisfied';
  const judged = satisfied === null ? '' : satisfied ? ', satisfied' : not;
  if (!types) return satisfied === false ? `${from}${judged}` : from;
  return `${from}, ${type}${condition === undefined ? '' : ` ${condition}`}${judged}`;
}

function successors(run: Run, position: number, most: number): Json {
  const { graph } = run;
  const ids = targetsOf(graph, position);
  return ids.length > most ? [...ids.slice(0, most), `(${ids.length - most} more)`] : ids;
}

const targetsOf = (graph: Graph, position: number): string[] =>
  graph.linesFrom.at(position).map((index) => graph.lines.at(index).to);

/** With no characters for it only its exit code. */
function resultFields(result: TaskResult | null, chars: number): Readonly<Record<string, Json>> {
  if (result === null) return {};
  return { ...answerFields(result, chars), ...fileFields(result) };
}

const FILES_SHOWN_MAX = 5;

/** Files that came with it: no reader of a plan sees what is in them. */
function fileFields({ files = [], fileList }: TaskResult): Readonly<Record<string, Json>> {
  if (files.length === 0) return {};
  const count = Math.max(files.length, fileList?.files ?? 0);
  const more = count > FILES_SHOWN_MAX ? [`and ${count - FILES_SHOWN_MAX} more`] : [];
  return {
    files: [...files.slice(0, FILES_SHOWN_MAX).map((file) => clipped(fileText(file), FILE_CHARS_MAX)), ...more],
  };
}

const FILE_CHARS_MAX = 250;

function answerFields(result: TaskResult, chars: number): Readonly<Record<string, Json>> {
  const { value } = result;
  const { exitCode, streams } = outputOf(result);
  if (chars === 0) return exitCode === null ? {} : { exit: exitCode };
  if (exitCode === null && typeof value !== 'string') return { result: inShort(plain(JSON.stringify(value)), chars) };
  const each = Math.floor(chars / Math.max(1, streams.length));
  const texts = streams.map((stream) => [stream.stream, inShort(stream, each)] as const);
  return { ...(exitCode === null ? {} : { exit: exitCode }), ...Object.fromEntries(texts) };
}

const plain = (text: string): OutputText => ({ stream: 'result', head: text, tail: '', gapChars: 0 });

function inShort({ head, tail, gapChars }: OutputText, chars: number): Json {
  const all = head.length + gapChars + tail.length;
  if (all <= chars) return head;
  const half = Math.floor(chars / 2);
  const last = gapChars === 0 ? head : tail;
  return {
    characters: all,
    begins: head.slice(0, half).toWellFormed(),
    ends: half === 0 ? '' : last.slice(-half).toWellFormed(),
  };
}
