import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { createUser } from '@nats-io/nkeys';
import {
  decodeLoginCode,
  encodeLoginCode,
  newLoginNonce,
  signerOf,
  signLoginCode,
  tokenHash,
  type CodeWish,
} from '#libs/keys';
import { Actors, authorityOf, serveQueries, storedPage, systemClock } from '#libs/messaging';
import { moment, notAsked, startTestBus, type TestBus } from '#libs/testing';
import { AccessRecord, ActorEntry, BUCKETS, LIMITS, parseJson, STREAMS, subjects } from '#proto';
import { startConsole, type TestConsole } from '../console.testing.js';
import { Browser } from './browser.testing.js';

const SESSION = 'orrery-session';
let bus: TestBus;
let actors: KV;
let started: TestConsole;
let base: string;
let browser: Browser;

beforeAll(async () => {
  bus = await startTestBus();
  actors = await new Kvm(jetstream(await bus.as('admin'))).open(BUCKETS.ACTORS.bucket);
  started = await startConsole('the-admin-token', {
    ORRERY_NATS_URL: bus.server.url,
    ORRERY_NATS_SEED_FILE: bus.seedFile('console'),
  });
  base = `http://127.0.0.1:${started.port}`;
  const authority = authorityOf(await Actors.open(await bus.as('logging')), systemClock);
  const runs = { ...notAsked('logging'), runs: async () => ({ runs: [] }) };
  await serveQueries(await bus.as('logging'), 'logging', runs, { authority });
});
beforeEach(() => void (browser = new Browser()));
afterAll(async () => {
  await started.stop();
  await bus.stop();
});

/** The registry tells of somebody; resolves when the console has heard it. */
async function tell(id: string, change: Partial<ActorEntry>): Promise<void> {
  revision += 1;
  const [token, actor] = [`probe-${id}-${revision}`, { kind: 'person', id } as const];
  const probe = { tokenId: token, tokenHash: tokenHash(token), scopes: ['viewer'], label: '', expiresAt: null };
  const entry = { actor, roles: [], namespace: id, keys: [], tokens: [probe], logins: [], revision, ...change };
  await actors.put(id, JSON.stringify(ActorEntry.parse(entry)));
  const headers = { authorization: `Bearer ${token}` };
  while ((await fetch(`${base}/v1/me`, { headers })).status !== 200) await moment();
}
let revision = 0;

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const me = async () => browser.ask(`${base}/v1/me`);

/** What is recorded of this login. */
async function recorded(subject: string): Promise<AccessRecord[]> {
  const page = { stream: STREAMS.ACCESS.name, filter: subjects.anyAccess, after: 0 };
  const { messages } = await storedPage(await bus.as('registry'), page);
  const all = messages.map(({ data }) => AccessRecord.parse(parseJson(data)));
  return all.filter(({ login }) => login?.issuer === 'orrery' && login.subject === subject);
}

describe('a code of the command line', () => {
  const seed = text(createUser().getSeed());
  const { key } = signerOf(seed);
  const since = '2026-11-01T12:00:00.000Z';
  const wish = () => ({ origin: base, issuedAt: new Date().toISOString(), nonce: newLoginNonce() });
  const codeOf = (change: Partial<CodeWish> = {}, by = seed) =>
    encodeLoginCode(signLoginCode(by, { ...wish(), ...change }));
  const show = async (code: string, headers: Record<string, string> = { origin: base }) =>
    browser.ask(`${base}/login/code`, { method: 'POST', headers, body: new URLSearchParams({ code }) });
  const shown = async (code: string, headers?: Record<string, string>) => {
    const page = await show(code, headers);
    return [
      page.status,
      /role="alert"><strong>([^<]*)/u.exec(await page.text())?.[1],
      browser.cookies(base).has(SESSION),
    ];
  };
  beforeEach(() => tell('anna', { roles: ['viewer'], keys: [{ key, from: since }] }));

  it('begins a session of who has signed it, once, whatever browser has it', async () => {
    const code = codeOf();
    const reply = await show(code);
    expect([reply.status, reply.headers.get('location')]).toEqual([303, '/']);
    const login = { issuer: 'orrery', subject: `key:${key}` };
    expect(await (await me()).json()).toMatchObject({ actor: { id: 'anna' }, roles: ['viewer'], login });
    browser = new Browser();
    expect(await shown(code)).toEqual([401, 'The code was used already. Make another one: orrery console', false]);
  });

  it('is taken for a page of this console only', async () => {
    const code = codeOf();
    for (const headers of [
      {},
      { origin: 'null' },
      { origin: 'https://evil.example' },
      { origin: 'http://127.0.0.1:1' },
    ])
      expect([(await show(code, headers)).status, browser.cookies(base).has(SESSION)]).toEqual([403, false]);
    expect((await show(code, { origin: base, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await show(code)).status).toBe(303); // nothing of that has used it up
  });

  it('lets nobody in when it is over, of another console, of nobody, of a program, or no code', async () => {
    const other = text(createUser().getSeed());
    await tell('ci', { actor: { kind: 'system', id: 'ci' }, keys: [{ key: signerOf(other).key, from: since }] });
    const again = 'Make another one: orrery console';
    const old = new Date(Date.now() - LIMITS.loginCodeMs).toISOString();
    expect(await shown(codeOf({ issuedAt: old }))).toEqual([401, `The code is too old. ${again}`, false]);
    const elsewhere = codeOf({ origin: 'https://console.example' });
    expect(await shown(elsewhere)).toEqual([401, `The code is for another console. ${again}`, false]);
    const nobody = [401, `This code lets nobody in. ${again}`, false];
    for (const bad of [codeOf({}, other), codeOf({}, text(createUser().getSeed())), '', codeOf().slice(0, -9)])
      expect(await shown(bad)).toEqual(nobody);
  });

  it('is told to nobody, and leaves nothing that opens anything', async () => {
    const page = await browser.ask(`${base}/login/code`);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*script-src 'sha256-[^']+'$/u);
    expect(await page.text()).toContain('data-asks="no"');
    const code = codeOf();
    await show(code);
    expect(await (await browser.ask(`${base}/login/code`)).text()).toContain('data-asks="yes"');
    const [cameIn] = await recorded(`key:${key}`);
    expect(cameIn).toMatchObject({ what: 'LOGGED_IN', actor: { kind: 'person', id: 'anna' } });
    const sessions = await new Kvm(jetstream(await bus.as('admin'))).open(BUCKETS.SESSIONS.bucket);
    const kept = [JSON.stringify(cameIn)];
    for await (const name of await sessions.keys()) kept.push(name, (await sessions.get(name))?.string() ?? '');
    const { nonce = '', signature = '' } = decodeLoginCode(code) ?? {};
    for (const secret of [code, nonce, signature]) expect(kept.join()).not.toContain(secret);
  });

  it('does no more than its owner may, and ends with the key', async () => {
    await show(codeOf());
    const { csrf } = (await (await me()).json()) as { csrf: string };
    const headers = { 'x-orrery-csrf': csrf, origin: base };
    const cancel = await browser.ask(`${base}/v1/runs/run-1/cancel`, { method: 'POST', headers });
    const { error } = (await cancel.json()) as { error: { message: string } };
    expect([cancel.status, error.message]).toEqual([403, 'CANCEL needs the role operator; anna has viewer.']);
    expect((await browser.ask(`${base}/v1/runs`)).status).toBe(200); // the services know the login, too
    await tell('anna', { roles: ['viewer'], keys: [{ key, from: since, until: new Date().toISOString() }] });
    while ((await me()).status !== 401) await moment();
    expect((await show(codeOf())).status).toBe(401);
  });
});
