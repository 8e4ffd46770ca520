import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { pino } from 'pino';
import { Unwelcome } from '#libs/aip';
import { makeTestAuthority, ownPort } from '#libs/testing';
import type { CredentialSource } from '../identity/credential.client.js';
import { openCredentials, type CredentialsOptions } from './credentials.runner.js';
import { tokenSource } from '../settings/device-client.config.js';
import { InputError } from '../faults/input-error.js';
import { ScriptedGateway, type Asked, type Reply } from '../testing/scripted-gateway.js';
import { until } from '../testing/until.js';

const TOKEN = 'join-AAAAAAAAAAAAAAAAAAAAAA';
const ANOTHER = 'join-BBBBBBBBBBBBBBBBBBBBBB';

let dir: string;
let log: string;
let stopped: AbortController;
let gateway: ScriptedGateway;
const opened: CredentialSource[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-identity-'));
  log = '';
  stopped = new AbortController();
  gateway = new ScriptedGateway();
  await gateway.start();
  gateway.reply = issuing();
});
afterEach(async () => {
  stopped.abort();
  for (const source of opened.splice(0)) source.stop();
  await gateway.stop();
  await rm(dir, { recursive: true, force: true });
});

const HOUR_MS = 3_600_000;

/** Credentials with numbers, that live so long; the first one, and later ones. */
function issuing(firstLifeMs = HOUR_MS, laterLifeMs = firstLifeMs): () => Reply {
  let count = 0;
  return () => {
    count++;
    const lifeMs = count === 1 ? firstLifeMs : laterLifeMs;
    const expiresAt = new Date(Date.now() + lifeMs).toISOString();
    return { status: 200, body: { deviceId: 'web-1', credential: `credential-${count}`, expiresAt } };
  };
}

const refusing =
  (code: string, status = 401) =>
  (): Reply => ({ status, body: { error: { code, message: 'why' } } });

async function open(token?: string, change: Partial<CredentialsOptions> = {}): Promise<CredentialSource> {
  const file = join(dir, 'token');
  if (token === undefined) await rm(file, { force: true });
  else await writeFile(file, token);
  const source = await openCredentials({
    urls: [gateway.url],
    tls: () => Promise.resolve({}),
    dataDir: dir,
    token: tokenSource(file),
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    random: () => 0,
    logger: pino({ level: 'trace' }, { write: (line: string) => void (log += line) }),
    signal: stopped.signal,
    ...change,
  });
  opened.push(source);
  return source;
}

interface Kept {
  readonly joined: { deviceId: string; secret: { x: string; d: string } } | null;
  readonly joining: { secret: { x: string; d: string } } | null;
}
const kept = async (): Promise<Kept> => JSON.parse(await readFile(join(dir, 'identity.json'), 'utf8')) as Kept;
const keyIn = ({ body }: Asked): unknown => decodeProtectedHeader(body.assertion)['jwk'];

describe('a device with a join token', () => {
  it('has its key on the disk, for itself alone, before anybody hears of it', async () => {
    let before: Kept | undefined;
    gateway.reply = async () => {
      before = await kept();
      return issuing()();
    };
    const source = await open(TOKEN);
    expect(await source.credential()).toBe('credential-1');
    const [asked] = gateway.asked;
    expect(asked).toMatchObject({ path: '/v1/join', body: { token: TOKEN } });
    expect(before).toMatchObject({ joined: null, joining: { secret: keyIn(asked as Asked) } });
    expect(await kept()).toMatchObject({
      joined: { deviceId: 'web-1', secret: before?.joining?.secret },
      joining: null,
    });
    expect((await stat(join(dir, 'identity.json'))).mode & 0o777).toBe(0o600);
    for (const secret of [TOKEN, before?.joining?.secret.d ?? '', 'credential-1']) expect(log).not.toContain(secret);
  });

  it('asks again with the same key when there was no answer, or when it was killed before it came', async () => {
    const replies = [() => 'cut' as const, () => ({ status: 503, body: {} }), issuing()];
    gateway.reply = () => replies.shift()?.() ?? 'cut';
    await open(TOKEN);
    expect(gateway.asked).toHaveLength(3);
    expect(new Set(gateway.asked.map((asked) => JSON.stringify(keyIn(asked)))).size).toBe(1);

    const killed = new AbortController();
    gateway.reply = () => {
      killed.abort();
      return 'cut';
    };
    const dying = open(ANOTHER, { signal: killed.signal });
    await expect(dying).rejects.toThrow();
    const { secret } = (await kept()).joining ?? {};
    gateway.reply = issuing();
    await open(ANOTHER);
    expect(keyIn(gateway.asked.at(-1) as Asked)).toMatchObject({ x: secret?.x });
  });

  it('tries all servers', async () => {
    // At a port that nobody else is given meanwhile.
    const dead = `ws://127.0.0.1:${await ownPort()}/ws`;
    expect(await (await open(TOKEN, { urls: [dead, gateway.url] })).credential()).toBe('credential-1');
  });

  it.each([
    ['TOKEN_USED', 409, 'Another client has used this join token already'],
    ['TOKEN_EXPIRED', 410, 'This join token has expired'],
    ['TOKEN_UNKNOWN', 401, 'The server does not know this join token'],
    ['UNAUTHORIZED', 403, 'The server refuses to let this device join: why'],
  ])('that is refused with %s says what to do', async (code, status, sentence) => {
    gateway.reply = refusing(code, status);
    const failure = await open(TOKEN).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InputError);
    expect(failure).toMatchObject({ message: expect.stringContaining(sentence) });
  });

  it('notices a server that knows nothing of all this', async () => {
    gateway.reply = () => ({ status: 426, body: {} });
    await expect(open(TOKEN)).rejects.toThrow('takes join tokens');
  });

  it('trusts the authority that it is told to trust, and nobody else', async () => {
    const authority = makeTestAuthority();
    const secure = new ScriptedGateway(authority.issue('127.0.0.1'));
    await secure.start();
    secure.reply = issuing();
    const tls = { ca: authority.cert };
    const urls = [secure.url];
    const refused = new AbortController();
    const trying = expect(open(TOKEN, { urls, signal: refused.signal })).rejects.toThrow();
    await until(() => log.includes('unable to verify') || undefined);
    refused.abort();
    await trying;
    expect(secure.asked).toEqual([]);
    expect(await (await open(TOKEN, { urls, tls: () => Promise.resolve(tls) })).credential()).toBe('credential-1');
    await secure.stop();
  });

  it('whose clock is a day slow joins by the clock of the server', async () => {
    const DAY_MS = 24 * 60 * 60 * 1_000;
    gateway.reply = ({ body }) => {
      const { iat = 0 } = decodeJwt(body.assertion);
      return Math.abs(iat * 1_000 - Date.now()) < 60_000 ? issuing()() : refusing('CLOCK_SKEW')();
    };
    await open(TOKEN, { now: () => Date.now() - DAY_MS });
    expect(gateway.asked).toHaveLength(2);
  });
});

describe('a device that has joined', () => {
  beforeEach(async () => {
    await open(TOKEN);
    gateway.asked.length = 0;
  });

  it('needs no token any more, and gets a credential by its key', async () => {
    const source = await open();
    expect(gateway.asked).toEqual([]);
    expect(await source.credential()).toBe('credential-2');
    const [asked] = gateway.asked;
    expect(asked?.path).toBe('/v1/credential');
    expect(decodeJwt(asked?.body.assertion ?? '')).toMatchObject({ iss: 'web-1', sub: 'web-1' });
    // One is enough for as long as it is good.
    expect(await source.credential()).toBe('credential-2');
  });

  it('does not use a token again that is still there', async () => {
    await (await open(TOKEN)).credential();
    expect(gateway.asked.map(({ path }) => path)).toEqual(['/v1/credential']);
  });

  it('joins anew with another token, as another key; a refusal leaves it as it was', async () => {
    const before = await kept();
    gateway.reply = refusing('TOKEN_EXPIRED', 410);
    await expect(open(ANOTHER)).rejects.toThrow('has expired');
    expect((await kept()).joined).toEqual(before.joined);
    gateway.reply = issuing();
    await open(ANOTHER);
    expect((await kept()).joined?.secret.x).not.toBe(before.joined?.secret.x);
  });

  it('uses a static token that it is given', async () => {
    expect(await (await open('static-token')).credential()).toBe('static-token');
    expect(gateway.asked).toEqual([]);
  });

  it('does not start with a damaged identity, and does not repeat what is in it', async () => {
    await writeFile(join(dir, 'identity.json'), '{"secret":"canary');
    const failure = await open().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InputError);
    expect(String(failure)).toContain('is damaged');
    expect(String(failure)).not.toContain('canary');
  });
});

describe('a credential', () => {
  it('is renewed when a third is left, and the open connection is told', async () => {
    gateway.reply = issuing(6_000, HOUR_MS);
    const source = await open(TOKEN);
    const first = await source.credential();
    const { promise: renewed, resolve } = Promise.withResolvers<string>();
    source.connected(resolve);
    expect([first, await renewed]).toEqual(['credential-1', 'credential-2']);
    expect(await source.credential()).toBe('credential-2');
  });

  it('that was renewed before the connection was open is told to it then', async () => {
    gateway.reply = issuing(1_000);
    const source = await open(TOKEN);
    const used = await source.credential();
    await until(() => gateway.asked[1]);
    const { promise: renewed, resolve } = Promise.withResolvers<string>();
    source.connected(resolve);
    expect(await renewed).not.toBe(used);
  });

  it('that is not believed is replaced once, not again and again', async () => {
    const source = await open(TOKEN);
    expect(await source.credential()).toBe('credential-1');
    expect(source.disbelieved()).toBe(true);
    expect(await source.credential()).toBe('credential-2');
    expect(source.disbelieved()).toBe(false);
    expect(await source.credential()).toBe('credential-2');
    expect(gateway.asked).toHaveLength(2);
  });

  it('that is refused is a matter for people, who are told once', async () => {
    const source = await open(TOKEN);
    await source.credential();
    source.disbelieved();
    gateway.reply = refusing('UNAUTHORIZED');
    for (let tries = 0; tries < 3; tries++) await expect(source.credential()).rejects.toThrow(Unwelcome);
    expect(log.match(/does not accept this device/gu)).toHaveLength(1);
    gateway.reply = issuing();
    expect(await source.credential()).toBe('credential-1');
    expect(log).toContain('accepts this device again');
  });

  it('is not waited for any more once the client stops', async () => {
    const source = await open(TOKEN);
    await source.credential();
    source.disbelieved();
    gateway.reply = () => new Promise(() => undefined);
    const asking = source.credential();
    await until(() => gateway.asked[1]);
    source.stop();
    await expect(asking).rejects.toThrow('aborted');
  });

  it('is waited for while the server is away', async () => {
    const source = await open(TOKEN);
    await source.credential();
    source.disbelieved();
    gateway.reply = () => ({ status: 503, body: {}, headers: { 'Retry-After': '7' } });
    await expect(source.credential()).rejects.toThrow('HTTP 503');
    await expect(source.credential()).rejects.not.toThrow(Unwelcome);
  });
});
