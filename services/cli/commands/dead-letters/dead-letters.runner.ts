import { JetStreamApiCodes, JetStreamApiError, jetstreamManager, type SeqMsgRequest } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { query, QueryRefusedError, QueryUnavailableError } from '#libs/messaging';
import { QUERIES, STREAMS, subjects } from '#proto';
import { withBus } from '../../bus/index.js';
import { letterFrom, ofOneMessage, servicesOf, type Buried } from './dead-letter.js';
import {
  cleanLine,
  cleanText,
  clipToWidth,
  badInput,
  failure,
  unreachable,
  EXIT,
  type ExitCode,
  type CliContext,
  tell,
  tellTable,
} from '../../terminal/index.js';

const RETRY_MS_MAX = 10_000;
const REASON_CHARS_MAX = 80;
const PAYLOAD_CHARS_MAX = 20_000;
const QUERY_RETRY = 'dlq-retry';
/** One letter may have the size of the largest message; a list says what it is, `show` shows it. */
const LISTED_PAYLOAD_CHARS_MAX = 64 * 1024;
const { DLQ } = STREAMS;

/** One line of each message, by the first of its letters. */
export async function listDeadLetters(context: CliContext): Promise<ExitCode> {
  const letters = await withBus(context, allLetters);
  return tellTable(context, {
    json: { letters },
    rows: ofOneMessage(letters).flatMap((all) =>
      all.slice(0, 1).map((first) => ({ ...first, services: servicesOf(all) })),
    ),
    nothing: 'There are no dead letters.',
    columns: [
      { title: 'ID', value: ({ id }) => String(id) },
      { title: 'SERVICE', value: ({ services }) => services.join(', ') },
      { title: 'AT', value: ({ at }) => at, time: true, spare: true },
      {
        title: 'FROM',
        value: ({ stream, sequence }) => (stream === null ? '-' : `${stream} ${sequence ?? '?'}`),
      },
      { title: 'SUBJECT', value: ({ subject }) => subject },
      { title: 'REASON', value: ({ reason }) => clipToWidth(cleanLine(reason), REASON_CHARS_MAX) },
    ],
  });
}

export async function showDeadLetter(context: CliContext, id: number): Promise<ExitCode> {
  const letter = await withBus(context, (nc) => letterAt(nc, id));
  if (context.json) return tell(context, letter);
  const { payloadBase64, headers, ...facts } = letter;
  for (const [name, value] of Object.entries(facts))
    context.terminal.out(`${name.padEnd(10)} ${cleanLine(String(value))}`);
  for (const [name, values] of Object.entries(headers))
    context.terminal.out(cleanLine(`${name}: ${values.join(', ')}`));
  const payload = Buffer.from(payloadBase64, 'base64').toString('utf8');
  context.terminal.out(`\n${clipToWidth(cleanText(payload), PAYLOAD_CHARS_MAX)}`);
  return EXIT.ok;
}

/**
 * Asks every service that could not handle the message, and takes retries, to take it again, by its place in its stream: nothing is published
 * into a stream a second time.
 */
export async function retryDeadLetter(context: CliContext, id: number): Promise<ExitCode> {
  return withBus(context, async (nc) => {
    const letter = await letterAt(nc, id);
    const { service, stream, sequence, unreadable } = letter;
    if (unreadable) throw badInput(`Message ${id} is no dead letter; it cannot be retried, only dropped.`);
    if (stream === null || sequence === null)
      throw badInput(`Dead letter ${id} came from no stream; it cannot be retried.`);
    const takers = servicesOf(await siblingsOf(nc, letter)).filter(takesRetries);
    if (takers.length === 0) throw badInput(`The ${service} service takes no retries; the dead letter stays.`);
    for (const taker of takers) await retried(nc, { service: taker, stream, sequence });
    return tell(
      context,
      { id, services: takers, stream, sequence, retried: true },
      `${stream} ${sequence} was handed to ${takers.join(', ')} again; when all is well: orrery dlq drop ${id}`,
    );
  });
}

async function retried(
  nc: NatsConnection,
  { service, ...place }: { readonly service: RetryTaker; readonly stream: string; readonly sequence: number },
): Promise<void> {
  try {
    await query(nc, service, QUERY_RETRY, place, { timeoutMs: RETRY_MS_MAX });
  } catch (error) {
    if (error instanceof QueryUnavailableError) throw unreachable(`${error.message} The dead letter stays.`, error);
    if (error instanceof QueryRefusedError)
      throw failure(`The ${service} service says: ${error.refusal.message}`, error);
    throw error;
  }
}

type RetryTaker = 'orchestrator' | 'device-agent' | 'planner';

function takesRetries(service: string): service is RetryTaker {
  return Object.hasOwn(QUERIES, service) && QUERY_RETRY in QUERIES[service as keyof typeof QUERIES];
}

/** Deletes for good, with all letters of the same message; only the administrator's credential may. */
export async function dropDeadLetters(context: CliContext, ids: readonly number[]): Promise<ExitCode> {
  return withBus(
    context,
    async (nc) => {
      for (const id of ids) await letterAt(nc, id);
      const wanted = new Set(ids);
      const messages = ofOneMessage(await allLetters(nc)).filter((letters) => letters.some(({ id }) => wanted.has(id)));
      const dropped = messages.flat().map(({ id }) => id);
      const jsm = await jetstreamManager(nc, { checkAPI: false });
      for (const id of dropped) await jsm.streams.deleteMessage(DLQ.name, id);
      return tell(context, { dropped }, `dropped ${dropped.join(', ')}`);
    },
    { user: 'admin' },
  );
}

/** It, and those of the same message. */
async function siblingsOf(nc: NatsConnection, { id }: Buried): Promise<readonly Buried[]> {
  const messages = ofOneMessage(await allLetters(nc));
  return messages.find((letters) => letters.some((letter) => letter.id === id)) ?? [];
}

async function allLetters(nc: NatsConnection): Promise<Buried[]> {
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const { state } = await jsm.streams.info(DLQ.name);
  const letters: Buried[] = [];
  // The last number may be of one that was dropped, and what is buried meanwhile is for the next time.
  for (let seq = state.first_seq; seq <= state.last_seq;) {
    const from: SeqMsgRequest & { next_by_subj: string } = { seq, next_by_subj: subjects.anyDlq };
    const message = await jsm.streams.getMessage(DLQ.name, from);
    if (message === null || message.seq > state.last_seq) break;
    const letter = letterFrom(message);
    letters.push({ ...letter, payloadBase64: letter.payloadBase64.slice(0, LISTED_PAYLOAD_CHARS_MAX) });
    seq = message.seq + 1;
  }
  return letters;
}

async function letterAt(nc: NatsConnection, id: number): Promise<Buried> {
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const found = await jsm.streams.getMessage(DLQ.name, { seq: id }).catch((error: unknown) => {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.NoMessageFound) return null;
    throw error;
  });
  if (found === null) throw badInput(`There is no dead letter ${id}; see: orrery dlq ls`);
  return letterFrom(found);
}
