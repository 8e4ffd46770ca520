import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, KnownActor, parseJson, type Actor } from '#proto';

export interface ActorsOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** On a bus that is not ours, keys that we do not know are somebody else's: they stay as they are. Default false. */
  readonly keepOthers?: boolean;
}

/** Public keys. */
export interface ProvisionedActors {
  readonly written: readonly string[];
  readonly removed: readonly string[];
}

/** Makes ACTORS say whom these keys stand for, and nothing else; as often as you like. Needs the administrator's credential. */
export async function provisionActors(
  nc: NatsConnection,
  actors: ReadonlyMap<string, Actor>,
  { now, keepOthers = false }: ActorsOptions,
): Promise<ProvisionedActors> {
  const bucket = await new Kvm(jetstream(nc, { checkAPI: false })).open(BUCKETS.ACTORS.bucket, { allow_direct: false });
  const stored = await storedActors(bucket);
  const written: string[] = [];
  for (const [key, actor] of actors) {
    const before = stored.get(key);
    if (before?.kind === actor.kind && before.id === actor.id) continue;
    if (before !== undefined && keepOthers) continue;
    const known: KnownActor = { actor, since: new Date(now).toISOString() };
    await bucket.put(key, JSON.stringify(known));
    written.push(key);
  }
  const removed = keepOthers ? [] : [...stored.keys()].filter((key) => !actors.has(key));
  for (const key of removed) await bucket.purge(key);
  return { written, removed };
}

/** By key; undefined for what cannot be read. */
async function storedActors(bucket: KV): Promise<Map<string, Actor | undefined>> {
  const keys: string[] = [];
  for await (const key of await bucket.keys()) keys.push(key);
  const entries = keys.map(async (key) => {
    const entry = await bucket.get(key);
    return [key, entry === null ? undefined : KnownActor.safeParse(parseJson(entry.value)).data?.actor] as const;
  });
  return new Map(await Promise.all(entries));
}
