import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { liveSubjectOf } from '#proto';
import { Recent, type RecentMessage } from './recent.js';

/** What the server puts on a message that it tells of: its place, that of the one before it on the same subject, and its subject. */
const HEADERS = { sequence: 'Nats-Sequence', before: 'Nats-Last-Sequence', subject: 'Nats-Subject' } as const;
/** Of one that is told of without its content. */
const HEADER_SIZE = 'Nats-Msg-Size';

/** A message as it was told, read once for all who hear it. */
export interface ToldMessage extends RecentMessage {
  readonly subject: string;
  readonly message: Msg;
}

/** One who hears what the server tells of some subjects. */
export interface ToldReader {
  readonly hear: (told: ToldMessage) => void;
  /** This user may not hear it. */
  readonly deny: (error: Error) => void;
  /** Nothing is told any more. */
  readonly end: () => void;
}

/** What is told on some subjects, and who hears it. */
interface Telling {
  readonly subscription: Subscription;
  readonly readers: Set<ToldReader>;
  readonly recent: Recent<ToldMessage>;
}

/** What somebody hears. */
export interface Hearing {
  readonly recent: Recent<ToldMessage>;
  /** Ends it. */
  readonly stop: () => void;
}

const tellingsOn = new WeakMap<NatsConnection, Map<string, Telling>>();

/**
 * Hears what the server tells of these subjects from now on, until it is stopped. However many readers of a connection hear the same,
 * the server sends it to them once, and what came last is kept once.
 */
export function hearTold(nc: NatsConnection, filter: string, reader: ToldReader): Hearing {
  const all = tellingsOn.get(nc) ?? new Map<string, Telling>();
  tellingsOn.set(nc, all);
  const telling = all.get(filter) ?? subscribe(nc, filter, all);
  telling.readers.add(reader);
  const stop = (): void => {
    telling.readers.delete(reader);
    if (telling.readers.size > 0) return;
    forget(all, filter, telling);
    if (!telling.subscription.isClosed() && !nc.isClosed()) telling.subscription.unsubscribe();
  };
  return { recent: telling.recent, stop };
}

function subscribe(nc: NatsConnection, filter: string, all: Map<string, Telling>): Telling {
  const readers = new Set<ToldReader>();
  const recent = new Recent<ToldMessage>();
  const subscription = nc.subscribe(liveSubjectOf(filter), {
    callback: (error, message) => {
      // Who comes after a refusal asks anew: by then the right may be there.
      if (error !== null) {
        forget(all, filter, telling);
        for (const { deny } of readers) deny(error);
        return;
      }
      const told = toldMessage(message);
      recent.add(told);
      for (const { hear } of readers) hear(told);
    },
  });
  const telling: Telling = { subscription, readers, recent };
  all.set(filter, telling);
  void endWithIt(telling, () => forget(all, filter, telling));
  return telling;
}

function toldMessage(message: Msg): ToldMessage {
  const { headers, data } = message;
  const number = (name: string): number => Number(headers?.get(name) ?? 0);
  return {
    seq: number(HEADERS.sequence),
    before: number(HEADERS.before),
    bytes: headers?.has(HEADER_SIZE) === true ? 0 : data.length,
    subject: headers?.get(HEADERS.subject) ?? '',
    message,
  };
}

/** Where the subscription is over, nobody waits for a word of it. */
async function endWithIt({ subscription, readers }: Telling, forgotten: () => void): Promise<void> {
  await subscription.closed;
  forgotten();
  for (const { end } of readers) end();
}

function forget(all: Map<string, Telling>, filter: string, telling: Telling): void {
  if (all.get(filter) === telling) all.delete(filter);
}
