import { AIP_CLOSE, AIP_LIMITS, AIP_REVISION } from '#proto';
import type { ClientMessage, CommandId, Instant, ServerMessage, SessionId } from '#proto';
import { NUMBERED_SINCE } from '../session/index.js';

/*
 * The device's side of one connection, without the connection. A foreign server confirms REGISTER with a bare HEARTBEAT and
 * may send commands before it does; ours names the revision, and of revision 2 takes over the journal's state first.
 *
 *   REGISTERING --HEARTBEAT: foreign, revision 1--------------------> READY
 *        |     \--HEARTBEAT: revision 2--> RESUMING --RESUMED--------^ |
 *        +-------- 10 s, another revision -----+--------> CLOSED <-----+ a gap, nothing acknowledged
 */
export type DeviceLink =
  | { readonly phase: 'REGISTERING'; readonly sinceMs: number }
  | { readonly phase: 'RESUMING'; readonly sinceMs: number; readonly server: ServerFacts }
  | { readonly phase: 'READY'; readonly server: ServerFacts }
  | { readonly phase: 'CLOSED' };

/** Who confirmed the registration. */
export interface ServerFacts {
  /** What both sides speak; null: a server that knows nothing of our revisions. */
  readonly revision: number | null;
  readonly sessionId: SessionId | null;
  /** When the credential of this connection expires, by the server's clock; null for one that does not, or that nobody told of. */
  readonly credentialUntil: Instant | null;
  /** It takes pieces of files as binary frames. */
  readonly takesBytes: boolean;
}

export type LinkInput =
  | { readonly kind: 'message'; readonly message: ServerMessage }
  /** A frame that is no message; `error` says why. */
  | { readonly kind: 'unreadable'; readonly error: string }
  /** The numbers of the frames do not fit together any more. */
  | { readonly kind: 'gap'; readonly error: string }
  | { readonly kind: 'unacknowledged' }
  | { readonly kind: 'tick' };

/** What is left for the device to do when the link has done its part. */
export type ServerRequest = Exclude<ServerMessage, { type: 'heartbeat' | 'error' | 'ack' | 'resumed' }>;

export type LinkEffect =
  /** From now on frames are numbered, in both directions. Say what the journal holds. */
  | { readonly kind: 'resume' }
  /** Everything may be sent. */
  | { readonly kind: 'ready'; readonly server: ServerFacts }
  /** `server` is null before the confirmation. */
  | { readonly kind: 'deliver'; readonly message: ServerRequest; readonly server: ServerFacts | null }
  /** What the server complains about. */
  | { readonly kind: 'complaint'; readonly error: string }
  | { readonly kind: 'ignored'; readonly error: string }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string };

type Step = [DeviceLink, LinkEffect[]];

/** How long a server may take to answer REGISTER, and RESUME. */
export const LINK_ANSWER_MS = 10_000;

export const openLink = (nowMs: number): DeviceLink => ({ phase: 'REGISTERING', sinceMs: nowMs });

/** Pure: one input, the next state and its effects, to be carried out in order. */
export function stepLink(link: DeviceLink, input: LinkInput, nowMs: number): Step {
  if (link.phase === 'CLOSED') return [link, []];
  switch (input.kind) {
    case 'message':
      return onMessage(link, input.message, nowMs);
    case 'unreadable':
      return [link, [{ kind: 'ignored', error: input.error }]];
    case 'gap':
      return close(AIP_CLOSE.protocolError, input.error);
    case 'unacknowledged':
      return close(AIP_CLOSE.unacknowledged, 'the server does not acknowledge what it is sent');
    case 'tick':
      if (link.phase === 'READY' || nowMs - link.sinceMs < LINK_ANSWER_MS) return [link, []];
      return close(AIP_CLOSE.policy, `no answer to ${link.phase === 'REGISTERING' ? 'REGISTER' : 'RESUME'}`);
  }
}

function onMessage(link: Exclude<DeviceLink, { phase: 'CLOSED' }>, message: ServerMessage, nowMs: number): Step {
  switch (message.type) {
    case 'error':
      return [link, [{ kind: 'complaint', error: (message.error ?? '').slice(0, AIP_LIMITS.errorCharsMax) }]];
    case 'heartbeat':
      return link.phase === 'REGISTERING' ? onConfirmed(message, nowMs) : [link, []];
    case 'resumed':
      if (link.phase !== 'RESUMING') return [link, []];
      return [{ phase: 'READY', server: link.server }, [{ kind: 'ready', server: link.server }]];
    case 'ack':
      return [link, []];
    default:
      return [link, [{ kind: 'deliver', message, server: 'server' in link ? link.server : null }]];
  }
}

function onConfirmed({ status, orrery }: Extract<ServerMessage, { type: 'heartbeat' }>, nowMs: number): Step {
  if (status !== 'ok') return close(AIP_CLOSE.policy, 'the registration was answered and not confirmed');
  const revision = orrery?.revision ?? null;
  if (revision !== null && revision > AIP_REVISION) {
    return close(AIP_CLOSE.protocolError, `revision ${revision} was not offered`);
  }
  const server: ServerFacts = {
    revision,
    sessionId: orrery?.session_id ?? null,
    credentialUntil: orrery?.credential_until ?? null,
    takesBytes: orrery?.binary_pieces === true,
  };
  if (revision === null || revision < NUMBERED_SINCE) return [{ phase: 'READY', server }, [{ kind: 'ready', server }]];
  return [{ phase: 'RESUMING', sinceMs: nowMs, server }, [{ kind: 'resume' }]];
}

/** A close frame has room for 123 bytes. */
const CLOSE_REASON_CHARS_MAX = 100;

const close = (code: number, reason: string): Step => [
  { phase: 'CLOSED' },
  [{ kind: 'close', code, reason: reason.replaceAll(/[^\x20-\x7e]/gu, '?').slice(0, CLOSE_REASON_CHARS_MAX) }],
];

/** What a device holds for its servers when it comes back. */
export interface Holdings {
  /** Commands whose ends are still to come. */
  readonly running: readonly CommandId[];
  /** Commands whose results no server has acknowledged. */
  readonly finished: readonly CommandId[];
}

/** Ids of either kind in one frame. */
const RESUME_IDS_MAX = 1_000;

/** The frames that say so: one at least, and `more` on every one but the last. */
export function resumeMessages({ running, finished }: Holdings): ClientMessage[] {
  const count = Math.max(1, Math.ceil(Math.max(running.length, finished.length) / RESUME_IDS_MAX));
  return Array.from({ length: count }, (_, index) => {
    const part = (ids: readonly CommandId[]): CommandId[] =>
      ids.slice(index * RESUME_IDS_MAX, (index + 1) * RESUME_IDS_MAX);
    const orrery = { running: part(running), finished: part(finished), more: index < count - 1 };
    return { type: 'resume', status: 'ok', client_type: 'device', orrery };
  });
}

export const ackMessage = (): ClientMessage => ({ type: 'ack', status: 'ok', client_type: 'device' });
