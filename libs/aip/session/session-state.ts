import type {
  ClientMessage,
  ClientTelemetry,
  CommandId,
  CommandOutcome,
  CommandOutputMessage,
  DeviceId,
  DeviceMetrics,
  Identity,
  ServerMessage,
  SessionId,
} from '#proto';
import type { FrameSender } from '../frames/index.js';
import type { RegisteredClient } from './telemetry.js';

/*
 * The server's side of one device connection. The identity is proven before the upgrade; the session is real only when
 * PRESENCE says so, and one of our devices is told only then. A foreign client must be answered before it names its tools.
 *
 *   AWAITING_REGISTER --REGISTER (ours)-----------------------> CLAIMING --claimed--> READY
 *           |          \--REGISTER (foreign)--> LISTING_TOOLS ----^  |  \               ^ |
 *           |                                                        |   \-(revision 2)-> RESUMING --last RESUME--^
 *           +--- 5 s, anything else --> CLOSED <--- claim failed ----+-- replaced, revoked, expired, bye
 */
interface Connection {
  readonly identity: DeviceId;
  /** When the phase began. */
  readonly sinceMs: number;
  /** Numbers our answers. */
  readonly answers: number;
  /** When the credential expires; null for one that does not. */
  readonly credentialUntilMs: number | null;
  /** A renewed credential is being looked at. */
  readonly renewing: boolean;
  /** When the last one came that was looked at. */
  readonly renewedMs: number;
}

interface Registered extends Connection {
  readonly client: RegisteredClient;
}

interface Claimed extends Registered {
  readonly sessionId: SessionId;
}

export type Session =
  | (Connection & { readonly phase: 'AWAITING_REGISTER' })
  | (Registered & { readonly phase: 'LISTING_TOOLS' })
  | (Registered & { readonly phase: 'CLAIMING' })
  /** `running`: ids named so far; `frames`: RESUMEs so far. */
  | (Claimed & { readonly phase: 'RESUMING'; readonly frames: number; readonly running: number })
  | (Claimed & {
      readonly phase: 'READY';
      /** When metrics were taken last. */
      readonly toldMs: number;
      /** When a foreign client was asked for its tools once more; null: not since it registered. */
      readonly toolsAskedMs: number | null;
      /** A foreign client has not answered yet what it was asked last. */
      readonly toolsAwaited: boolean;
    })
  | { readonly phase: 'CLOSED' };

export type OpenSession = Exclude<Session, { phase: 'CLOSED' }>;
export type SessionIn<P extends OpenSession['phase']> = Extract<Session, { phase: P }>;

export type SessionInput =
  | { readonly kind: 'message'; readonly message: ClientMessage }
  /** A message that its sender may not send now; `error` says why. */
  | { readonly kind: 'denied'; readonly message: ClientMessage; readonly error: string }
  /** A frame that is no message; `error` says why. */
  | { readonly kind: 'unreadable'; readonly error: string }
  /** A frame whose number is not the next. */
  | { readonly kind: 'gap'; readonly error: string }
  /** The device has acknowledged nothing for too long. */
  | { readonly kind: 'unacknowledged' }
  | { readonly kind: 'tick' }
  /** PRESENCE holds this session now. */
  | { readonly kind: 'claimed'; readonly sessionId: SessionId }
  | { readonly kind: 'claim-failed' }
  /** What became of a renewed credential: whose it is, or null, and then why it counts for nothing. */
  | { readonly kind: 'identified'; readonly identity: Identity | null; readonly error: string }
  /** The server has something to send to the device, of its own accord. */
  | { readonly kind: 'say'; readonly message: ServerMessage }
  /** A foreign client may have other tools now; `wanted`: somebody asked for one that it has not named. */
  | { readonly kind: 'ask-tools'; readonly wanted: boolean }
  /** PRESENCE holds a newer session of the device. */
  | { readonly kind: 'replaced' }
  | { readonly kind: 'revoked' }
  | { readonly kind: 'shutdown' }
  | { readonly kind: 'closed' };

/** What devices send of files: judged further by the file desk. */
export type FileMessage = Extract<
  ClientMessage,
  { type: 'file_begin' | 'file_chunk' | 'file_end' | 'file_request' | 'file_ack' | 'file_abort' }
>;

/** What devices answer about the workspaces of runs: judged further by who has asked. */
export type WorkspaceMessage = Extract<ClientMessage, { type: 'run_forgotten' | 'workspaces' }>;

export type OutputPiece = Pick<CommandOutputMessage['orrery'], 'stream' | 'offset' | 'text'>;

export type SessionEffect =
  | { readonly kind: 'send'; readonly message: ServerMessage }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
  /** Write PRESENCE, then say `claimed` or `claim-failed`. */
  | { readonly kind: 'claim'; readonly client: RegisteredClient }
  /** What the device's journal holds, from before this connection, in several calls perhaps; before any command is sent. */
  | { readonly kind: 'resume'; readonly running: readonly CommandId[]; readonly finished: readonly CommandId[] }
  /** Take commands for the device from now on. */
  | { readonly kind: 'open' }
  | { readonly kind: 'started'; readonly commandId: CommandId }
  | { readonly kind: 'result'; readonly commandId: CommandId; readonly outcome: CommandOutcome }
  /** Of any command id that the device says: whether it runs here is to be judged. */
  | { readonly kind: 'output'; readonly commandId: CommandId; readonly piece: OutputPiece }
  | { readonly kind: 'metrics'; readonly metrics: DeviceMetrics }
  /** The device says anew what it is and has. */
  | { readonly kind: 'telemetry'; readonly telemetry: ClientTelemetry }
  | { readonly kind: 'file'; readonly message: FileMessage }
  | { readonly kind: 'workspaces'; readonly message: WorkspaceMessage }
  /** Find out whose credential this is, then say `identified`. */
  | { readonly kind: 'identify'; readonly credential: string }
  /** What the device complains about. */
  | { readonly kind: 'complaint'; readonly error: string };

export type SessionStep = [Session, SessionEffect[]];

export const openSession = ({ id, expiresAt }: Identity, nowMs: number): Session => ({
  phase: 'AWAITING_REGISTER',
  identity: id,
  sinceMs: nowMs,
  answers: 0,
  credentialUntilMs: expiresAt === null ? null : Date.parse(expiresAt),
  renewing: false,
  renewedMs: -Infinity,
});

/** Whether frames have numbers now: after the confirmation, when both ends speak revision 2. */
export const isNumbered = (session: Session): boolean =>
  session.phase === 'RESUMING' || (session.phase === 'READY' && (session.client.revision ?? 0) >= NUMBERED_SINCE);

/** Whether the other end takes pieces of files as binary frames: who has offered it was told that we do. */
export const takesBytes = (session: Session): boolean =>
  isNumbered(session) && 'client' in session && session.client.takesBytes;

/** The revision since which frames are numbered and a device says what its journal holds. */
export const NUMBERED_SINCE = 2;

/** For the table of who may send what; undefined when nobody may send anything any more. */
export function senderOf(session: Session): FrameSender | undefined {
  if (session.phase === 'CLOSED') return undefined;
  const { phase, identity } = session;
  return { role: 'device', identity, phase, revision: 'client' in session ? session.client.revision : null };
}
