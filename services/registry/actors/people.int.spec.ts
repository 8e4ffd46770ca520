import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { subjects, type Actor, type KnownActor } from '#proto';
import { checkKeptProof } from '#libs/keys';
import { storeAccess } from '#libs/messaging';
import { Rig, until } from '../rig.testing.js';
import {
  actorsFileOf,
  askAs,
  commitsOf,
  newSeed,
  openBucket,
  publicKeyOf,
  refusalOf,
  shown,
  typesOf,
} from './people.testing.js';

const CLI: Actor = { kind: 'person', id: 'cli' };
const PLANNER: Actor = { kind: 'system', id: 'planner' };
const CONSOLE: Actor = { kind: 'system', id: 'console' };
const cli = newSeed();
const consoles = newSeed();
const planner = newSeed();

let rig: Rig;
let actorsFile: string;
let ids = 0;
beforeAll(async () => {
  rig = await Rig.start();
  const given: [string, Actor][] = [
    [publicKeyOf(cli), CLI],
    [publicKeyOf(planner), PLANNER],
    [publicKeyOf(consoles), CONSOLE],
  ];
  actorsFile = await actorsFileOf(new Map(given));
});
afterEach(() => rig.stopRegistries());
afterAll(() => rig.stop());

const newId = (): string => `command-${ids++}`;
const add = (actorId: string, roles: string[], id = newId()): Promise<{ changed: boolean }> =>
  askAs(rig.nc, cli, 'people-add', { id, actorId, kind: 'person', roles });
/** Somebody new with a key; gives the seed. */
async function newPerson(actorId: string, roles: string[]): Promise<string> {
  const seed = newSeed();
  await add(actorId, roles);
  await askAs(rig.nc, cli, 'people-key', { id: newId(), actorId, change: 'add', key: publicKeyOf(seed) });
  return seed;
}

describe('the first start', () => {
  it('makes facts of what was known: by the file, and by a bucket of version 0.1.0; once', async () => {
    const bucket = await openBucket(rig.nc);
    const since = '2026-11-01T00:00:00.000Z';
    const old = publicKeyOf(newSeed());
    const before: KnownActor = { actor: CLI, since };
    await bucket.put(publicKeyOf(cli), JSON.stringify(before));
    await bucket.put(old, JSON.stringify({ actor: { kind: 'person', id: 'ann' }, since } satisfies KnownActor));
    await bucket.put('_', 'what nobody can read');
    await rig.startRegistry({ actorsFile });
    expect(await shown(rig.nc, 'cli')).toMatchObject({
      actor: CLI,
      namespace: 'default',
      roles: expect.arrayContaining(['admin', 'approver']),
      keys: [{ key: publicKeyOf(cli), from: since }],
    });
    expect(await shown(rig.nc, 'ann')).toMatchObject({ keys: [{ key: old, from: since }], namespace: 'default' });
    expect(await bucket.get(publicKeyOf(cli))).toMatchObject({ operation: 'PURGE' });
    await rig.stopRegistries();
    await rig.startRegistry({ actorsFile, instance: 'b' });
    expect(await typesOf(rig.nc, 'cli')).toEqual(['ACTOR_ADDED', 'KEY_ADDED']);
    expect(await typesOf(rig.nc, 'planner')).toEqual(['ACTOR_ADDED', 'KEY_ADDED']);
    const [first] = await commitsOf(rig.nc, 'cli');
    expect(first?.commit.events[0]?.data).toMatchObject({ by: { kind: 'system', id: 'setup' } });
  });

  it('gives a service its new key, and ends the one before', async () => {
    const next = publicKeyOf(newSeed());
    const given: [string, Actor][] = [
      [publicKeyOf(cli), CLI],
      [next, PLANNER],
    ];
    await rig.startRegistry({ actorsFile: await actorsFileOf(new Map(given)) });
    expect((await shown(rig.nc, 'planner'))?.keys).toMatchObject([
      { key: publicKeyOf(planner), until: expect.any(String) },
      { key: next },
    ]);
    await rig.stopRegistries();
    // The file of before: what was revoked stays revoked.
    await rig.startRegistry({ actorsFile });
    expect((await shown(rig.nc, 'planner'))?.keys).toHaveLength(2);
  });
});

describe('an administrator', () => {
  it('adds people, gives and takes roles, and everybody can see it when it is answered, with its proof in the log', async () => {
    await rig.startRegistry({ actorsFile });
    await newPerson('anna', ['viewer']);
    expect(await shown(rig.nc, 'anna')).toMatchObject({ roles: ['viewer'], namespace: 'anna', revision: 2 });
    await askAs(rig.nc, cli, 'people-role', { id: newId(), actorId: 'anna', give: ['approver'], take: ['viewer'] });
    expect((await shown(rig.nc, 'anna'))?.roles).toEqual(['approver']);
    const last = (await commitsOf(rig.nc, 'anna')).at(-1)?.commit;
    expect(last?.events[0]?.data).toMatchObject({ by: CLI, given: ['approver'], taken: ['viewer'] });
    const proof = last?.causes[0]?.proof;
    expect(proof).toMatchObject({ key: publicKeyOf(cli), body: { actorId: 'anna' } });
    expect(proof === undefined ? undefined : checkKeptProof(proof)).toBe('good');
    const { people } = await askAs(rig.nc, cli, 'people', {});
    expect(people.map(({ actor }) => actor.id)).toEqual(expect.arrayContaining(['anna', 'cli', 'planner']));
  });

  it('is answered when whoever was added can ask', async () => {
    await rig.startRegistry({ actorsFile });
    for (let count = 0; count < 10; count++) {
      const seed = await newPerson(`new-${count}`, ['auditor']);
      expect(await askAs(rig.nc, seed, 'people', {})).toMatchObject({ people: expect.any(Array) });
    }
  });

  it('revokes somebody, who is nobody from then on', async () => {
    await rig.startRegistry({ actorsFile });
    const bert = await newPerson('bert', ['admin']);
    await askAs(rig.nc, bert, 'people', {});
    expect(await askAs(rig.nc, cli, 'people-revoke', { id: newId(), actorId: 'bert' })).toEqual({ changed: true });
    // The registry follows the bucket as everybody does.
    const refused = await until(
      () => refusalOf(askAs(rig.nc, bert, 'people', {})),
      (answer) => 'code' in (answer as object),
    );
    expect(refused).toMatchObject({ code: 'UNAUTHORIZED', message: expect.stringMatching(/of bert was revoked at/u) });
    expect(await refusalOf(add('bert', []))).toMatchObject({ code: 'INVALID_REQUEST', issues: [{ path: 'actorId' }] });
  });

  it('cannot lock everybody out, and hears why', async () => {
    await rig.startRegistry({ actorsFile });
    const orders: [Parameters<typeof askAs>[2], object][] = [
      ['people-role', { actorId: 'cli', take: ['admin'] }],
      ['people-revoke', { actorId: 'cli' }],
      ['people-key', { actorId: 'cli', change: 'revoke', key: publicKeyOf(cli) }],
    ];
    for (const [name, body] of orders) {
      expect(await refusalOf(askAs(rig.nc, cli, name, { id: newId(), ...body }))).toMatchObject({
        code: 'INVALID_STATE',
        message: expect.stringMatching(/give the role admin to another person/u),
      });
    }
  });

  it('hears of a key of somebody else, and of a service whose roles come with its version', async () => {
    await rig.startRegistry({ actorsFile });
    await newPerson('carl', ['viewer']);
    const key = publicKeyOf(cli);
    const taken = askAs(rig.nc, cli, 'people-key', { id: newId(), actorId: 'carl', change: 'add', key });
    expect(await refusalOf(taken)).toMatchObject({ code: 'INVALID_REQUEST', issues: [{ path: 'key' }] });
    const service = askAs(rig.nc, cli, 'people-role', { id: newId(), actorId: 'planner', give: ['admin'] });
    expect(await refusalOf(service)).toMatchObject({ code: 'INVALID_STATE' });
    const nobody = askAs(rig.nc, cli, 'people-revoke', { id: newId(), actorId: 'nobody' });
    expect(await refusalOf(nobody)).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('an auditor', () => {
  it('is told who looked at what and who changed whom in one list, in order, page by page; nobody else is', async () => {
    await rig.startRegistry({ actorsFile });
    const since = new Date().toISOString();
    const audrey = await newPerson('audrey', ['auditor']);
    await storeAccess(rig.nc, subjects.accessByKey(publicKeyOf(audrey)), { what: 'EXPORTED', runId: 'run-1' });
    const vera: Actor = { kind: 'person', id: 'vera' };
    const login = { issuer: 'orrery', subject: 'token:laptop', session: 'token:laptop' };
    const output = { what: 'OUTPUT_READ', actor: vera, runId: 'run-1', taskId: 'disk', login } as const;
    await storeAccess(rig.nc, subjects.accessAt('console', 'vera'), output);
    await askAs(rig.nc, cli, 'people-role', { id: newId(), actorId: 'audrey', give: ['viewer'] });
    await storeAccess(rig.nc, subjects.accessAt('console', '_'), { what: 'LOGIN_REFUSED' });
    const told = await askAs(rig.nc, audrey, 'access', { since });
    expect(told.entries).toMatchObject([
      { what: 'ACTOR_ADDED', actor: CLI, proof: 'key', subject: 'audrey', given: ['auditor'] },
      { what: 'KEY_ADDED', actor: CLI, subject: 'audrey', key: publicKeyOf(audrey) },
      { what: 'EXPORTED', actor: { kind: 'person', id: 'audrey' }, proof: 'key', runId: 'run-1' },
      { ...output, proof: 'vouched' },
      { what: 'ROLES_CHANGED', actor: CLI, subject: 'audrey', given: ['viewer'], taken: [] },
      { what: 'LOGIN_REFUSED', actor: null, proof: 'none' },
    ]);
    expect(told.more).toBe(false);
    expect((await askAs(rig.nc, audrey, 'access', { since, after: told.after })).entries).toEqual([]);
    const ofVera = await askAs(rig.nc, audrey, 'access', { since, of: 'vera' });
    expect(ofVera.entries.map(({ what }) => what)).toEqual(['OUTPUT_READ']);
    const bob = await newPerson('bob', ['viewer', 'admin', 'operator']);
    expect(await refusalOf(askAs(rig.nc, bob, 'access', {}))).toMatchObject({ code: 'UNAUTHORIZED' });
  });
});

describe('who is no administrator', () => {
  it('changes nobody, whatever is tried, and hears which role that needs', async () => {
    await rig.startRegistry({ actorsFile });
    const roles = ['viewer', 'requester', 'approver', 'operator', 'auditor'];
    const dora = await newPerson('dora', roles);
    const key = publicKeyOf(newSeed());
    const token = { tokenId: 'mine', tokenHash: 'a'.repeat(64), scopes: ['admin'], label: '', expiresAt: null };
    const orders: [Parameters<typeof askAs>[2], object][] = [
      ['people-add', { actorId: 'eve', kind: 'person', roles: ['admin'] }],
      ['people-role', { actorId: 'dora', give: ['admin'] }],
      ['people-revoke', { actorId: 'cli' }],
      ['people-key', { actorId: 'dora', change: 'add', key }],
      ['people-login', { actorId: 'dora', change: 'bind', issuer: 'https://login.example.org', subject: '1' }],
      ['token-issue', { actorId: 'dora', ...token }],
    ];
    const before = (await askAs(rig.nc, cli, 'people', {})).people;
    for (const [name, body] of orders) {
      expect(await refusalOf(askAs(rig.nc, dora, name, { id: newId(), ...body }))).toMatchObject({
        code: 'UNAUTHORIZED',
        message: `registry.${name} needs the role admin; dora has ${roles.join(', ')}.`,
      });
    }
    const forged = { id: newId(), actorId: 'dora', give: ['admin'] };
    const wrong = askAs(rig.nc, dora, 'people-role', forged);
    expect(await refusalOf(wrong)).toMatchObject({ code: 'UNAUTHORIZED' });
    expect((await askAs(rig.nc, cli, 'people', {})).people).toEqual(before);
  });

  it('sees and revokes tokens of his own, and no other', async () => {
    await rig.startRegistry({ actorsFile });
    const [finn, gina] = [await newPerson('finn', ['viewer']), await newPerson('gina', ['viewer'])];
    for (const [index, actorId] of ['finn', 'gina'].entries()) {
      const token = { tokenId: `t-${actorId}`, tokenHash: String(index).repeat(64), scopes: ['viewer'], label: 'ci' };
      const body = { id: newId(), actorId, ...token, expiresAt: null };
      expect(await askAs(rig.nc, cli, 'token-issue', body)).toEqual({ changed: true });
    }
    expect((await askAs(rig.nc, finn, 'tokens', {})).tokens).toMatchObject([{ tokenId: 't-finn', lastUsedAt: null }]);
    expect(await refusalOf(askAs(rig.nc, finn, 'tokens', { actorId: 'gina' }))).toMatchObject({ code: 'UNAUTHORIZED' });
    const foreign = askAs(rig.nc, gina, 'token-revoke', { id: newId(), tokenId: 't-finn' });
    expect(await refusalOf(foreign)).toMatchObject({ code: 'UNAUTHORIZED' });
    const used = askAs(rig.nc, finn, 'token-used', { tokenId: 't-finn' });
    expect(await refusalOf(used)).toMatchObject({ code: 'UNAUTHORIZED' });
    const own = { id: newId(), tokenId: 't-finn' };
    expect(await askAs(rig.nc, finn, 'token-revoke', own)).toEqual({ changed: true });
    expect((await shown(rig.nc, 'finn'))?.tokens).toEqual([]);
    const all = await askAs(rig.nc, cli, 'tokens', {});
    expect(all.tokens.find(({ tokenId }) => tokenId === 't-finn')?.revokedAt).toEqual(expect.any(String));
  });
});

describe('a token that is used', () => {
  it('is noted when it was used last, by who lets people in with it, once in an hour', async () => {
    await rig.startRegistry({ actorsFile });
    await newPerson('nora', ['viewer']);
    const token = { tokenId: 't-nora', tokenHash: 'b'.repeat(64), scopes: ['viewer'], label: 'ci', expiresAt: null };
    await askAs(rig.nc, cli, 'token-issue', { id: newId(), actorId: 'nora', ...token });
    const lastUse = async () =>
      (await askAs(rig.nc, cli, 'tokens', { actorId: 'nora' })).tokens.map(({ lastUsedAt }) => lastUsedAt);
    expect(await lastUse()).toEqual([null]);
    const from = Date.now();
    const uses = Array.from({ length: 5 }, () => askAs(rig.nc, consoles, 'token-used', { tokenId: 't-nora' }));
    const changed = (await Promise.all(uses)).filter((answer) => answer.changed);
    expect(changed).toHaveLength(1);
    expect(await typesOf(rig.nc, 'nora')).toEqual(['ACTOR_ADDED', 'KEY_ADDED', 'TOKEN_ISSUED', 'TOKEN_USED']);
    const [at = ''] = await lastUse();
    expect(Date.parse(at ?? '')).toBeGreaterThanOrEqual(from);
    expect(await refusalOf(askAs(rig.nc, consoles, 'token-used', { tokenId: 'none' }))).toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('a command that is sent again', () => {
  it('gets its first answer on every replica, and has one effect', async () => {
    await rig.startRegistry({ actorsFile, instance: 'a' });
    await rig.startRegistry({ actorsFile, instance: 'b' });
    const id = newId();
    const asked = Array.from({ length: 8 }, () => add('hans', ['viewer'], id));
    expect(await Promise.all(asked)).toEqual(asked.map(() => ({ changed: true })));
    expect(await typesOf(rig.nc, 'hans')).toEqual(['ACTOR_ADDED']);
    await askAs(rig.nc, cli, 'people-role', { id: newId(), actorId: 'hans', give: ['operator'] });
    expect(await Promise.all([add('hans', ['viewer'], id), add('hans', ['viewer'], id)])).toEqual([
      { changed: true },
      { changed: true },
    ]);
    expect(await typesOf(rig.nc, 'hans')).toEqual(['ACTOR_ADDED', 'ROLES_CHANGED']);
  });

  it('says something else under the same id, and is refused', async () => {
    await rig.startRegistry({ actorsFile });
    const id = newId();
    await add('ida', ['viewer'], id);
    expect(await refusalOf(add('ida', ['admin'], id))).toMatchObject({ issues: [{ path: 'id' }] });
    expect(await refusalOf(add('jan', ['viewer'], id))).toMatchObject({ issues: [{ path: 'id' }] });
    expect(await typesOf(rig.nc, 'jan')).toEqual([]);
  });
});

describe('two replicas', () => {
  it('give one key to one of two people who are to have it at the same time', async () => {
    await rig.startRegistry({ actorsFile, instance: 'a' });
    await rig.startRegistry({ actorsFile, instance: 'b' });
    await Promise.all([add('kim', ['viewer']), add('lea', ['viewer'])]);
    for (let round = 0; round < 4; round++) {
      const key = publicKeyOf(newSeed());
      const asked = ['kim', 'lea', 'kim', 'lea'].map((actorId) =>
        refusalOf(askAs(rig.nc, cli, 'people-key', { id: newId(), actorId, change: 'add', key })),
      );
      await Promise.all(asked);
      const entries = await Promise.all(['kim', 'lea'].map((actorId) => shown(rig.nc, actorId)));
      const having = entries.filter((entry) => entry?.keys.some((one) => one.key === key));
      expect(having).toHaveLength(1);
    }
  });
});

describe('a registry that dies between the fact and what is shown', () => {
  it('leaves it to the next one to show it, and mends what is wrong or of nobody', async () => {
    const first = await rig.startRegistry({ actorsFile });
    const seed = await newPerson('mona', ['viewer']);
    await rig.kill(first);
    const bucket = await openBucket(rig.nc);
    await bucket.purge('mona');
    const forged = await shown(rig.nc, 'cli');
    await bucket.put('cli', JSON.stringify({ ...forged, roles: [], revision: 1 }));
    await bucket.put('eve', JSON.stringify({ ...forged, actor: { kind: 'person', id: 'eve' } }));
    await rig.startRegistry({ actorsFile, instance: 'b' });
    expect(await shown(rig.nc, 'mona')).toMatchObject({ keys: [{ key: publicKeyOf(seed) }] });
    expect((await shown(rig.nc, 'cli'))?.roles).toContain('admin');
    await until(
      () => shown(rig.nc, 'eve'),
      (entry) => entry === undefined,
    );
  });
});

describe('a system outside', () => {
  const durables = async (): Promise<Record<string, string | undefined>> => {
    const jsm = await jetstreamManager(rig.nc);
    const found: [string, string | undefined][] = [];
    for await (const { name, config } of jsm.consumers.list('FEED')) found.push([name, config.filter_subject]);
    return Object.fromEntries(found);
  };
  const untilFollowing = (wanted: Record<string, string>) =>
    until(durables, (found) => JSON.stringify(found) === JSON.stringify(wanted));
  const OWN = { 'external-crm': 'orrery.feed.*.*.crm' };

  it('has a durable for its own runs from its first key on, for all when it is given that, and none when it is revoked', async () => {
    await rig.startRegistry({ actorsFile });
    await askAs(rig.nc, cli, 'people-add', { id: newId(), actorId: 'crm', kind: 'external', roles: ['requester'] });
    expect(await durables()).toEqual({});
    const key = publicKeyOf(newSeed());
    await askAs(rig.nc, cli, 'people-key', { id: newId(), actorId: 'crm', change: 'add', key });
    expect(await durables()).toEqual(OWN);
    const limits = (actorId: string, given: object) =>
      askAs(rig.nc, cli, 'people-limits', { id: newId(), actorId, given });
    await limits('crm', { feed: 'all', openRuns: 5 });
    expect(await durables()).toEqual({ 'external-crm': 'orrery.feed.>' });
    await limits('crm', { feed: 'own' });
    expect(await durables()).toEqual(OWN);
    expect((await shown(rig.nc, 'crm'))?.limits).toEqual({ feed: 'own', openRuns: 5 });
    expect(await refusalOf(limits('cli', { openRuns: 1 }))).toMatchObject({ issues: [{ path: 'actorId' }] });
    // A key that goes takes nothing along: the next one goes on where it was.
    await askAs(rig.nc, cli, 'people-key', { id: newId(), actorId: 'crm', change: 'revoke', key });
    expect(await durables()).toEqual(OWN);
    await askAs(rig.nc, cli, 'people-revoke', { id: newId(), actorId: 'crm' });
    expect(await durables()).toEqual({});
  });

  it('gets what a registry that died behind the fact has left undone, and what somebody has changed is put back', async () => {
    const jsm = await jetstreamManager(rig.nc);
    const first = await rig.startRegistry({ actorsFile });
    for (const actorId of ['shop', 'gone']) {
      await askAs(rig.nc, cli, 'people-add', { id: newId(), actorId, kind: 'external', roles: ['requester'] });
      const key = publicKeyOf(newSeed());
      await askAs(rig.nc, cli, 'people-key', { id: newId(), actorId, change: 'add', key });
    }
    const left = (await jsm.consumers.info('FEED', 'external-gone')).config;
    await askAs(rig.nc, cli, 'people-revoke', { id: newId(), actorId: 'gone' });
    await rig.kill(first);
    // As it is when it dies between the fact and the durable: in both directions.
    await jsm.consumers.delete('FEED', 'external-shop');
    await jsm.consumers.add('FEED', left);
    await rig.startRegistry({ actorsFile, instance: 'b' });
    const wanted = { 'external-shop': 'orrery.feed.*.*.shop' };
    await untilFollowing(wanted);
    await jsm.consumers.update('FEED', 'external-shop', { filter_subject: 'orrery.feed.>' });
    await untilFollowing(wanted);
  });
});
