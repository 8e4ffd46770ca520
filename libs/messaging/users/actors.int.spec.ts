import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { createUser } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import { ActorEntry, BUCKETS, subjects, type Actor, type EditGrant, type RevokedGrants } from '#proto';
import { busKeyOfSeed, grantIdOf, proveActor, signEditGrant } from '#libs/keys';
import { introduce, introduceWith, showActors, startTestNats, type TestNats } from '#libs/testing';
import { Actors, type ActorAnswer, type SenderAnswer } from './actors.adapter.js';
import { connectBus } from '../connection/bus.client.js';

const LOOK_MS = 10;
const NOW = Date.parse('2026-11-20T15:40:40.489Z');
const AT = new Date(NOW).toISOString();
const LATER = NOW + 60_000;
const ANNA: Actor = { kind: 'person', id: 'anna' };
const BERT: Actor = { kind: 'person', id: 'bert' };
const CARL: Actor = { kind: 'person', id: 'carl' };
const subject = subjects.verb('run-1', 'CANCEL');
const body = { id: 'verb-1' };

let server: TestNats;
let nc: NatsConnection;
let bucket: KV;
const opened: Actors[] = [];

beforeAll(async () => {
  server = await startTestNats({ provisioned: true });
  nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
  bucket = await new Kvm(jetstream(nc)).open(BUCKETS.ACTORS.bucket, { allow_direct: false });
});
beforeEach(() => leave(new Map([[newKey(), CARL]])));
afterEach(async () => {
  for (const actors of opened.splice(0)) await actors.end();
});
afterAll(async () => {
  await nc.close();
  await server.stop();
});

async function open(): Promise<Actors> {
  const actors = await Actors.open(nc);
  opened.push(actors);
  return actors;
}
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const keyOf = busKeyOfSeed;
const newSeed = (): string => text(createUser().getSeed());
const newKey = (): string => keyOf(newSeed());
const proofOf = (seed: string) => proveActor(seed, { subject, at: AT, body });
const ask = (actors: Actors, seed: string): SenderAnswer => actors.actorOf(proofOf(seed), { subject, body, now: NOW });

const newGrant = (seed: string, access: EditGrant['access'], runId = 'run-1'): EditGrant =>
  signEditGrant(seed, { runId, access, issuedAt: AT, expiresAt: new Date(LATER).toISOString() });
const mayUse = (actors: Actors, grant: EditGrant): ActorAnswer =>
  actors.grantOf(grant, { runId: grant.runId, access: grant.access, now: NOW });
const revokedAt = (at: string) => ({
  ok: false,
  refusal: { code: 'UNAUTHORIZED', message: `The grant was revoked at ${at}.`, issues: [] },
});

const entry = async (id: string): Promise<object> => ActorEntry.parse((await bucket.get(id))?.json());
const allowed = (answer: SenderAnswer): readonly string[] => (answer.ok ? answer.roles : []);
const isRevoked = (answer: ActorAnswer): boolean => JSON.stringify(answer) === JSON.stringify(revokedAt(AT));

async function revoke(by: NatsConnection, key: string, grant: EditGrant): Promise<void> {
  const grants = { kind: 'grant', grantId: grantIdOf(grant) } as const;
  const revoked: RevokedGrants = { by: BERT, reason: '', revokedAt: AT, grants };
  await (await new Kvm(jetstream(by)).open(BUCKETS.REVOKED_GRANTS.bucket)).put(key, JSON.stringify(revoked));
}

/** Takes everybody out of the bucket but these. */
async function leave(
  actors: ReadonlyMap<string, Actor>,
  by: NatsConnection = nc,
  others: readonly string[] = [],
): Promise<void> {
  const kept = await new Kvm(jetstream(by)).open(BUCKETS.ACTORS.bucket, { allow_direct: false });
  await showActors(by, actors);
  for await (const key of await kept.keys()) if (!actors.has(key) && !others.includes(key)) await kept.purge(key);
}

/** Waits for a fact; ends with the test's own limit only. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) {
    if (nc.isClosed()) throw new Error('it never came');
    await sleep(LOOK_MS);
  }
}

describe('an entry of the registry', () => {
  it('says what its actor is trusted with, and stays in force until it is revoked', async () => {
    const seed = await introduceWith(nc, ANNA, ['viewer', 'approver']);
    const actors = await open();
    expect(ask(actors, seed)).toEqual({
      ok: true,
      actor: ANNA,
      namespace: 'anna',
      roles: ['viewer', 'approver'],
      mayVouch: false,
    });
    await bucket.put('anna', JSON.stringify({ ...(await entry('anna')), roles: ['viewer'] }));
    await until(() => allowed(ask(actors, seed)).length === 1);
    const keys = [{ key: keyOf(seed), from: AT, until: AT }];
    await bucket.put('anna', JSON.stringify({ ...(await entry('anna')), keys }));
    await until(() => !ask(actors, seed).ok);
    const message = `The key ${keyOf(seed)} of anna was revoked at ${AT}.`;
    expect(ask(actors, seed)).toMatchObject({ ok: false, refusal: { code: 'UNAUTHORIZED', message } });
  });

  it('is found the moment after it was written, by its key and by its name', async () => {
    const actors = await open();
    for (let round = 0; round < 50; round++) {
      const id = `new-${round}`;
      const seed = await introduceWith(nc, { kind: 'external', id }, ['requester']);
      const who = round % 2 === 0 ? { key: keyOf(seed) } : { id };
      await actors.lookFor(who);
      expect([round, allowed(ask(actors, seed)), actors.actorNamed(id)?.roles]).toEqual([
        round,
        ['requester'],
        ['requester'],
      ]);
    }
    const stranger = newSeed();
    await actors.lookFor({ key: keyOf(stranger) });
    const message = `The key ${keyOf(stranger)} stands for nobody here.`;
    expect(ask(actors, stranger)).toMatchObject({ ok: false, refusal: { code: 'UNAUTHORIZED', message } });
  });

  it('counts as an approver while it is a living person who may approve and speaks for nobody else', async () => {
    const anna = await introduceWith(nc, ANNA, ['approver']);
    await introduceWith(nc, BERT, ['operator']);
    await introduceWith(nc, { kind: 'system', id: 'robot' }, ['approver']);
    await introduceWith(nc, { kind: 'person', id: 'door' }, ['approver']);
    await bucket.put('door', JSON.stringify({ ...(await entry('door')), mayVouch: true }));
    await leave(new Map(), nc, ['anna', 'bert', 'robot', 'door']);
    const actors = await open();
    expect(actors.directory.approvers()).toEqual([ANNA]);
    await bucket.put('anna', JSON.stringify({ ...(await entry('anna')), keys: [], revokedAt: AT }));
    await until(() => !ask(actors, anna).ok);
    expect(actors.directory.approvers()).toEqual([]);
  });

  it('stands for nobody under another name than its own', async () => {
    const seed = await introduceWith(nc, ANNA, ['admin']);
    await bucket.put('bert', JSON.stringify(await entry('anna')));
    await bucket.purge('anna');
    const actors = await open();
    expect(ask(actors, seed).ok).toBe(false);
  });
});

describe('Actors', () => {
  it('opens on an empty bucket, sends nobody away for good, and knows who comes later', async () => {
    await leave(new Map());
    const actors = await open();
    const early = text(createUser().getSeed());
    expect(ask(actors, early)).toMatchObject({ ok: false, refusal: { code: 'TRY_AGAIN' } });
    const seed = await introduce(nc, ANNA);
    await until(() => ask(actors, seed).ok);
    expect(ask(actors, seed)).toMatchObject({ ok: true, actor: ANNA, namespace: 'default' });
  });

  it('knows everybody who is there when it is open', async () => {
    const seeds = [await introduce(nc, ANNA), await introduce(nc, BERT)] as const;
    const actors = await open();
    expect(seeds.map((seed) => ask(actors, seed))).toMatchObject([
      { ok: true, actor: ANNA },
      { ok: true, actor: BERT },
    ]);
  });

  it('refuses a key that stands for nobody, whatever it has signed', async () => {
    const actors = await open();
    const seed = new TextDecoder().decode(createUser().getSeed());
    expect(ask(actors, seed)).toEqual({
      ok: false,
      refusal: {
        code: 'UNAUTHORIZED',
        message: `The key ${keyOf(seed)} stands for nobody here.`,
        issues: [],
      },
    });
  });

  it("refuses what somebody signs with another's name, or with another body", async () => {
    const [anna, bert] = [await introduce(nc, ANNA), await introduce(nc, BERT)];
    const actors = await open();
    const forged = { ...proofOf(bert), key: keyOf(anna) };
    const unfit = { ok: false, refusal: { code: 'UNAUTHORIZED', message: expect.stringMatching(/does not fit/u) } };
    expect(actors.actorOf(forged, { subject, body, now: NOW })).toMatchObject(unfit);
    expect(actors.actorOf(proofOf(anna), { subject, body: { id: 'verb-2' }, now: NOW })).toMatchObject(unfit);
  });

  it('no longer knows a key that was taken out', async () => {
    const seed = await introduce(nc, ANNA);
    const actors = await open();
    expect(ask(actors, seed).ok).toBe(true);
    await leave(new Map([[newKey(), CARL]]));
    await until(() => !ask(actors, seed).ok);
  });

  it('knows by a grant who allows something: persons only, and only as long as they are known', async () => {
    const seeds = [await introduce(nc, ANNA), await introduce(nc, { kind: 'system', id: 'aip-gateway' })] as const;
    const actors = await open();
    const expiresAt = new Date(LATER).toISOString();
    const [anna, gateway] = seeds.map((seed) =>
      signEditGrant(seed, { runId: 'run-1', access: 'edit', issuedAt: AT, expiresAt }),
    );
    if (anna === undefined || gateway === undefined) throw new Error('there are two');
    const use = { runId: 'run-1', now: NOW };
    const refusedFor = (message: RegExp) => ({
      ok: false,
      refusal: { code: 'UNAUTHORIZED', message: expect.stringMatching(message) },
    });
    expect(actors.grantOf(anna, use)).toEqual({ ok: true, actor: ANNA });
    expect(actors.grantOf(anna, { ...use, runId: 'run-2' })).toMatchObject(refusedFor(/for run run-1/u));
    expect(actors.grantOf({ ...anna, access: 'read' }, use)).toMatchObject(refusedFor(/does not fit/u));
    expect(actors.grantOf(gateway, use)).toMatchObject(refusedFor(/of kind system; only a person/u));
    const reads = signEditGrant(seeds[0], { runId: 'run-1', access: 'read', issuedAt: AT, expiresAt });
    expect(actors.grantOf(reads, use)).toMatchObject(refusedFor(/lets read only/u));
    expect(actors.grantOf(reads, { ...use, access: 'read' })).toEqual({ ok: true, actor: ANNA });
    await leave(new Map([[newKey(), CARL]]));
    await until(() => !actors.grantOf(anna, use).ok);
    expect(actors.grantOf(anna, use)).toMatchObject(refusedFor(/stands for nobody/u));
  });

  it('knows the grants that were revoked before it was open, and those that are revoked later', async () => {
    const seed = await introduce(nc, ANNA);
    const [before, after, other] = [newGrant(seed, 'read'), newGrant(seed, 'edit'), newGrant(seed, 'edit', 'run-2')];
    await revoke(nc, 'kept', before);
    const actors = await open();
    expect(mayUse(actors, before)).toEqual(revokedAt(AT));
    expect([mayUse(actors, after), mayUse(actors, other)]).toEqual([
      { ok: true, actor: ANNA },
      { ok: true, actor: ANNA },
    ]);
    await revoke(nc, 'later', after);
    await until(() => !mayUse(actors, after).ok);
    expect(mayUse(actors, after)).toEqual(revokedAt(AT));
    expect(mayUse(actors, other).ok).toBe(true);
  });

  it('forgets no revocation that it knew, whatever becomes of the bucket', async () => {
    const seed = await introduce(nc, ANNA);
    const [gone, left] = [newGrant(seed, 'read'), newGrant(seed, 'edit')];
    await revoke(nc, 'gone', gone);
    const actors = await open();
    const revoked = await new Kvm(jetstream(nc)).open(BUCKETS.REVOKED_GRANTS.bucket);
    await revoked.put('unread', 'not JSON');
    await revoked.purge('gone');
    await revoke(nc, 'left', left);
    await until(() => !mayUse(actors, left).ok);
    expect(mayUse(actors, gone)).toEqual(revokedAt(AT));
  });

  it('takes a value that it cannot read for nobody', async () => {
    const seed = await introduce(nc, ANNA);
    const actors = await open();
    await bucket.put(keyOf(seed), JSON.stringify({ actor: ANNA, since: AT, admin: true }));
    await until(() => !ask(actors, seed).ok);
  });

  it.each([BUCKETS.ACTORS.bucket, BUCKETS.REVOKED_GRANTS.bucket])('cannot be opened without %s', async (missing) => {
    const empty = await startTestNats();
    const alone = await connectBus({ url: empty.url, name: 'alone', inboxPrefix: '_INBOX_alone' });
    const kvm = new Kvm(jetstream(alone));
    for (const name of [BUCKETS.ACTORS.bucket, BUCKETS.REVOKED_GRANTS.bucket]) {
      if (name !== missing) await kvm.create(name);
    }
    await expect(Actors.open(alone)).rejects.toThrow();
    await alone.close();
    await empty.stop();
  });

  it('lets nobody in by a grant from when the connection breaks until everything is read anew', async () => {
    const seed = await introduce(nc, ANNA);
    const own = await connectBus({ url: server.url, name: 'lost', inboxPrefix: '_INBOX_lost' });
    const actors = await Actors.open(own);
    const [revoked, other] = [newGrant(seed, 'read'), newGrant(seed, 'edit')];
    // A word of the server that is lost: nobody is told of this one.
    const { streams } = await jetstreamManager(nc);
    const stream = `KV_${BUCKETS.REVOKED_GRANTS.bucket}`;
    const { republish } = (await streams.info(stream)).config;
    if (republish === undefined) throw new Error('it is told of');
    await streams.update(stream, { republish: { ...republish, dest: 'elsewhere.>' } });
    await revoke(nc, 'missed', revoked);
    await streams.update(stream, { republish });
    expect(mayUse(actors, revoked).ok).toBe(true);
    const heard: string[] = [];
    const hear = (answer = mayUse(actors, revoked)): boolean => {
      const word = answer.ok ? 'yes' : answer.refusal.code;
      if (word !== heard.at(-1)) heard.push(word);
      return isRevoked(answer);
    };
    const reconnected = own.reconnect();
    while (!hear()) await turn();
    expect(heard).toEqual(['yes', 'TRY_AGAIN', 'UNAUTHORIZED']);
    await reconnected;
    await until(() => mayUse(actors, other).ok);
    await actors.end();
    await own.close();
  });

  it('finds out who was taken out, and what was revoked, while the connection was down', async () => {
    const seed = await introduce(nc, ANNA);
    const berts = await introduce(nc, BERT);
    const [known, unknown] = [newGrant(berts, 'read'), newGrant(berts, 'edit')];
    await revoke(nc, 'known', known);
    const own = await connectBus({ url: server.url, name: 'own', inboxPrefix: '_INBOX_own' });
    const actors = await Actors.open(own);
    await server.kill9();
    await server.restart();
    const back = await connectBus({ url: server.url, name: 'back', inboxPrefix: '_INBOX_back' });
    await leave(new Map([[keyOf(berts), BERT]]), back);
    await revoke(back, 'unknown', unknown);
    const left = await introduce(back, BERT);
    await back.close();
    // The two buckets are followed by themselves: either may be first.
    await until(() => !ask(actors, seed).ok && ask(actors, left).ok && isRevoked(mayUse(actors, unknown)));
    expect([mayUse(actors, known), mayUse(actors, unknown)]).toEqual([revokedAt(AT), revokedAt(AT)]);
    await actors.end();
    await own.close();
  });
});
