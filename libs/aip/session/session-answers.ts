import { instantOf, type ClientMessage, type ServerMessage } from '#proto';
import type { OpenSession, SessionEffect, SessionStep } from './session-state.js';

/* What a session says to its client. */

/** A close frame has room for 123 bytes, and clients have a say in what is refused. */
const CLOSE_REASON_CHARS_MAX = 100;
const NOT_PRINTABLE = /[^ -~]/gu;

export const errorMessage = (error: string): ServerMessage => ({ type: 'error', status: 'error', error });

/** A TASK always gets its TASK_END, or its sender would wait: an ERROR names no task. */
export function sessionRefusal(message: ClientMessage, error: string): ServerMessage {
  if (message.type !== 'task') return errorMessage(error);
  return { type: 'task_end', status: 'failed', session_id: message.session_id, result: null, error };
}

export const closeWith = (code: number, reason: string): SessionEffect => ({
  kind: 'close',
  code,
  reason: reason.slice(0, CLOSE_REASON_CHARS_MAX).replaceAll(NOT_PRINTABLE, '?'),
});

/** Sends it, with our time and a number of its own. */
export function sendAnswer<S extends OpenSession>(
  session: S,
  message: ServerMessage,
  nowMs: number,
): [S, SessionEffect[]] {
  const answers = session.answers + 1;
  const stamped = { ...message, timestamp: instantOf(nowMs), response_id: `answer-${answers}` };
  return [{ ...session, answers }, [{ kind: 'send', message: stamped }]];
}

/** Says why, and ends the connection. */
export function sendAway(
  session: OpenSession,
  { code, error }: { readonly code: number; readonly error: string },
  nowMs: number,
): SessionStep {
  const [, effects] = sendAnswer(session, errorMessage(error), nowMs);
  return [{ phase: 'CLOSED' }, [...effects, closeWith(code, error)]];
}
