import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { BUCKETS, GRANTS_ID, RevokedGrants, subjects, type GrantSelection } from '#proto';
import { grantIdOf, proveActor, signEditGrant } from '#libs/keys';
import { Actors, query, QueryRefusedError, type QueryAnswer } from '#libs/messaging';
import { askRaw, introduce } from '#libs/testing';
import { Rig, until } from '../rig.testing.js';

const HOUR_MS = 3_600_000;
const AHEAD_MS = 240_000;

let rig: Rig;
let bucket: KV;
let anna: string;
beforeAll(async () => {
  rig = await Rig.start();
  bucket = await new Kvm(jetstream(rig.nc)).open(BUCKETS.REVOKED_GRANTS.bucket);
  anna = await introduce(rig.nc, { kind: 'person', id: 'anna' });
});
afterEach(() => rig.stopRegistries());
afterAll(() => rig.stop());

const idOf = (letter: string): GrantSelection => ({ kind: 'grant', grantId: letter.repeat(64) });

function revoke(
  grants: GrantSelection,
  seed = anna,
  signed: GrantSelection = grants,
): Promise<QueryAnswer<'registry', 'revoke-grants'>> {
  const at = new Date().toISOString();
  const subject = subjects.query('registry', 'revoke-grants');
  const actor = proveActor(seed, { subject, at, body: { grants: signed, reason: 'stolen' } });
  return askRaw(rig.nc, subject, { grants, reason: 'stolen', actor }) as Promise<never>;
}

async function shown(): Promise<RevokedGrants[]> {
  const keys: string[] = [];
  for await (const key of await bucket.keys()) keys.push(key);
  const entries = keys.map(Number).toSorted((a, b) => a - b);
  return Promise.all(entries.map(async (key) => RevokedGrants.parse((await bucket.get(String(key)))?.json())));
}

const refusalOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.catch((error: unknown) => (error instanceof QueryRefusedError ? error.refusal : error));

describe('revoked grants', () => {
  it('are in the bucket when it is answered, once, with who said so', async () => {
    await rig.startRegistry();
    const bert = await introduce(rig.nc, { kind: 'person', id: 'bert' });
    expect(await revoke(idOf('a'))).toEqual({ changed: true });
    const [first] = await shown();
    expect(first).toMatchObject({ by: { id: 'anna' }, reason: 'stolen', grants: idOf('a') });
    const again = (): Promise<unknown> => refusalOf(revoke(idOf('a'), bert));
    await until(again, (answer) => JSON.stringify(answer) === JSON.stringify({ changed: false }));
    expect(await revoke({ kind: 'run', runId: 'run-1' })).toEqual({ changed: true });
    expect((await query(rig.nc, 'registry', 'revoked-grants', {})).revoked).toEqual(await shown());
    expect(await rig.facts(GRANTS_ID)).toEqual(['GRANTS_REVOKED', 'GRANTS_REVOKED']);
    expect((await query(rig.nc, 'registry', 'devices', {})).devices).toEqual([]);
  });

  it('are not let in anywhere, when they are signed until then', async () => {
    // Before anybody reads who there is: the registry and this test hear of changes each in their own time.
    const carl = await introduce(rig.nc, { kind: 'person', id: 'carl' });
    await rig.startRegistry();
    const actors = await Actors.open(rig.nc);
    const signedAt = (ms: number) =>
      signEditGrant(carl, {
        runId: 'run-1',
        access: 'edit',
        issuedAt: new Date(ms).toISOString(),
        expiresAt: new Date(ms + HOUR_MS).toISOString(),
      });
    const now = Date.now();
    const isGood = (grant: ReturnType<typeof signedAt>): boolean => actors.grantOf(grant, { runId: 'run-1', now }).ok;
    // The last one is signed with a clock that is ahead, further than this test can take.
    const [one, older, later] = [signedAt(now), signedAt(now - 1), signedAt(now + AHEAD_MS)];
    expect([isGood(one), isGood(older), isGood(later)]).toEqual([true, true, true]);
    await revoke({ kind: 'grant', grantId: grantIdOf(one) });
    await until(
      async () => isGood(one),
      (good) => !good,
    );
    expect(isGood(older)).toBe(true);
    await revoke({ kind: 'all' }, carl);
    await until(
      async () => isGood(older),
      (good) => !good,
    );
    expect(isGood(later)).toBe(true);
    await actors.end();
  });

  it('are shown by the next registry when the one that recorded them died before', async () => {
    const killed = await rig.startRegistry();
    await revoke(idOf('b'));
    const before = await shown();
    await rig.kill(killed);
    const keys: string[] = [];
    for await (const key of await bucket.keys()) keys.push(key);
    for (const key of keys) await bucket.purge(key);
    expect(await shown()).toEqual([]);
    await rig.startRegistry({ instance: 'b' });
    await until(shown, (found) => found.length === before.length);
    expect(await shown()).toEqual(before);
  });

  it('are asked for by persons, who prove it', async () => {
    await rig.startRegistry();
    const gateway = await introduce(rig.nc, { kind: 'system', id: 'aip-gateway' });
    const unauthorized = { code: 'UNAUTHORIZED' };
    await until(
      () => refusalOf(revoke(idOf('c'), gateway)),
      (refusal) => JSON.stringify(refusal).includes('only a person can revoke tokens'),
    );
    expect(await refusalOf(revoke(idOf('c'), gateway))).toMatchObject(unauthorized);
    expect(await refusalOf(revoke({ kind: 'all' }, anna, idOf('c')))).toMatchObject(unauthorized);
    expect(JSON.stringify(await shown())).not.toContain('c'.repeat(64));
  });
});
