import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { tokenHash } from '#libs/keys';
import { ActorId, Instant, LIMITS, Login, type Sha256 } from '#proto';

const ID_BYTES = 32;
const NAME_CHARS = 16;

/** Value of the bucket SESSIONS, by the SHA-256 of the id that only the browser has. */
export const BrowserSession = z.strictObject({
  actorId: ActorId,
  ...Login.shape,
  createdAt: Instant,
  /** To within `LIMITS.sessionSeenMs`. */
  seenAt: Instant,
});
export type BrowserSession = z.infer<typeof BrowserSession>;

/** 256 bit. */
export function newSessionId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}

/** Whether it looks like one: nothing else is looked up. */
export function isSessionId(text: string): boolean {
  return /^[\w-]{43}$/u.test(text);
}

/** Under what a session is kept: nobody who reads it can come in with it. */
export function sessionKey(id: string): string {
  return tokenHash(id);
}

/** Under what it is noted that a code was used. */
export function spentKey(codeId: Sha256): string {
  return `code-${codeId}`;
}

/** How a session is called in logs and proofs. */
export function sessionName(id: string): string {
  return sessionKey(id).slice(0, NAME_CHARS);
}

/** What a page of ours has to show with a change: another page cannot know it, and nobody can find the id by it. */
export function csrfTokenOf(id: string): string {
  return createHmac('sha256', id).update('orrery csrf').digest('base64url');
}

/** `now` in milliseconds since the epoch. `seen`: so long ago that it has to be noted that it is in use. */
export function stateOf({ createdAt, seenAt }: BrowserSession, now: number): 'over' | 'good' | 'seen' {
  const idle = now - Date.parse(seenAt);
  if (idle >= LIMITS.sessionIdleMs || now - Date.parse(createdAt) >= LIMITS.sessionMs) return 'over';
  return idle >= LIMITS.sessionSeenMs ? 'seen' : 'good';
}
