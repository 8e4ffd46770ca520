import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { StreamName } from '#proto';
import { readCommits, type StreamEntry } from './read-commits.adapter.js';

/** The messages of these subjects that are stored by now, in order; what comes meanwhile is not waited for. */
export async function* readStored(
  nc: NatsConnection,
  stream: StreamName,
  filter: string,
  signal?: AbortSignal,
): AsyncGenerator<StreamEntry, void, undefined> {
  const end = await lastSequence(nc, stream, filter);
  if (end === 0) return;
  const options = { afterSequence: 0, filters: [filter], ...(signal === undefined ? {} : { signal }) };
  for await (const entry of readCommits(nc, stream, options)) {
    yield entry;
    if (entry.sequence >= end) return;
  }
}

/** Of the last message of these subjects; 0 when there is none. */
export async function lastSequence(nc: NatsConnection, stream: StreamName, filter: string): Promise<number> {
  const manager = await jetstreamManager(nc, { checkAPI: false });
  const last = await manager.streams.getMessage(stream, { last_by_subj: filter });
  return last?.seq ?? 0;
}
