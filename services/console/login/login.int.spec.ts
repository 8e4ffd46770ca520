import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { fromSeed } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import { tokenHash } from '#libs/keys';
import { Actors, authorityOf, serveQueries, storedPage, systemClock } from '#libs/messaging';
import { moment, notAsked, ownPort, startTestBus, type TestBus } from '#libs/testing';
import { AccessRecord, ActorEntry, BUCKETS, parseJson, STREAMS, subjects, type ActorProof, type Role } from '#proto';
import { Sessions } from '../callers/index.js';
import { startConsole, type TestConsole } from '../console.testing.js';
import { Browser } from './browser.testing.js';
import { OidcProvider } from './oidc.client.js';
import { CLIENT_ID, CLIENT_SECRET, TestProvider } from './provider.testing.js';

const ADMIN_TOKEN = 'the-admin-token';
const SESSION = 'orrery-session';
const folder = mkdtempSync(join(tmpdir(), 'orrery-login-'));

let bus: TestBus;
let admin: NatsConnection;
let actors: KV;
let provider: TestProvider;
let started: TestConsole;
let base: string;
let browser: Browser;
const said: { readonly subject: string; readonly actor: ActorProof }[] = [];

beforeAll(async () => {
  bus = await startTestBus();
  admin = await bus.as('admin');
  actors = await new Kvm(jetstream(admin)).open(BUCKETS.ACTORS.bucket);
  const publicKey = fromSeed(new TextEncoder().encode(await bus.seedOf('console'))).getPublicKey();
  for await (const key of await actors.keys()) if (key !== publicKey) await actors.purge(key);
  const port = await ownPort();
  base = `http://127.0.0.1:${port}`;
  provider = await TestProvider.start(`${base}/login/callback`);
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, CLIENT_SECRET, { mode: 0o600 });
  started = await startConsole(ADMIN_TOKEN, {
    ORRERY_NATS_URL: bus.server.url,
    ORRERY_NATS_SEED_FILE: bus.seedFile('console'),
    ORRERY_CONSOLE_PORT: String(port),
    ORRERY_CONSOLE_URL: base,
    ORRERY_OIDC_ISSUER: provider.issuer,
    ORRERY_OIDC_CLIENT_ID: CLIENT_ID,
    ORRERY_OIDC_CLIENT_SECRET_FILE: secretFile,
  });
  const orchestrator = await bus.as('orchestrator');
  orchestrator.subscribe(subjects.anyVerb, {
    callback: (_, message) => {
      said.push({ subject: message.subject, ...message.json<{ actor: ActorProof }>() });
      message.respond(JSON.stringify({ answer: 'accepted', sequence: 1 }));
    },
  });
  await orchestrator.flush();
  await serveQueries(
    await bus.as('logging'),
    'logging',
    {
      ...notAsked('logging'),
      runs: async () => ({ runs: [] }),
      approvals: async () => ({ approvals: [] }),
      run: async () => Promise.reject(new Error('nobody asks')),
      report: async () => Promise.reject(new Error('nobody asks')),
      search: async () => Promise.reject(new Error('nobody asks')),
    },
    { authority: authorityOf(await Actors.open(await bus.as('logging')), systemClock) },
  );
});
beforeEach(async () => {
  browser = new Browser();
  Object.assign(provider, { who: 'anna-1', lifetimeS: 3_600 });
  await tell('anna', { logins: [{ issuer: provider.issuer, subject: 'anna-1' }] });
});
afterAll(async () => {
  await started.stop();
  provider.stop();
  await bus.stop();
  rmSync(folder, { recursive: true });
});

/** The registry tells of somebody; resolves when the console has heard just that, by a token that came with it. Gives the token. */
async function tell(id: string, { tokens = [], ...change }: Partial<ActorEntry>): Promise<string> {
  revision += 1;
  const probe = `probe-${id}-${revision}`;
  const ofProbe = {
    tokenId: probe,
    tokenHash: tokenHash(probe),
    scopes: ['viewer'] as Role[],
    label: '',
    expiresAt: null,
  };
  const entry = ActorEntry.parse({
    actor: { kind: 'person', id },
    roles: ['viewer', 'operator'],
    namespace: id,
    keys: [],
    tokens: [...tokens, ofProbe],
    logins: [],
    revision,
    ...change,
  });
  await actors.put(id, JSON.stringify(entry));
  const headers = { authorization: `Bearer ${probe}` };
  while ((await fetch(`${base}/v1/me`, { headers })).status !== 200) await moment();
  return probe;
}
let revision = 0;

const isCallback = (url: string) => url.startsWith(`${base}/login/callback`);
const me = async () => browser.ask(`${base}/v1/me`);

/** The address that the provider sends the browser back to; not visited yet. */
async function callbackUrl(): Promise<string> {
  const response = await browser.go(`${base}/login/start`, isCallback);
  return response.headers.get('location') ?? '';
}

/** What is recorded of logins at the provider, each with its subject on the bus. */
async function recorded(subject: string): Promise<(AccessRecord & { on: string })[]> {
  const page = { stream: STREAMS.ACCESS.name, filter: subjects.anyAccess, after: 0 };
  const { messages } = await storedPage(await bus.as('registry'), page);
  const all = messages.map(({ subject: on, data }) => ({ on, ...AccessRecord.parse(parseJson(data)) }));
  return all.filter(({ login }) => login?.issuer === provider.issuer && login.subject === subject);
}

/** There and back; once more, as a person does it, where a busy machine did not let the console hear of the provider in time. */
async function logIn(): Promise<Response> {
  for (;;) {
    const response = await browser.go(`${base}/login/start`);
    if (response.status !== 400) return response;
  }
}

describe('a login at the identity provider', () => {
  it('goes there and back, and is a session of the actor to whom it was bound', async () => {
    expect(await (await browser.ask(`${base}/login`)).text()).toContain('href="/login/start"');
    await logIn();
    expect(browser.visited.at(-1)).toBe(`${base}/`);
    const page = await browser.ask(`${base}/login`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<strong>anna</strong>')]);
    const sent = new URL(browser.visited.find((url) => url.startsWith(`${provider.issuer}/auth?`)) ?? '').searchParams;
    expect(Object.fromEntries(sent)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/u),
      state: expect.stringMatching(/^[\w-]{43}$/u),
      nonce: expect.stringMatching(/^[\w-]{43}$/u),
    });
    expect(await (await me()).json()).toEqual({
      actor: { kind: 'person', id: 'anna' },
      roles: ['viewer', 'operator'],
      login: { issuer: provider.issuer, subject: 'anna-1' },
      csrf: expect.any(String),
    });
  });

  it('leaves a cookie that no script can read, and keeps nothing that opens the session', async () => {
    const url = await callbackUrl();
    const response = await browser.ask(url);
    const [set = ''] = response.headers.getSetCookie().filter((line) => line.startsWith(SESSION));
    expect(set).toMatch(/^orrery-session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/u);
    const id = browser.cookies(base).get(SESSION) ?? '';
    const sessions = await new Kvm(jetstream(admin)).open(BUCKETS.SESSIONS.bucket);
    const kept: string[] = [];
    for await (const key of await sessions.keys()) kept.push(key, (await sessions.get(key))?.string() ?? '');
    expect(kept).toContain(tokenHash(id));
    expect(kept.join()).not.toContain(id);
  });

  it('is known to every replica, and after a restart', async () => {
    await logIn();
    const other = new Sessions({ nc: await bus.as('console'), clock: systemClock });
    const found = await other.find(browser.cookies(base).get(SESSION) ?? '');
    expect(found).toMatchObject({ actorId: 'anna', issuer: provider.issuer, subject: 'anna-1' });
  });

  it('says what an administrator has to type for somebody who is not known', async () => {
    provider.who = 'bert-7';
    const page = await logIn();
    const text = await page.text();
    expect(page.status).toBe(403);
    expect(text).toContain(`orrery people add anna --login ${provider.issuer} bert-7`);
    expect((await me()).status).toBe(401);
  });
});

describe('what is recorded of a login at the identity provider', () => {
  it('is who came in by which session, and who went; never what opens it', async () => {
    await tell('anna', { logins: [{ issuer: provider.issuer, subject: 'anna-2' }] });
    provider.who = 'anna-2';
    await logIn();
    const id = browser.cookies(base).get(SESSION) ?? '';
    const session = tokenHash(id).slice(0, 16);
    const cameIn = {
      on: subjects.accessAt('console', 'anna'),
      id: expect.any(String),
      what: 'LOGGED_IN',
      actor: { kind: 'person', id: 'anna' },
      login: { issuer: provider.issuer, subject: 'anna-2', session },
      peer: '127.0.0.1',
    };
    expect(await recorded('anna-2')).toEqual([cameIn]);
    const { csrf } = (await (await me()).json()) as { csrf: string };
    const body = new URLSearchParams({ csrf });
    await browser.ask(`${base}/logout`, { method: 'POST', headers: { origin: base }, body });
    const both = await recorded('anna-2');
    expect(both).toEqual([cameIn, { ...cameIn, what: 'LOGGED_OUT' }]);
    expect(JSON.stringify(both)).not.toContain(id);
  });

  it('is a refusal for somebody who is not known: of nobody, with the login that has no actor', async () => {
    provider.who = 'bert-8';
    await logIn();
    let refused: Awaited<ReturnType<typeof recorded>> = [];
    for (; refused.length === 0; await moment()) refused = await recorded('bert-8');
    expect(refused).toEqual([
      {
        on: subjects.accessAt('console', '_'),
        id: expect.any(String),
        what: 'LOGIN_REFUSED',
        login: { issuer: provider.issuer, subject: 'bert-8' },
        peer: '127.0.0.1',
      },
    ]);
  });
});

describe('what comes back from elsewhere', () => {
  const refused = async (url: string): Promise<void> => {
    const page = await browser.ask(url);
    expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('role="alert"');
    expect(browser.cookies(base).has(SESSION)).toBe(false);
    expect((await me()).status).toBe(401);
  };
  const changed = (url: string, name: string, value: string): string => {
    const made = new URL(url);
    made.searchParams.set(name, value);
    return made.href;
  };

  it('is not taken with another state', async () => refused(changed(await callbackUrl(), 'state', 'x'.repeat(43))));

  it('is not taken from another issuer', async () =>
    refused(changed(await callbackUrl(), 'iss', 'http://evil.example')));

  it('is not taken in a browser that did not begin it', async () => {
    const url = await callbackUrl();
    browser = new Browser();
    await refused(url);
    await callbackUrl(); // one that has begun another one
    await refused(url);
  });

  it('is not taken twice', async () => {
    const url = await callbackUrl();
    const attempt = [...browser.cookies(base)];
    expect((await browser.ask(url)).status).toBe(303);
    await refused(url).catch(() => undefined); // its attempt is over
    browser = new Browser();
    for (const [name, value] of attempt) browser.cookies(base).set(name, value);
    await refused(url);
  });

  it('is not taken with an ID token that is over', async () => {
    provider.lifetimeS = -3_600;
    await refused(await callbackUrl());
  });

  it('is not taken from a provider that calls itself otherwise', async () => {
    const named = new OidcProvider({
      issuer: new URL(provider.issuer.replace('127.0.0.1', 'localhost')),
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      redirectUri: `${base}/login/callback`,
    });
    const attempt = { state: 's', nonce: 'n', verifier: 'v', challenge: 'c' };
    await expect(named.urlFor(attempt)).rejects.toThrow(/issuer/u);
  });
});

describe('a session', () => {
  const cancel = async (headers: Record<string, string>) =>
    browser.ask(`${base}/v1/runs/run-1/cancel`, { method: 'POST', headers });
  const csrf = async (): Promise<string> => {
    const reply = await me();
    const text = await reply.text();
    expect([reply.status, text]).toEqual([200, expect.stringContaining('csrf')]);
    return (JSON.parse(text) as { csrf: string }).csrf;
  };
  beforeEach(async () => {
    await logIn();
    said.length = 0;
  });

  it('reads with its cookie alone', async () => {
    const reply = await browser.ask(`${base}/v1/runs`);
    expect([reply.status, await reply.text()]).toEqual([200, '{"runs":[]}']);
  });

  it('changes something only from a page of this console that knows its token', async () => {
    const token = await csrf();
    const other = { 'x-orrery-csrf': token.replace(/^./u, (first) => (first === 'A' ? 'B' : 'A')) };
    const good = { 'x-orrery-csrf': token, origin: base };
    for (const headers of [
      {},
      { origin: base },
      { 'x-orrery-csrf': token },
      { ...other, origin: base },
      { ...good, origin: 'http://127.0.0.1:1' },
      { ...good, 'sec-fetch-site': 'cross-site' },
      { ...good, 'sec-fetch-site': 'same-site' },
    ]) {
      expect((await cancel(headers)).status).toBe(403);
    }
    expect(said).toEqual([]);
    expect((await cancel(good)).status).toBe(200);
    expect((await cancel({ 'x-orrery-csrf': token, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it('does what it does in the name of its actor, for whom the console vouches', async () => {
    await cancel({ 'x-orrery-csrf': await csrf(), origin: base });
    expect(said).toHaveLength(1);
    const id = browser.cookies(base).get(SESSION) ?? '';
    const vouched = { actor: 'anna', issuer: provider.issuer, subject: 'anna-1', session: tokenHash(id).slice(0, 16) };
    expect(said[0]?.actor.vouched).toEqual(vouched);
  });

  it('counts for nothing beside a token that is wrong', async () => {
    const response = await browser.ask(`${base}/v1/me`, { headers: { authorization: 'Bearer wrong' } });
    expect(response.status).toBe(401);
  });

  it('ends with its actor, and so does what it listens to', async () => {
    await jetstream(await bus.as('orchestrator')).publish(subjects.run('run-1'), '{}');
    const stream = await browser.ask(`${base}/v1/runs/run-1/events`);
    expect(stream.status).toBe(200);
    const over = stream.text().catch(() => 'cut off');
    const gone = { logins: [], tokens: [], revokedAt: new Date().toISOString() };
    await actors.put('anna', JSON.stringify({ ...(await actors.get('anna'))?.json<ActorEntry>(), ...gone }));
    while ((await me()).status !== 401) await moment();
    expect(await over).toBe('cut off');
  });

  it('may do less as soon as its actor may', async () => {
    await tell('anna', { logins: [{ issuer: provider.issuer, subject: 'anna-1' }], roles: ['auditor'] });
    let reply = await cancel({ 'x-orrery-csrf': await csrf(), origin: base });
    while (reply.status !== 403) reply = await cancel({ 'x-orrery-csrf': await csrf(), origin: base });
    const { error } = (await reply.json()) as { error: { message: string } };
    expect(error.message).toBe('CANCEL needs the role operator; anna has auditor.');
  });

  it('is over after a logout, which no other page can make', async () => {
    const before = browser.cookies(base).get(SESSION) ?? '';
    const logout = async (csrf: string, origin: string) =>
      browser.ask(`${base}/logout`, { method: 'POST', headers: { origin }, body: new URLSearchParams({ csrf }) });
    expect((await logout('', base)).status).toBe(403);
    expect((await logout(await csrf(), 'http://127.0.0.1:1')).status).toBe(403);
    const token = await csrf();
    expect((await logout(token, base)).status).toBe(200);
    expect(browser.cookies(base).has(SESSION)).toBe(false);
    browser.cookies(base).set(SESSION, before);
    expect((await me()).status).toBe(401);
  });
});

describe('a token', () => {
  const ask = async (token: string, path = '/v1/me') =>
    fetch(`${base}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const issue = async (token: string, scopes: ActorEntry['roles']) =>
    tell('bert', {
      roles: ['viewer', 'admin'],
      tokens: [{ tokenId: 't1', tokenHash: tokenHash(token), scopes, label: '', expiresAt: null }],
    });

  it('lets its actor in, as far as it goes, and needs no more than itself', async () => {
    await issue('named', ['viewer', 'operator']);
    expect(await (await ask('named')).json()).toEqual({
      actor: { kind: 'person', id: 'bert' },
      roles: ['viewer'],
      login: { issuer: 'orrery', subject: 'token:t1' },
    });
    const headers = { authorization: 'Bearer named' };
    const refused = await fetch(`${base}/v1/runs/run-1/cancel`, { method: 'POST', headers });
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { error: { message: 'CANCEL needs the role operator; bert has viewer.' } },
    ]);
  });

  it('begins a session on the page, from a page of this console only', async () => {
    await issue('named', ['viewer']);
    const body = new URLSearchParams({ token: 'named' });
    const post = async (origin: string) => browser.ask(`${base}/login`, { method: 'POST', headers: { origin }, body });
    expect((await post('http://127.0.0.1:1')).status).toBe(403);
    expect((await post(base)).status).toBe(303);
    expect(await (await me()).json()).toMatchObject({ actor: { id: 'bert' }, roles: ['viewer'] });
    await tell('bert', { roles: ['viewer'] }); // the token is gone
    while ((await me()).status !== 401) await moment();
  });

  it('is refused everywhere while its actor has no role', async () => {
    const token = await tell('bert', { roles: [] });
    const { paths } = (await (await fetch(`${base}/openapi.json`)).json()) as { paths: Record<string, object> };
    for (const [path, methods] of Object.entries(paths)) {
      for (const method of Object.keys(methods)) {
        const url = `${base}${path.replaceAll(/\{\w+\}/gu, 'x-1')}`;
        const body = method === 'get' ? {} : { body: '{"decision":"approve","approvalId":"run-1.web.1.2.0"}' };
        const headers = { authorization: `Bearer ${token}` };
        const { status } = await fetch(url, { method, headers, ...body });
        expect([path, status]).toEqual([path, path === '/v1/me' ? 200 : 403]);
      }
    }
  });

  it('of the first start is the first person, until it is turned off', async () => {
    await tell('cli', { roles: ['viewer'] });
    expect(await (await ask(ADMIN_TOKEN)).json()).toMatchObject({
      actor: { id: 'cli' },
      login: { issuer: 'orrery', subject: 'admin-token' },
    });
    writeFileSync(started.adminTokenFile, 'off\n');
    while ((await ask(ADMIN_TOKEN)).status !== 401) await moment();
    expect((await ask('off')).status).toBe(401);
  });
});
