import { type ConstellationSnapshot, fileText, type Json, type TaskError, type TaskId, type TaskResult } from '#proto';
import { visibleText } from '#libs/visible';
import { mayChangeTask, toolTargetOf, recoveriesOf, wavesOf } from '../edits/index.js';
import { positionOf } from '../plan/index.js';
import type { Run, TaskState } from '../state/index.js';
import { fanOutText, fanOutView } from '../waves/index.js';
import { summaryOf } from './view.js';

/** Characters of a result, and of an error, that a snapshot shows of each task. */
export const SNAPSHOT_RESULT_CHARS = 500;

/** Files that a task left, of which a snapshot tells. */
const SNAPSHOT_FILES_MAX = 10;

export interface SnapshotOptions {
  readonly resultChars?: number;
}

/**
 * The constellation of a run in the words of tools, all of it as of one event (paper section 5.3: what every tool answers).
 * Results are excerpts: what they hold is text of others, and a snapshot is read by models.
 */
export function snapshotOf(
  run: Run,
  { resultChars = SNAPSHOT_RESULT_CHARS }: SnapshotOptions = {},
): ConstellationSnapshot {
  const { name, status } = summaryOf(run);
  const { graph, tasks, lines, revision, sequence } = run;
  const recovered = recoveriesOf(run);
  return {
    run_id: run.runId,
    name,
    status,
    revision,
    sequence,
    tasks: [...tasks]
      .filter(({ part }) => part === null)
      .map((task) => ({
        ...snapshotOfTask(task, resultChars, recovered.get(task.star.id)),
        ...progressIn(run, task),
      })),
    dependencies: [...graph.lines].map((line, index) => ({
      dependency_id: line.id,
      from_task_id: line.from,
      to_task_id: line.to,
      type: line.type,
      ...(line.condition === undefined ? {} : { condition: line.condition }),
      ...(line.description === undefined ? {} : { condition_description: line.description }),
      satisfied: lines.at(index).satisfied,
      modifiable: mayChangeTask(tasks.at(positionOf(graph.taskIndex, line.to))) === undefined,
    })),
  };
}

function snapshotOfTask(
  task: TaskState,
  chars: number,
  recoveredBy: TaskId | undefined,
): ConstellationSnapshot['tasks'][number] {
  const { star, status, attempt, deviceId, result } = task;
  const { id, name, description, tips, command, inputs, files, board, verify, review, deadlineMs, replaces, forEach } =
    star;
  const error = whyNot(task);
  return {
    task_id: id,
    name,
    description,
    tips,
    ...toolTargetOf(star.target),
    ...(command === undefined ? {} : { command }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(files === undefined ? {} : { files }),
    ...(board === undefined ? {} : { board }),
    ...(verify === undefined ? {} : { verify }),
    ...(review === undefined ? {} : { review }),
    ...(deadlineMs === undefined ? {} : { deadline_seconds: deadlineMs / 1_000 }),
    ...(replaces === undefined ? {} : { replaces }),
    ...(forEach === undefined ? {} : { waves: wavesOf(forEach) }),
    ...(recoveredBy === undefined ? {} : { recovered_by: recoveredBy }),
    status,
    attempts: attempt,
    device_id: deviceId,
    result: result === null ? null : excerptOf(resultText(result.value), chars),
    ...(result === null ? {} : filesLeft(result)),
    error: error === null ? null : excerptOf(error, chars),
    modifiable: mayChangeTask(task) === undefined,
  };
}

function filesLeft({ files = [], fileList }: TaskResult): { files_left?: string[] } {
  const left = files.filter(({ path }) => path !== undefined);
  if (left.length === 0) return {};
  const more = Math.max(left.length, fileList?.files ?? 0) - SNAPSHOT_FILES_MAX;
  const named = left.slice(0, SNAPSHOT_FILES_MAX).map(fileText);
  return { files_left: more > 0 ? [...named, `and ${more} more`] : named };
}

/** Of a task on several devices: it works while some of them do. */
function progressIn(run: Run, task: TaskState): { readonly progress?: string; readonly status?: 'RUNNING' } {
  const view = fanOutView(run, task, 0);
  if (view === undefined) return {};
  return { progress: fanOutText(view), ...(task.status === 'PENDING' ? { status: 'RUNNING' as const } : {}) };
}

function whyNot({ status, error, reason }: TaskState): string | null {
  if (error !== null) return errorText(error);
  return status === 'SKIPPED' || status === 'CANCELLED' ? reason : null;
}

function errorText({ code, message, outcome }: TaskError): string {
  return outcome === 'failed' ? `${code}: ${message}` : `${code} (${outcome}): ${message}`;
}

/** What a result says to a reader: a text as it is, of a shell command its streams and how it ended, else JSON. */
export function resultText(value: Json): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const { stdout, stderr, exit_code: exitCode } = value;
  if (typeof stdout !== 'string' || typeof stderr !== 'string' || typeof exitCode !== 'number') {
    return JSON.stringify(value);
  }
  const ended = `exit code ${exitCode}`;
  const said = [stdout.trimEnd(), stderr.trim() === '' ? '' : `stderr: ${stderr.trimEnd()}`].filter(Boolean).join('\n');
  if (said === '') return ended;
  return exitCode === 0 ? said : `${ended}\n${said}`;
}

/** Of the room for an excerpt, what its beginning has; the end, where totals and errors stand, has the rest. */
const HEAD_SHARE = 0.6;

/** A text of others within `chars` characters, with nothing hidden in it: head and tail when it is longer. */
export function excerptOf(text: string, chars: number): string {
  const headChars = Math.floor(chars * HEAD_SHARE);
  const clean = visibleText(text.replaceAll('\r\n', '\n')).trim();
  if (clean.length <= chars) return clean;
  const mark = ' [...] ';
  const tailChars = Math.max(0, chars - headChars - mark.length);
  const tail = tailChars === 0 ? '' : clean.slice(-tailChars);
  return `${clean.slice(0, headChars)}${mark}${tail}`.slice(0, chars).toWellFormed();
}
