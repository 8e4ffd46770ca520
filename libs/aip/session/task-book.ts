import { AIP_LIMITS, LIMITS, type TaskEndMessage } from '#proto';
import type { ClientTask } from './client-task.js';

export interface OpenTask extends ClientTask {
  /** CHECKING: whether its device is there. SUBMITTING: whether it becomes a run. RUNNING: acknowledged. */
  readonly phase: 'CHECKING' | 'SUBMITTING' | 'RUNNING';
  /** What was asked for, to tell a repeat from another task under the same id. */
  readonly content: string;
  readonly sinceMs: number;
}

/** A task that had a run, with the TASK_END that was sent. */
export interface EndedTask {
  readonly content: string;
  readonly message: TaskEndMessage;
}

/** The tasks of one connection by session id. Immutable. */
export interface TaskBook {
  readonly open: ReadonlyMap<string, OpenTask>;
  /** In the order they ended; the oldest is forgotten first. */
  readonly ended: ReadonlyMap<string, EndedTask>;
  readonly endedChars: number;
}

export const NO_TASKS: TaskBook = { open: new Map(), ended: new Map(), endedChars: 0 };

/** What the ended tasks of one connection may hold in memory; the log has them all. */
const ENDED_CHARS_MAX = 8 * 1024 * 1024;

/** What all open tasks of one connection ask for may be as long as this; each is held several times while it becomes a run. */
const OPEN_CHARS_MAX = 16 * 1024 * 1024;
/** One task becomes one request on the bus, which takes no more. */
const CONTENT_CHARS_MAX = LIMITS.requestBytesMax;

/** Why a task that asks for this cannot be taken now, as a sentence for people; undefined when it can. */
export function noRoomFor({ open }: TaskBook, content: string): string | undefined {
  if (open.size >= AIP_LIMITS.tasksOpenMax) {
    return `${AIP_LIMITS.tasksOpenMax} tasks are open on this connection, more are not taken`;
  }
  if (content.length > CONTENT_CHARS_MAX) return `a task has at most ${CONTENT_CHARS_MAX} characters`;
  const chars = [...open.values()].reduce((sum, task) => sum + task.content.length, content.length);
  if (chars <= OPEN_CHARS_MAX) return undefined;
  return `the tasks that are open on this connection have ${OPEN_CHARS_MAX} characters together, more are not taken`;
}

export const opened = (book: TaskBook, task: OpenTask): TaskBook => ({
  ...book,
  open: new Map([...book.open, [task.sessionId, task]]),
});

export const withPhase = (book: TaskBook, task: OpenTask, phase: OpenTask['phase']): TaskBook =>
  opened(book, { ...task, phase });

/** Without a message it leaves no trace. */
export function endedOf(book: TaskBook, task: OpenTask, message: TaskEndMessage | null): TaskBook {
  const { sessionId, content } = task;
  const open = new Map(book.open);
  open.delete(sessionId);
  if (message === null) return { ...book, open };
  const ended = new Map(book.ended).set(sessionId, { content, message });
  let endedChars = book.endedChars + charsOf({ content, message });
  for (const [oldest, entry] of ended) {
    if (ended.size <= AIP_LIMITS.tasksEndedMax && endedChars <= ENDED_CHARS_MAX) break;
    ended.delete(oldest);
    endedChars -= charsOf(entry);
  }
  return { open, ended, endedChars };
}

const charsOf = ({ content, message }: EndedTask): number => content.length + JSON.stringify(message).length;
