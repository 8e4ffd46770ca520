import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { liveSubjectOf } from '#proto';

/** One who hears what the server tells of some subjects. */
export interface ToldReader {
  readonly hear: (message: Msg) => void;
  /** This user may not hear it. */
  readonly deny: (error: Error) => void;
  /** Nothing is told any more. */
  readonly end: () => void;
}

interface Told {
  readonly subscription: Subscription;
  readonly readers: Set<ToldReader>;
}

const toldOn = new WeakMap<NatsConnection, Map<string, Told>>();

/**
 * Hears what the server tells of these subjects from now on, until the function that is given is called. However many readers of a
 * connection hear the same, the server sends it to them once.
 */
export function hearTold(nc: NatsConnection, filter: string, reader: ToldReader): () => void {
  const all = toldOn.get(nc) ?? new Map<string, Told>();
  toldOn.set(nc, all);
  const told = all.get(filter) ?? subscribe(nc, filter, all);
  told.readers.add(reader);
  return () => {
    told.readers.delete(reader);
    if (told.readers.size > 0) return;
    forget(all, filter, told);
    if (!told.subscription.isClosed() && !nc.isClosed()) told.subscription.unsubscribe();
  };
}

function subscribe(nc: NatsConnection, filter: string, all: Map<string, Told>): Told {
  const readers = new Set<ToldReader>();
  const subscription = nc.subscribe(liveSubjectOf(filter), {
    callback: (error, message) => {
      // Who comes after a refusal asks anew: by then the right may be there.
      if (error !== null) forget(all, filter, told);
      for (const { hear, deny } of readers) {
        if (error === null) hear(message);
        else deny(error);
      }
    },
  });
  const told: Told = { subscription, readers };
  all.set(filter, told);
  void endWithIt(told, () => forget(all, filter, told));
  return told;
}

/** Where the subscription is over, nobody waits for a word of it. */
async function endWithIt({ subscription, readers }: Told, forgotten: () => void): Promise<void> {
  await subscription.closed;
  forgotten();
  for (const { end } of readers) end();
}

function forget(all: Map<string, Told>, filter: string, told: Told): void {
  if (all.get(filter) === told) all.delete(filter);
}
