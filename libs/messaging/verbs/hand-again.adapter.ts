import { JetStreamApiCodes, JetStreamApiError, jetstreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { BusMessage, Outcome } from '../durables/index.js';
import { refused } from './refused.js';

/** What handles the messages of each stream that a service reads. */
export type StreamHandlers = Readonly<Record<string, (message: BusMessage) => Promise<Outcome>>>;

/**
 * Hands a stored message to its handler again, by its place in its stream: for a dead letter whose cause was mended. Handlers
 * are idempotent, so a message that was handled after all changes nothing. Throws QueryRefusedError when it is still bad.
 */
export async function handAgain(
  nc: NatsConnection,
  { stream, sequence }: { stream: string; sequence: number },
  handlers: StreamHandlers,
): Promise<{ handled: true }> {
  const handler = Object.hasOwn(handlers, stream) ? handlers[stream] : undefined;
  if (handler === undefined) throw refused('NOT_FOUND', `It takes no inputs from ${stream}.`);
  const outcome = await handler(asMessage(stream, await stored(nc, stream, sequence)));
  if (outcome.kind === 'poison') throw refused('INVALID_REQUEST', `It is still bad: ${outcome.reason}.`);
  if (outcome.kind === 'retry') throw refused('TRY_AGAIN', `It could not be handled now: ${outcome.reason}.`);
  return { handled: true };
}

async function stored(nc: NatsConnection, stream: string, sequence: number): Promise<StoredMsg> {
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const message = await jsm.streams.getMessage(stream, { seq: sequence }).catch((error: unknown) => {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.NoMessageFound) return null;
    throw error;
  });
  if (message === null) throw refused('NOT_FOUND', `${stream} has no message ${sequence} any more.`);
  return message;
}

/** As a first delivery would not do: its handler has to look whether another replica did. */
function asMessage(stream: string, { subject, data, header, seq }: StoredMsg): BusMessage {
  return {
    subject,
    data,
    stream,
    sequence: seq,
    deliveries: 2,
    pending: 0,
    header: (name) => (header.has(name) ? header.get(name) : undefined),
    headers: () => Object.fromEntries(header.keys().map((key) => [key, header.values(key)])),
  };
}
