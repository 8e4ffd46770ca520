import type { ClientMessage, Identity, Json, RunId, ServerMessage } from '#proto';
import type { ClientTask, ClientTaskEnd } from './client-task.js';
import type { FrameSender } from '../frames/index.js';
import type { TaskBook } from './task-book.js';

/*
 * The server's side of one constellation client's connection. Who it is, and which devices it may use, is proven before
 * the upgrade; its frames can only name what is allowed already.
 *
 *   AWAITING_REGISTER --REGISTER--> READY --bye, shutdown, credential over--> CLOSED
 *        |  \--REGISTER with target_id--> CHECKING --connected--^
 *        +--- 5 s, anything else --> CLOSED <--- not connected --+
 *
 *   TASK --> CHECKING --connected--> SUBMITTING --accepted: ack--> RUNNING --ended--> TASK_END, remembered
 *                \--not connected, refused, full------------------------------------> TASK_END failed
 *
 * Every TASK gets exactly one TASK_END with its own session id: a client of UFO waits for nothing else.
 */
export type ConstellationIdentity = Pick<Identity, 'id' | 'targets' | 'expiresAt'>;

interface Connection {
  readonly identity: ConstellationIdentity;
  readonly sinceMs: number;
  /** Numbers our answers. */
  readonly answers: number;
}
export interface Registered extends Connection {
  /** What the client calls itself; names nobody. */
  readonly label: string | null;
  /** The device that its tasks are for when they name none. */
  readonly targetId: string | null;
}

export type ConstellationSession =
  | (Connection & { readonly phase: 'AWAITING_REGISTER' })
  | (Registered & { readonly phase: 'CHECKING'; readonly targetId: string })
  | (Registered & { readonly phase: 'READY'; readonly tasks: TaskBook; readonly infosOpen: number })
  | { readonly phase: 'CLOSED' };
export type OpenConstellation = Exclude<ConstellationSession, { phase: 'CLOSED' }>;
export type ReadyConstellation = Extract<ConstellationSession, { phase: 'READY' }>;

/** `unknown`: nobody could say in time. */
export type TargetState = 'connected' | 'not-connected' | 'unknown';

export type ConstellationInput =
  | { readonly kind: 'message'; readonly message: ClientMessage }
  /** A message that its sender may not send now; `error` says why. */
  | { readonly kind: 'denied'; readonly message: ClientMessage; readonly error: string }
  /** A frame that is no message; `error` says why, `taskSessionId` which TASK it would have been. */
  | { readonly kind: 'unreadable'; readonly error: string; readonly taskSessionId?: string | null }
  | { readonly kind: 'tick' }
  /** Answers `lookUp`; `sessionId` as there. */
  | { readonly kind: 'target'; readonly sessionId: string | null; readonly state: TargetState }
  /** Answers `submit`. */
  | { readonly kind: 'accepted'; readonly sessionId: string; readonly runId: RunId }
  | { readonly kind: 'refused'; readonly sessionId: string; readonly error: string }
  /** Once, after `follow`. */
  | ({ readonly kind: 'ended'; readonly sessionId: string } & ClientTaskEnd)
  /** Answers `deviceInfo`; null when there is no such device. */
  | { readonly kind: 'device-info'; readonly requestId: string | null; readonly deviceId: string; readonly info: Json }
  | { readonly kind: 'revoked' }
  | { readonly kind: 'shutdown' }
  | { readonly kind: 'closed' };

export type ConstellationEffect =
  | { readonly kind: 'send'; readonly message: ServerMessage }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
  /** Say `target`: whether this device is connected. Without a session it is asked for by REGISTER. */
  | { readonly kind: 'lookUp'; readonly sessionId: string | null; readonly deviceId: string }
  /** Make a run of the task, then say `accepted` or `refused`. */
  | { readonly kind: 'submit'; readonly task: ClientTask; readonly label: string | null }
  /** Say `ended` when this run has. */
  | { readonly kind: 'follow'; readonly sessionId: string; readonly runId: RunId }
  /** Nobody waits for this task any more: its run, if there is one, is to be cancelled. */
  | { readonly kind: 'cancel'; readonly sessionId: string }
  /** Say `device-info`: what is known of this device. */
  | { readonly kind: 'deviceInfo'; readonly requestId: string | null; readonly deviceId: string }
  /** What the client complains about. */
  | { readonly kind: 'complaint'; readonly error: string };

export const openConstellationSession = (identity: ConstellationIdentity, nowMs: number): ConstellationSession => ({
  phase: 'AWAITING_REGISTER',
  identity,
  sinceMs: nowMs,
  answers: 0,
});

/** For the table of who may send what; undefined when nobody may send anything any more. */
export function senderOfConstellation(session: ConstellationSession): FrameSender | undefined {
  if (session.phase === 'CLOSED') return undefined;
  const phase = session.phase === 'CHECKING' ? 'CLAIMING' : session.phase;
  return { role: 'constellation', identity: session.identity.id, phase, revision: null };
}
