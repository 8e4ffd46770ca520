import type { CommandCall, DeviceId, Json, TaskEndMessage, TaskMessage } from '#proto';

/** What a constellation client wants done: one task on one device. */
export interface ClientTask {
  /** The client's own name for it, any text; it comes back in every answer. */
  readonly sessionId: string;
  readonly deviceId: DeviceId;
  /** For people, made of safe characters only. */
  readonly name: string;
  /** What to do, in words; empty when there is a command. */
  readonly request: string;
  /** The exact tool call to make instead. */
  readonly command: CommandCall | null;
}

/** How a task ended. `result` is what the tool answered, null when it answered nothing; `error` is one sentence. */
export interface ClientTaskEnd {
  readonly status: 'completed' | 'failed';
  readonly result: Json;
  readonly error: string | null;
  /** `result` is a part: of which field (the empty one: of all of it), how many bytes the whole has and by which checksum it is found. */
  readonly cut?: {
    readonly field: string;
    readonly sha256: string | null;
    readonly bytes: number | null;
    readonly message: string;
  };
}

/** The words of a task become the description of a run's task, and are as long at most. */
export const REQUEST_CHARS_MAX = 20_000;

const NAME_CHARS_MAX = 200;
const UNSAFE = /[^A-Za-z0-9._-]/gu;
const LEADING_DOTS = /^\.+/u;

/** A name that can stand anywhere: `galaxy/run/task` becomes `galaxy_run_task`. */
export function safeTaskName(name: string): string {
  const safe = name.replace(UNSAFE, '_').replace(LEADING_DOTS, '').slice(0, NAME_CHARS_MAX);
  return safe === '' ? 'task' : safe;
}

/** What is asked for, as one text: a TASK that comes twice is the same only when this is. */
export const contentOf = (message: TaskMessage): string =>
  JSON.stringify([
    message.target_id ?? null,
    message.task_name ?? null,
    message.request ?? null,
    message.metadata?.orrery?.command ?? null,
  ]);

/** TASK_END as UFO's clients read it: a list with what was asked and what came of it, empty when nothing did. A part is never called the whole. */
export function taskEndMessage(
  { sessionId, request }: Pick<ClientTask, 'sessionId' | 'request'>,
  { status, result, error, cut }: ClientTaskEnd,
): TaskEndMessage {
  const nothing = status === 'failed' && result === null;
  const item = { request, result, ...(cut !== undefined && { cut }) };
  return { type: 'task_end', status, session_id: sessionId, result: nothing ? [] : [item], error };
}
