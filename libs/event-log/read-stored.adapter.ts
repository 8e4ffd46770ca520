import type { NatsConnection } from '@nats-io/transport-node';
import type { StreamName } from '#proto';
import { lastStored } from '#libs/messaging';
import { readCommits, type StreamEntry } from './read-commits.adapter.js';

/** The messages of these subjects that are stored by now, in order; what comes meanwhile is not waited for. */
export async function* readStored(
  nc: NatsConnection,
  stream: StreamName,
  filter: string,
  signal?: AbortSignal,
): AsyncGenerator<StreamEntry, void, undefined> {
  const end = await lastStored(nc, stream, filter);
  if (end === 0) return;
  const options = { afterSequence: 0, filter, ...(signal === undefined ? {} : { signal }) };
  for await (const entry of readCommits(nc, stream, options)) {
    yield entry;
    if (entry.sequence >= end) return;
  }
}
