import { instantOf, type ClientMessage, type CommandCall, type Json, type ServerMessage } from '#proto';

/*
 * The client's side of a constellation connection: what was sent and is not answered yet. UFO's server answers a TASK that it
 * refuses with an ERROR that names nothing, and sends no TASK_END; so an ERROR is taken for the oldest task or question that
 * waits for its answer, which is given up when nothing better comes within a moment. Our own server names what it means, and
 * always sends TASK_END. Nothing hangs on the answer to a heartbeat.
 *
 * Deterministic: no clock, no waiting, no I/O.
 */

/** Of a server of UFO, which has nothing to say afterwards. */
const SUSPECT_MS = 2_000;
/** As long as UFO's own clients wait, and a little for the way. */
const TASK_WAIT_MS = 1_010_000;
const DEVICE_INFO_WAIT_MS = 10_000;
const REGISTER_WAIT_MS = 30_000;
const PENDING_MAX = 1_024;

/** `unknown`: nobody can say how it ended, or whether it has. */
export interface TaskEnd {
  readonly status: 'completed' | 'failed' | 'unknown';
  readonly result: Json;
  readonly error: string | null;
}

export type ConstellationLinkEvent =
  | { readonly kind: 'registered' }
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'acknowledged'; readonly sessionId: string }
  | { readonly kind: 'task-ended'; readonly sessionId: string; readonly end: TaskEnd }
  | { readonly kind: 'device-info'; readonly requestId: string; readonly info: Json }
  | { readonly kind: 'device-info-failed'; readonly requestId: string; readonly error: string }
  | { readonly kind: 'complaint'; readonly error: string };

interface Pending {
  readonly kind: 'task' | 'device-info';
  readonly id: string;
  readonly deadlineMs: number;
  acknowledged: boolean;
  /** An ERROR that may be about it, and until when something better is waited for. */
  suspect: { readonly error: string; readonly untilMs: number } | null;
}

export interface LinkNames {
  readonly clientId: string;
  readonly targetId: string | undefined;
}

export interface TaskCall {
  readonly sessionId: string;
  readonly name: string;
  readonly request: string;
  /** Default: the device of the registration. */
  readonly targetId?: string | undefined;
  /** The exact tool call to make instead of the words; only our own servers know of it. */
  readonly command?: CommandCall | undefined;
}

export class ConstellationLink {
  readonly #names: LinkNames;
  readonly #registerByMs: number;
  #phase: 'REGISTERING' | 'READY' | 'CLOSED' = 'REGISTERING';
  /** In the order they were sent. */
  readonly #pending = new Set<Pending>();

  constructor(names: LinkNames, nowMs: number) {
    this.#names = names;
    this.#registerByMs = nowMs + REGISTER_WAIT_MS;
  }

  get isReady(): boolean {
    return this.#phase === 'READY';
  }

  register(nowMs: number): ClientMessage {
    return { type: 'register', ...this.#base(nowMs), ...targetOf(this.#names.targetId) };
  }

  heartbeat(nowMs: number): ClientMessage {
    return { type: 'heartbeat', ...this.#base(nowMs) };
  }

  /** Undefined when too much waits for its answer, or another task has this session id. */
  task({ sessionId, name, request, targetId, command }: TaskCall, nowMs: number): ClientMessage | undefined {
    if (this.#pending.size >= PENDING_MAX || this.#find('task', sessionId) !== undefined) return undefined;
    this.#wait('task', sessionId, nowMs + TASK_WAIT_MS);
    return {
      type: 'task',
      ...this.#base(nowMs),
      ...targetOf(targetId ?? this.#names.targetId),
      status: 'continue',
      session_id: sessionId,
      task_name: name,
      request,
      ...(command !== undefined && { metadata: { orrery: { command } } }),
    };
  }

  /** Undefined when too much waits for its answer. */
  deviceInfo(requestId: string, targetId: string | undefined, nowMs: number): ClientMessage | undefined {
    if (this.#pending.size >= PENDING_MAX) return undefined;
    this.#wait('device-info', requestId, nowMs + DEVICE_INFO_WAIT_MS);
    const target = targetOf(targetId ?? this.#names.targetId);
    return { type: 'device_info_request', ...this.#base(nowMs), ...target, request_id: requestId };
  }

  take(message: ServerMessage, nowMs: number): ConstellationLinkEvent[] {
    if (this.#phase === 'CLOSED') return [];
    switch (message.type) {
      case 'heartbeat':
        return this.#onHeartbeat(message.session_id ?? null);
      case 'error':
        return this.#onError(message, nowMs);
      case 'task_end':
        return this.#onTaskEnd(message);
      case 'device_info_response':
        return this.#onDeviceInfo(message.response_id ?? null, message.result ?? null);
      default:
        return []; // progress of a kind that we have no use for
    }
  }

  /** To be called every second or so. */
  tick(nowMs: number): ConstellationLinkEvent[] {
    if (this.#phase === 'REGISTERING' && nowMs >= this.#registerByMs) {
      this.#phase = 'CLOSED';
      return [{ kind: 'refused', error: 'the server did not answer REGISTER in time' }];
    }
    return [...this.#pending].flatMap((pending): ConstellationLinkEvent[] => {
      const { suspect, deadlineMs } = pending;
      if (suspect !== null && nowMs >= suspect.untilMs) {
        return this.#settle(pending, { status: 'failed', result: null, error: suspect.error });
      }
      if (nowMs < deadlineMs) return [];
      return this.#settle(pending, { status: 'unknown', result: null, error: 'the server did not answer in time' });
    });
  }

  /** The connection is over: the server cancels what it has not answered, and nobody hears how that ends. */
  close(why: string): ConstellationLinkEvent[] {
    const wasRegistering = this.#phase === 'REGISTERING';
    this.#phase = 'CLOSED';
    const lost: TaskEnd = { status: 'unknown', result: null, error: why };
    const events = [...this.#pending].flatMap((pending) => this.#settle(pending, lost));
    return wasRegistering ? [{ kind: 'refused', error: why }, ...events] : events;
  }

  #onHeartbeat(sessionId: string | null): ConstellationLinkEvent[] {
    if (this.#phase === 'REGISTERING') {
      this.#phase = 'READY';
      return [{ kind: 'registered' }];
    }
    const task = sessionId === null ? undefined : this.#find('task', sessionId);
    if (sessionId === null || task === undefined) return [];
    task.acknowledged = true;
    task.suspect = null;
    return [{ kind: 'acknowledged', sessionId }];
  }

  #onError(message: Extract<ServerMessage, { type: 'error' }>, nowMs: number): ConstellationLinkEvent[] {
    const { session_id: sessionId, response_id: responseId } = message;
    const error = message.error ?? 'the server reports an error';
    if (this.#phase === 'REGISTERING') {
      this.#phase = 'CLOSED';
      return [{ kind: 'refused', error }];
    }
    const question = this.#find('device-info', responseId ?? '');
    if (question !== undefined) return this.#settle(question, { status: 'failed', result: null, error });
    const meant = this.#find('task', sessionId ?? '') ?? this.#oldest(sessionId);
    if (meant !== undefined) meant.suspect = { error, untilMs: nowMs + SUSPECT_MS };
    return [{ kind: 'complaint', error }];
  }

  /** Frames are answered one after the other; only of a server that names nothing anything has to be guessed. */
  #oldest(sessionId: string | null | undefined): Pending | undefined {
    if (sessionId !== null && sessionId !== undefined) return undefined;
    return [...this.#pending].find(({ acknowledged, suspect }) => !acknowledged && suspect === null);
  }

  #onTaskEnd(message: Extract<ServerMessage, { type: 'task_end' }>): ConstellationLinkEvent[] {
    const { session_id: sessionId, status, result = null, error = null } = message;
    const task = this.#find('task', sessionId ?? '');
    if (task === undefined) return [];
    return this.#settle(task, { status: status === 'completed' ? 'completed' : 'failed', result, error });
  }

  #onDeviceInfo(requestId: string | null, info: Json): ConstellationLinkEvent[] {
    const question = this.#find('device-info', requestId ?? '');
    if (question === undefined) return [];
    this.#pending.delete(question);
    return [{ kind: 'device-info', requestId: question.id, info }];
  }

  #settle(pending: Pending, end: TaskEnd): ConstellationLinkEvent[] {
    this.#pending.delete(pending);
    const { kind, id } = pending;
    if (kind === 'task') return [{ kind: 'task-ended', sessionId: id, end }];
    return [{ kind: 'device-info-failed', requestId: id, error: end.error ?? '' }];
  }

  #find(kind: Pending['kind'], id: string): Pending | undefined {
    return [...this.#pending].find((pending) => pending.kind === kind && pending.id === id);
  }

  #wait(kind: Pending['kind'], id: string, deadlineMs: number): void {
    this.#pending.add({ kind, id, deadlineMs, acknowledged: false, suspect: null });
  }

  #base(nowMs: number) {
    const { clientId } = this.#names;
    const base = { status: 'ok', client_type: 'constellation' } as const;
    return { ...base, client_id: clientId, timestamp: instantOf(nowMs) };
  }
}

const targetOf = (targetId: string | undefined) => (targetId === undefined ? {} : { target_id: targetId });
