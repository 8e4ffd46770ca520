import { parseJson } from '#proto';

/** As long as a session id may be. */
const SESSION_ID_CHARS_MAX = 256;

/** The session id of a frame that is a TASK and yet no message: its sender waits for the TASK_END of this one. */
export function unreadableTaskOf(text: string | null): string | null {
  const frame = parseJson(text ?? '');
  if (typeof frame !== 'object' || frame === null) return null;
  if (!('type' in frame) || frame.type !== 'task' || !('session_id' in frame)) return null;
  const { session_id: sessionId } = frame;
  if (typeof sessionId !== 'string' || sessionId === '' || sessionId.length > SESSION_ID_CHARS_MAX) return null;
  return sessionId;
}
