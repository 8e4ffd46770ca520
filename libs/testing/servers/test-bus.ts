import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createUser } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import { busKeyOfSeed, busUsers } from '#libs/keys';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { actorsOf, connectBus, natsUsers, signsQueries } from '#libs/messaging';
import { BUCKETS, type Actor, type ActorEntry, type GivenLimits, type KnownActor, type Role } from '#proto';
import { startTestNats, type TestNats, type TestNatsOptions } from './nats-server.js';

/** A server that knows every user of the bus, provisioned as a system provisions it: streams, durables, buckets, actors. */
export interface TestBus {
  readonly server: TestNats;
  /** The connection of a user, made once; what is asked by it is signed with his key. */
  as(user: string): Promise<NatsConnection>;
  readonly seedFile: (user: string) => string;
  /** What a user signs its commands with. */
  seedOf(user: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startTestBus(options: Pick<TestNatsOptions, 'maxFileStore'> = {}): Promise<TestBus> {
  const directory = await mkdtemp(join(tmpdir(), 'orrery-test-keys-'));
  const seedFile = (user: string): string => join(directory, `${user}.seed`);
  const users = await busUsers(natsUsers(), { seedFile, passwordFile: (user) => join(directory, `${user}.password`) });
  const server = await startTestNats({ ...options, users, provisioned: true });
  const connections = new Map<string, Promise<NatsConnection>>();
  const seedOf = async (user: string): Promise<string> => (await readFile(seedFile(user), 'utf8')).trim();
  const signing = async (user: string, made: Promise<NatsConnection>): Promise<NatsConnection> => {
    const nc = await made;
    // An administrator of the bus asks services as the person he is.
    signsQueries(nc, { seed: await seedOf(user === 'admin' ? 'cli' : user), now: Date.now });
    return nc;
  };
  const as = (user: string): Promise<NatsConnection> => {
    const known = connections.get(user);
    if (known !== undefined) return known;
    // It is there, and knows the key: a dial that comes to nothing was too slow for a busy machine.
    const nc = signing(
      user,
      connectBus({
        url: server.url,
        name: user,
        inboxPrefix: `_INBOX_${user}`,
        seedFile: seedFile(user),
        waitForServer: true,
      }),
    );
    connections.set(user, nc);
    return nc;
  };
  const admin = await as('admin');
  await showActors(admin, actorsOf(users));
  return {
    server,
    as,
    seedFile,
    seedOf,
    stop: async () => {
      for (const nc of connections.values()) await (await nc).close();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Of a person; its public key is made by the runtime, a hundred times faster than the package of nkeys makes it. */
const newSeed = (): string => new TextDecoder().decode(createUser().getSeed());

/** Makes somebody known on a bus that is provisioned already, also an open one; gives the seed to sign commands with. */
export async function introduce(nc: NatsConnection, actor: Actor): Promise<string> {
  const seed = newSeed();
  await showActors(nc, new Map([[busKeyOfSeed(seed), actor]]));
  return seed;
}

/** Writes whom these keys stand for as version 0.1.0 did: a registry, where there is one, makes facts of it when it starts. */
export async function showActors(nc: NatsConnection, actors: ReadonlyMap<string, Actor>): Promise<void> {
  const bucket = await new Kvm(jetstream(nc, { checkAPI: false })).open(BUCKETS.ACTORS.bucket);
  for (const [key, actor] of actors) {
    const known: KnownActor = { actor, since: new Date().toISOString() };
    await bucket.put(key, JSON.stringify(known));
  }
}

interface Given {
  readonly limits?: GivenLimits;
  readonly namespace?: string;
}

/** Makes somebody known with these roles only, where there is no registry; gives one more seed to sign commands with. */
export async function introduceWith(
  nc: NatsConnection,
  actor: Actor,
  roles: Role[],
  { limits = {}, namespace = actor.id }: Given = {},
): Promise<string> {
  const seed = newSeed();
  const bucket = await new Kvm(jetstream(nc, { checkAPI: false })).open(BUCKETS.ACTORS.bucket);
  const before = await bucket.get(actor.id);
  const known = before?.operation === 'PUT' ? before.json<ActorEntry>().keys : [];
  const keys = [...known, { key: busKeyOfSeed(seed), from: new Date().toISOString() }];
  const entry: ActorEntry = { actor, roles, namespace, limits, keys, tokens: [], logins: [], revision: 1 };
  await bucket.put(actor.id, JSON.stringify(entry));
  return seed;
}
