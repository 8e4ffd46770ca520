import {
  instantOf,
  AIP_CLOSE,
  AIP_LIMITS,
  AIP_REVISION,
  type ClientMessage,
  type CommandOutcome,
  type RegisterMessage,
  type ServerMessage,
  type SessionId,
} from '#proto';
import { commandOutcomeOf, dialectOf, listedAgents, listToolsMessages, placeOfListing } from '../commands/index.js';
import { sendAnswer, closeWith, errorMessage, sessionRefusal, sendAway } from './session-answers.js';
import { NUMBERED_SINCE } from './session-state.js';
import type { SessionIn, OpenSession, Session, SessionInput, SessionStep } from './session-state.js';
import { askTools, namedAgain, withListed } from './session-tools.js';
import { clientOf, fitting, toolsOf } from './telemetry.js';

/*
 * The protocol of a device connection, after the middleware: who may send what is judged before (permissions.ts), and
 * whatever gets here out of place is refused all the same.
 */

/** Each costs the registry a signature, which all connections share. */
const CREDENTIAL_EVERY_MS = 1_000;
/** More RESUMEs than a journal could need. */
const RESUME_FRAMES_MAX = 64;

/** Pure: one input, the next session and its effects, to be carried out in order. Every wrong frame gets an answer. */
export function step(session: Session, input: SessionInput, nowMs: number): SessionStep {
  if (session.phase === 'CLOSED') return [session, []];
  switch (input.kind) {
    case 'message':
      return onMessage(session, input.message, nowMs);
    case 'denied':
      return refuse(session, sessionRefusal(input.message, input.error), nowMs);
    case 'unreadable':
      return refuse(session, errorMessage(input.error), nowMs);
    case 'gap':
      return sendAway(session, { code: AIP_CLOSE.protocolError, error: input.error }, nowMs);
    case 'unacknowledged':
      return leave(AIP_CLOSE.unacknowledged, 'frames are not acknowledged');
    case 'tick':
      return onTick(session, nowMs);
    case 'claimed':
      return session.phase === 'CLAIMING' ? onClaimed(session, input.sessionId, nowMs) : [session, []];
    case 'claim-failed':
      return sendAway(session, CLAIM_FAILED, nowMs);
    case 'identified':
      return onIdentified(session, input, nowMs);
    case 'say':
      return [session, session.phase === 'READY' ? [{ kind: 'send', message: input.message }] : []];
    case 'ask-tools':
      return askTools(session, input.wanted, nowMs);
    case 'replaced':
      return leave(AIP_CLOSE.replaced, 'a newer connection of this device took over');
    case 'revoked':
      return leave(AIP_CLOSE.revoked, 'the credentials of this device count no more');
    case 'shutdown':
      return leave(AIP_CLOSE.goingAway, 'the gateway stops');
    case 'closed':
      return [{ phase: 'CLOSED' }, []];
  }
}

const CLAIM_FAILED = {
  code: AIP_CLOSE.tryAgainLater,
  error: 'the session could not be opened, try again later',
} as const;

const leave = (code: number, reason: string): SessionStep => [{ phase: 'CLOSED' }, [closeWith(code, reason)]];

/** Before REGISTER a wrong frame is the end: nobody knows what is at the other end. */
function refuse(session: OpenSession, refusal: ServerMessage, nowMs: number): SessionStep {
  if (session.phase !== 'AWAITING_REGISTER') return sendAnswer(session, refusal, nowMs);
  const why = 'error' in refusal ? refusal.error : undefined;
  const error = why === undefined || why === FIRST ? FIRST : `${FIRST}: ${why}`;
  return sendAway(session, { code: AIP_CLOSE.protocolError, error }, nowMs);
}

const FIRST = 'REGISTER comes first';

function onMessage(session: OpenSession, message: ClientMessage, nowMs: number): SessionStep {
  switch (message.type) {
    case 'register':
      return session.phase === 'AWAITING_REGISTER' ? onRegister(session, message, nowMs) : misplaced(session, nowMs);
    case 'heartbeat':
      return onHeartbeat(session, message, nowMs);
    case 'error':
      return [session, [{ kind: 'complaint', error: (message.error ?? '').slice(0, AIP_LIMITS.errorCharsMax) }]];
    case 'task_end':
    case 'ack':
      return [session, []];
    case 'task':
      return sendAnswer(session, sessionRefusal(message, 'a device client starts no tasks here'), nowMs);
    case 'credential':
      return onCredential(session, message.orrery.credential, nowMs);
    case 'resume':
      return session.phase === 'RESUMING' ? onResume(session, message, nowMs) : misplaced(session, nowMs);
    case 'command_results':
      if (session.phase === 'LISTING_TOOLS') return onTools(session, message, nowMs);
      return session.phase === 'READY' ? onResults(session, message, nowMs) : misplaced(session, nowMs);
    default:
      return session.phase === 'READY' ? onWork(session, message, nowMs) : misplaced(session, nowMs);
  }
}

type Of<T extends ClientMessage['type']> = Extract<ClientMessage, { type: T }>;

const misplaced = (session: OpenSession, nowMs: number): SessionStep =>
  refuse(session, errorMessage('this message has no place here'), nowMs);

function onRegister(session: SessionIn<'AWAITING_REGISTER'>, message: RegisterMessage, nowMs: number): SessionStep {
  const policy = (error: string): SessionStep => sendAway(session, { code: AIP_CLOSE.policy, error }, nowMs);
  if (message.client_type !== 'device') return policy('only device clients may register here');
  // The credential names the device; a client that names none, as ours does, has nothing to contradict it with.
  if ((message.client_id ?? session.identity) !== session.identity) {
    return policy('client_id does not match the credential of this connection');
  }
  const client = clientOf(message, AIP_REVISION);
  if (client.revision !== null) {
    return [{ ...session, phase: 'CLAIMING', client, sinceMs: nowMs }, [{ kind: 'claim', client }]];
  }
  const listing: SessionIn<'LISTING_TOOLS'> = { ...session, phase: 'LISTING_TOOLS', client, sinceMs: nowMs };
  const [confirmed, effects] = sendAnswer(listing, { type: 'heartbeat', status: 'ok' }, nowMs);
  const asked = listToolsMessages(dialectOf(client), nowMs);
  return [confirmed, [...effects, ...asked.map((message) => ({ kind: 'send', message }) as const)]];
}

function onTools(session: SessionIn<'LISTING_TOOLS'>, message: Of<'command_results'>, nowMs: number): SessionStep {
  const dialect = dialectOf(session.client);
  const place = placeOfListing(message.prev_response_id, dialect);
  if (place !== undefined) {
    const tools = toolsOf(message.action_results?.[0]);
    const listed = named(session, tools);
    // They answer in the order in which they are asked.
    return place === listedAgents(dialect).length - 1 ? claim(listed, nowMs) : [listed, []];
  }
  return sendAnswer(session, errorMessage('the registration is not confirmed yet'), nowMs);
}

/** With what the device has named for one of its agents. */
function named(session: SessionIn<'LISTING_TOOLS'>, tools: ReturnType<typeof toolsOf>): SessionIn<'LISTING_TOOLS'> {
  if (tools === undefined) return session;
  const { client } = session;
  const telemetry = fitting({ ...client.telemetry, tools: withListed(session, tools) });
  return { ...session, client: { ...client, toolsKnown: true, telemetry } };
}

function claim(session: SessionIn<'LISTING_TOOLS'>, nowMs: number): SessionStep {
  const { client } = session;
  return [{ ...session, phase: 'CLAIMING', client, sinceMs: nowMs }, [{ kind: 'claim', client }]];
}

function onClaimed(session: SessionIn<'CLAIMING'>, sessionId: SessionId, nowMs: number): SessionStep {
  const { revision } = session.client;
  const toolsAwaited = !session.client.toolsKnown;
  const ready: SessionIn<'READY'> = { ...session, phase: 'READY', sessionId, sinceMs: nowMs, ...FRESH, toolsAwaited };
  // A foreign client was answered when it registered.
  if (revision === null) return [ready, [{ kind: 'open' }]];
  if (revision < NUMBERED_SINCE) {
    const [open, effects] = sendAnswer(ready, confirmation(ready, nowMs), nowMs);
    return [open, [...effects, { kind: 'open' }]];
  }
  const resuming: SessionIn<'RESUMING'> = { ...ready, phase: 'RESUMING', frames: 0, running: 0 };
  return sendAnswer(resuming, confirmation(resuming, nowMs), nowMs);
}

const FRESH = { toldMs: -Infinity, toolsAskedMs: null, toolsAwaited: false } as const;

function confirmation(session: SessionIn<'READY' | 'RESUMING'>, nowMs: number): ServerMessage {
  const { client, sessionId, credentialUntilMs } = session;
  const revision = client.revision ?? 1;
  const orrery = { revision, session_id: sessionId, server_time: instantOf(nowMs) };
  if (revision < NUMBERED_SINCE) return { type: 'heartbeat', status: 'ok', orrery };
  const until = credentialUntilMs === null ? null : instantOf(credentialUntilMs);
  const more = { credential_until: until, ...(client.takesBytes && { binary_pieces: true }) };
  return { type: 'heartbeat', status: 'ok', orrery: { ...orrery, ...more } };
}

function onResume(session: SessionIn<'RESUMING'>, { orrery }: Of<'resume'>, nowMs: number): SessionStep {
  const { running, finished, more } = orrery;
  const next = { ...session, frames: session.frames + 1, running: session.running + running.length };
  if (next.running > AIP_LIMITS.commandsMax) {
    const error = `at most ${AIP_LIMITS.commandsMax} commands may run at a device`;
    return sendAway(session, { code: AIP_CLOSE.policy, error }, nowMs);
  }
  if (more && next.frames >= RESUME_FRAMES_MAX) {
    return sendAway(
      session,
      { code: AIP_CLOSE.policy, error: `RESUME has more than ${RESUME_FRAMES_MAX} frames` },
      nowMs,
    );
  }
  const resume = { kind: 'resume', running, finished } as const;
  if (more) return [next, [resume]];
  const { frames: _frames, running: _running, ...claimed } = next;
  const ready: SessionIn<'READY'> = { ...claimed, phase: 'READY', sinceMs: nowMs, ...FRESH };
  const [open, said] = sendAnswer(ready, { type: 'resumed', status: 'ok' }, nowMs);
  return [open, [resume, ...said, { kind: 'open' }]];
}

/** Answered whatever role and name it carries: who it is from is known from the connection. */
function onHeartbeat(session: OpenSession, { orrery }: Of<'heartbeat'>, nowMs: number): SessionStep {
  const [after, effects] = sendAnswer(session, { type: 'heartbeat', status: 'ok' }, nowMs);
  if (after.phase !== 'READY' || !orrery || !mayTell(after, nowMs)) return [after, effects];
  return [{ ...after, toldMs: nowMs }, [...effects, { kind: 'metrics', metrics: orrery.metrics }]];
}

/** How a device is doing is taken only so often, whatever it sends. */
const mayTell = ({ client, toldMs }: SessionIn<'READY'>, nowMs: number): boolean =>
  (client.revision ?? 0) >= NUMBERED_SINCE && nowMs - toldMs >= AIP_LIMITS.metricsEveryMs;

/** A foreign client may not name commands of ours; it echoes the id that the command was sent with. */
function onResults(session: SessionIn<'READY'>, message: Of<'command_results'>, nowMs: number): SessionStep {
  const ours = session.client.revision === null ? undefined : (message.orrery ?? undefined);
  const commandId = ours?.command_id ?? message.prev_response_id ?? undefined;
  if (commandId === undefined) return sendAnswer(session, errorMessage('command_results need prev_response_id'), nowMs);
  const dialect = dialectOf(session.client);
  const place = ours === undefined ? placeOfListing(commandId, dialect) : undefined;
  if (place !== undefined)
    return namedAgain(session, message.action_results?.[0], place === listedAgents(dialect).length - 1);
  const outcome = ours === undefined ? commandOutcomeOf(message.action_results?.[0]) : reported(ours.outcome);
  return [session, [{ kind: 'result', commandId, outcome }]];
}

/** A device that has a command cannot say that it was never sent. */
function reported(outcome: CommandOutcome): CommandOutcome {
  if (outcome.error?.sent === undefined) return outcome;
  const { sent: _, ...error } = outcome.error;
  return { ...outcome, error };
}

/** The rest of what a device says about its work. */
function onWork(session: SessionIn<'READY'>, message: ClientMessage, nowMs: number): SessionStep {
  switch (message.type) {
    case 'command_progress': {
      const { command_id: commandId, state } = message.orrery;
      return [session, state === 'running' ? [{ kind: 'started', commandId }] : []];
    }
    case 'command_output': {
      const { command_id: commandId, ...piece } = message.orrery;
      if (piece.text.length > AIP_LIMITS.outputChunkCharsMax) {
        const error = `a piece of output has at most ${AIP_LIMITS.outputChunkCharsMax} characters`;
        return sendAnswer(session, errorMessage(error), nowMs);
      }
      return [session, [{ kind: 'output', commandId, piece }]];
    }
    case 'device_info_response': {
      if (!message.orrery || !mayTell(session, nowMs)) return [session, []];
      const { telemetry, metrics } = message.orrery;
      return [
        { ...session, toldMs: nowMs },
        [
          { kind: 'telemetry', telemetry: fitting(telemetry) },
          { kind: 'metrics', metrics },
        ],
      ];
    }
    case 'file_begin':
    case 'file_chunk':
    case 'file_end':
    case 'file_request':
    case 'file_ack':
    case 'file_abort':
      return [session, [{ kind: 'file', message }]];
    case 'run_forgotten':
    case 'workspaces':
      return [session, [{ kind: 'workspaces', message }]];
    default:
      return misplaced(session, nowMs);
  }
}

function onCredential(session: OpenSession, credential: string, nowMs: number): SessionStep {
  if (session.renewing) return sendAnswer(session, errorMessage('a credential is being checked already'), nowMs);
  if (nowMs - session.renewedMs < CREDENTIAL_EVERY_MS) {
    return sendAnswer(session, errorMessage('a credential was checked a moment ago, send it again later'), nowMs);
  }
  return [{ ...session, renewing: true, renewedMs: nowMs }, [{ kind: 'identify', credential }]];
}

/** The old credential counts until it expires, whatever became of the new one. */
function onIdentified(
  session: OpenSession,
  { identity, error }: Extract<SessionInput, { kind: 'identified' }>,
  nowMs: number,
): SessionStep {
  if (!session.renewing) return [session, []];
  const asked = { ...session, renewing: false };
  if (identity === null) return sendAnswer(asked, errorMessage(error), nowMs);
  if (identity.id !== session.identity || identity.role !== 'device') {
    return sendAnswer(asked, errorMessage('the credential is not that of this device'), nowMs);
  }
  const credentialUntilMs = identity.expiresAt === null ? null : Date.parse(identity.expiresAt);
  const renewed = { ...asked, credentialUntilMs };
  return renewed.phase === 'READY' || renewed.phase === 'RESUMING'
    ? sendAnswer(renewed, confirmation(renewed, nowMs), nowMs)
    : [renewed, []];
}

function onTick(session: OpenSession, nowMs: number): SessionStep {
  const { credentialUntilMs, phase } = session;
  if (credentialUntilMs !== null && credentialUntilMs <= nowMs) {
    return leave(AIP_CLOSE.expired, 'the credential of this connection has expired');
  }
  const waitedMs = nowMs - session.sinceMs;
  const late = (error: string): SessionStep => sendAway(session, { code: AIP_CLOSE.policy, error }, nowMs);
  if (phase === 'AWAITING_REGISTER' && waitedMs >= AIP_LIMITS.registerWithinMs)
    return late('REGISTER did not come in time');
  if (phase === 'RESUMING' && waitedMs >= AIP_LIMITS.resumeWithinMs) return late('RESUME did not come in time');
  if (session.phase === 'LISTING_TOOLS' && waitedMs >= AIP_LIMITS.listToolsMs) return claim(session, nowMs);
  return [session, []];
}
