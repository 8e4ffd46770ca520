import { AIP_CLOSE, AIP_LIMITS, AIP_REVISION } from '#proto';
import type {
  ClientMessage,
  CommandId,
  CommandOutcome,
  CommandResultsMessage,
  DeviceId,
  ServerMessage,
  SessionId,
} from '#proto';
import { LIST_TOOLS_ID, listToolsMessage } from './command-message.js';
import { instantOf } from './instant.js';
import { outcomeOf } from './outcome.js';
import { clientOf, toolsOf, type RegisteredClient } from './telemetry.js';

/*
 * The server's side of one device connection. The identity is proven before the upgrade; the session is real only when
 * PRESENCE says so, and one of our devices is told only then. A foreign client must be answered before it names its tools.
 *
 *   AWAITING_REGISTER --REGISTER (ours)-----------------------> CLAIMING --claimed--> READY
 *           |          \--REGISTER (foreign)--> LISTING_TOOLS ----^  |                  |
 *           +--- 5 s, anything else --> CLOSED <--- claim failed ----+-- replaced, bye -+
 */
interface Connection {
  readonly identity: DeviceId;
  readonly sinceMs: number;
  /** Numbers our answers. */
  readonly answers: number;
}

export type Session =
  | (Connection & { readonly phase: 'AWAITING_REGISTER' })
  | (Connection & { readonly phase: 'LISTING_TOOLS' | 'CLAIMING'; readonly client: RegisteredClient })
  | (Connection & { readonly phase: 'READY'; readonly client: RegisteredClient; readonly sessionId: SessionId })
  | { readonly phase: 'CLOSED' };
type Open = Exclude<Session, { phase: 'CLOSED' }>;

export type SessionInput =
  | { readonly kind: 'message'; readonly message: ClientMessage }
  /** A frame that is no message; `error` says why. */
  | { readonly kind: 'unreadable'; readonly error: string }
  | { readonly kind: 'tick' }
  /** PRESENCE holds this session now. */
  | { readonly kind: 'claimed'; readonly sessionId: SessionId }
  | { readonly kind: 'claim-failed' }
  /** PRESENCE holds a newer session of the device. */
  | { readonly kind: 'replaced' }
  | { readonly kind: 'shutdown' }
  | { readonly kind: 'closed' };

export type SessionEffect =
  | { readonly kind: 'send'; readonly message: ServerMessage }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
  /** Write PRESENCE and take commands for the device, then say `claimed` or `claim-failed`. */
  | { readonly kind: 'claim'; readonly client: RegisteredClient }
  | { readonly kind: 'started'; readonly commandId: CommandId }
  | { readonly kind: 'result'; readonly commandId: CommandId; readonly outcome: CommandOutcome }
  /** What the device complains about. */
  | { readonly kind: 'complaint'; readonly error: string };

type Step = [Session, SessionEffect[]];

export const openSession = (identity: DeviceId, nowMs: number): Session => ({
  phase: 'AWAITING_REGISTER',
  identity,
  sinceMs: nowMs,
  answers: 0,
});

/** Pure: one input, the next session and its effects, to be carried out in order. Every wrong frame gets an answer. */
export function step(session: Session, input: SessionInput, nowMs: number): Step {
  if (session.phase === 'CLOSED') return [session, []];
  switch (input.kind) {
    case 'message':
      return onMessage(session, input.message, nowMs);
    case 'unreadable':
      return session.phase === 'AWAITING_REGISTER'
        ? refuse(session, `REGISTER comes first: ${input.error}`, AIP_CLOSE.protocolError, nowMs)
        : answer(session, errorMessage(input.error), nowMs);
    case 'tick':
      return onTick(session, nowMs);
    case 'claimed':
      return onClaimed(session, input.sessionId, nowMs);
    case 'claim-failed':
      return refuse(session, 'the session could not be opened, try again later', AIP_CLOSE.tryAgainLater, nowMs);
    case 'replaced':
      return [{ phase: 'CLOSED' }, [close(AIP_CLOSE.replaced, 'a newer connection of this device took over')]];
    case 'shutdown':
      return [{ phase: 'CLOSED' }, [close(AIP_CLOSE.goingAway, 'the gateway stops')]];
    case 'closed':
      return [{ phase: 'CLOSED' }, []];
  }
}

function onMessage(session: Open, message: ClientMessage, nowMs: number): Step {
  if (message.type === 'register') return onRegister(session, message, nowMs);
  if (session.phase === 'AWAITING_REGISTER') {
    return refuse(session, 'REGISTER comes first', AIP_CLOSE.protocolError, nowMs);
  }
  // Whatever role or name a heartbeat carries: who it is from is known from the connection.
  if (message.type === 'heartbeat') return answer(session, { type: 'heartbeat', status: 'ok' }, nowMs);
  if (message.type === 'error') {
    return [session, [{ kind: 'complaint', error: (message.error ?? '').slice(0, AIP_LIMITS.errorCharsMax) }]];
  }
  if ((message.client_id ?? session.identity) !== session.identity) {
    return answer(session, errorMessage('client_id does not match the registered connection'), nowMs);
  }
  if (message.type === 'command_progress') {
    const { command_id: commandId, state } = message.orrery;
    if (session.phase !== 'READY') return early(session, nowMs);
    return [session, state === 'running' ? [{ kind: 'started', commandId }] : []];
  }
  if (session.phase === 'LISTING_TOOLS' && message.prev_response_id === LIST_TOOLS_ID) {
    return claim(session, toolsOf(message.action_results?.[0]), nowMs);
  }
  return session.phase === 'READY' ? onResults(session, message, nowMs) : early(session, nowMs);
}

/** A foreign client may not name commands of ours; it echoes the id that the command was sent with. */
function onResults(session: Extract<Open, { phase: 'READY' }>, message: CommandResultsMessage, nowMs: number): Step {
  const ours = session.client.revision === null ? undefined : (message.orrery ?? undefined);
  const commandId = ours?.command_id ?? message.prev_response_id ?? undefined;
  if (commandId === undefined) return answer(session, errorMessage('command_results need prev_response_id'), nowMs);
  if (commandId === LIST_TOOLS_ID) return [session, []];
  const outcome = ours?.outcome ?? outcomeOf(message.action_results?.[0]);
  return [session, [{ kind: 'result', commandId, outcome }]];
}

const early = (session: Open, nowMs: number): Step =>
  answer(session, errorMessage('the registration is not confirmed yet'), nowMs);

function onRegister(session: Open, message: Extract<ClientMessage, { type: 'register' }>, nowMs: number): Step {
  if (session.phase !== 'AWAITING_REGISTER') {
    return answer(session, errorMessage('this connection is already registered'), nowMs);
  }
  if (message.client_type !== 'device') {
    return refuse(session, 'only device clients may register here', AIP_CLOSE.policy, nowMs);
  }
  // The credential names the device; a client that names none, as ours does, has nothing to contradict it with.
  if ((message.client_id ?? session.identity) !== session.identity) {
    return refuse(session, 'client_id does not match the credential of this connection', AIP_CLOSE.policy, nowMs);
  }
  const client = clientOf(message, AIP_REVISION);
  if (client.revision !== null) {
    return [{ ...session, phase: 'CLAIMING', client, sinceMs: nowMs }, [{ kind: 'claim', client }]];
  }
  const listing: Open = { ...session, phase: 'LISTING_TOOLS', client, sinceMs: nowMs };
  const [confirmed, effects] = answer(listing, { type: 'heartbeat', status: 'ok' }, nowMs);
  return [confirmed, [...effects, { kind: 'send', message: listToolsMessage(nowMs) }]];
}

function onTick(session: Open, nowMs: number): Step {
  const waitedMs = nowMs - session.sinceMs;
  if (session.phase === 'AWAITING_REGISTER' && waitedMs >= AIP_LIMITS.registerWithinMs) {
    return refuse(session, 'REGISTER did not come in time', AIP_CLOSE.policy, nowMs);
  }
  if (session.phase === 'LISTING_TOOLS' && waitedMs >= AIP_LIMITS.listToolsMs) return claim(session, undefined, nowMs);
  return [session, []];
}

function claim(
  session: Extract<Open, { client: RegisteredClient }>,
  tools: ReturnType<typeof toolsOf>,
  nowMs: number,
): Step {
  const { telemetry } = session.client;
  const client: RegisteredClient =
    tools === undefined ? session.client : { ...session.client, toolsKnown: true, telemetry: { ...telemetry, tools } };
  const { identity, answers } = session;
  return [{ phase: 'CLAIMING', identity, answers, client, sinceMs: nowMs }, [{ kind: 'claim', client }]];
}

function onClaimed(session: Open, sessionId: SessionId, nowMs: number): Step {
  if (session.phase !== 'CLAIMING') return [session, []];
  const { identity, answers, client } = session;
  const ready: Open = { phase: 'READY', identity, answers, client, sessionId, sinceMs: nowMs };
  if (client.revision === null) return [ready, []];
  const orrery = { revision: client.revision, session_id: sessionId, server_time: instantOf(nowMs) };
  return answer(ready, { type: 'heartbeat', status: 'ok', orrery }, nowMs);
}

function refuse(session: Open, error: string, code: number, nowMs: number): Step {
  const [, effects] = answer(session, errorMessage(error), nowMs);
  return [{ phase: 'CLOSED' }, [...effects, close(code, error.slice(0, CLOSE_REASON_CHARS_MAX))]];
}

/** A close frame has room for 123 bytes. */
const CLOSE_REASON_CHARS_MAX = 100;

const errorMessage = (error: string): ServerMessage => ({ type: 'error', status: 'error', error });

const close = (code: number, reason: string): SessionEffect => ({ kind: 'close', code, reason });

function answer<S extends Open>(session: S, message: ServerMessage, nowMs: number): [S, SessionEffect[]] {
  const answers = session.answers + 1;
  const stamped = { ...message, timestamp: instantOf(nowMs), response_id: `answer-${answers}` };
  return [{ ...session, answers }, [{ kind: 'send', message: stamped }]];
}
