import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { createUser } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import { ActorEntry, BUCKETS, type Actor, type ActorCommit } from '#proto';
import { openActorLog, type Stored } from '#libs/event-log';
import { busKeyOfSeed } from '#libs/keys';
import {
  query,
  QueryRefusedError,
  renderActors,
  type QueryAnswer,
  type QueryName,
  type QueryRequest,
} from '#libs/messaging';

export const newSeed = (): string => new TextDecoder().decode(createUser().getSeed());
export const publicKeyOf = busKeyOfSeed;

type Order = 'access' | Extract<QueryName<'registry'>, `people${string}` | `token${string}` | `content${string}`>;

/** A limit for what hangs: what is slow has a busy machine. */
const ANSWER_MS = 60_000;

/** Asks the registry as whoever has the seed. */
export function askAs<N extends Order>(
  nc: NatsConnection,
  seed: string,
  name: N,
  body: object,
): Promise<QueryAnswer<'registry', N>> {
  const options = { signer: { seed, now: Date.now }, timeoutMs: ANSWER_MS };
  return query(nc, 'registry', name, body as QueryRequest<'registry', N>, options);
}

/** Why it was refused, or the answer. */
export async function refusalOf(asked: Promise<unknown>): Promise<unknown> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof QueryRefusedError) return error.refusal;
    throw error;
  }
}

/** A file as whoever makes the keys writes it. */
export async function actorsFileOf(actors: ReadonlyMap<string, Actor>): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'orrery-test-actors-')), 'actors.json');
  await writeFile(file, renderActors(actors));
  return file;
}

export function openBucket(nc: NatsConnection): Promise<KV> {
  return new Kvm(jetstream(nc)).open(BUCKETS.ACTORS.bucket, { allow_direct: false });
}

/** What the bucket says of an actor. */
export async function shown(nc: NatsConnection, actorId: string): Promise<ActorEntry | undefined> {
  const entry = await (await openBucket(nc)).get(actorId);
  return entry === null ? undefined : ActorEntry.safeParse(entry.operation === 'PUT' ? entry.json() : null).data;
}

export const commitsOf = (nc: NatsConnection, actorId: string): Promise<Stored<ActorCommit>[]> =>
  openActorLog(nc).load(actorId);

export async function typesOf(nc: NatsConnection, actorId: string): Promise<string[]> {
  return (await commitsOf(nc, actorId)).flatMap(({ commit }) => commit.events.map(({ type }) => type));
}
