import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { QueryRefusedError } from '#libs/messaging';
import type { RefusalCode } from '#proto';
import { TestBench, type BenchGateway } from '../testing/test-bench.adapter.js';

let bench: TestBench;
beforeAll(async () => {
  bench = await TestBench.start();
});
afterEach(() => bench.clear());
afterAll(() => bench.stop());

const ISSUED = { deviceId: 'web-1', credential: 'a.b.c', expiresAt: '2026-11-20T15:40:40.489Z' };

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

async function post(gateway: BenchGateway, path: string, body: unknown, headers = {}): Promise<Answered> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(gateway.url.replace('ws:', 'http:').replace('/ws', path), {
    method: 'POST',
    body: text,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
  const answered = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: answered === '' ? undefined : JSON.parse(answered),
  };
}

const refusing = (code: RefusalCode) => () =>
  Promise.reject(new QueryRefusedError({ code, message: `because ${code}`, issues: [] }));

describe('POST /v1/join', () => {
  it('passes the token and the assertion on, and the credential back', async () => {
    const asked: string[][] = [];
    const join = async (token: string, assertion: string) => {
      asked.push([token, assertion]);
      return ISSUED;
    };
    const gateway = await bench.gateway({ registry: { join } });
    const { status, headers, body } = await post(gateway, '/v1/join', { token: 'join-x', assertion: 'a' });
    expect({ status, body, asked }).toEqual({ status: 200, body: ISSUED, asked: [['join-x', 'a']] });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['TOKEN_UNKNOWN', 401],
    ['TOKEN_USED', 409],
    ['TOKEN_EXPIRED', 410],
    ['CLOCK_SKEW', 401],
    ['TRY_AGAIN', 503],
  ] as const)('says %s of the registry with %i', async (code, status) => {
    const gateway = await bench.gateway({ registry: { join: refusing(code) } });
    const answer = await post(gateway, '/v1/join', { token: 't', assertion: 'a' });
    expect(answer).toMatchObject({ status, body: { error: { code, message: `because ${code}` } } });
  });

  it('says 503 and when to come back while there is no registry, and nothing of why', async () => {
    const gateway = await bench.gateway({ registry: { join: () => Promise.reject(new Error('canary')) } });
    const { status, headers, body } = await post(gateway, '/v1/join', { token: 't', assertion: 'a' });
    expect({ status, retry: headers.get('retry-after') }).toEqual({ status: 503, retry: '1' });
    expect(JSON.stringify(body)).not.toContain('canary');
  });
});

describe('POST /v1/credential', () => {
  it('gives the next credential for an assertion', async () => {
    const gateway = await bench.gateway({ registry: { renew: async () => ISSUED } });
    expect(await post(gateway, '/v1/credential', { assertion: 'a' })).toMatchObject({ status: 200, body: ISSUED });
  });

  it('says 401 to who is not known any more', async () => {
    const gateway = await bench.gateway({ registry: { renew: refusing('UNAUTHORIZED') } });
    expect(await post(gateway, '/v1/credential', { assertion: 'a' })).toMatchObject({ status: 401 });
  });
});

describe('what is no such request', () => {
  it.each([
    ['nothing', '', 'INVALID_REQUEST'],
    ['what is not JSON', 'no JSON', 'INVALID_REQUEST'],
    ['an unknown field', '{"assertion":"a","more":1}', 'INVALID_REQUEST'],
    ['more than 8 KiB', JSON.stringify({ assertion: 'x'.repeat(9_000) }), 'TOO_LARGE'],
  ])('%s is refused', async (_, text, code) => {
    const gateway = await bench.gateway();
    expect(await post(gateway, '/v1/credential', text)).toMatchObject({ status: 400, body: { error: { code } } });
  });

  it('a page of a foreign site is refused before its body is read', async () => {
    const gateway = await bench.gateway();
    const headers = { Origin: 'https://evil.example' };
    expect(await post(gateway, '/v1/join', { token: 't', assertion: 'a' }, headers)).toMatchObject({ status: 403 });
    const allowed = await post(gateway, '/v1/join', { token: 't' }, { Origin: 'https://console.example' });
    expect(allowed).toMatchObject({ status: 400 });
  });

  it('another method and another path are told so', async () => {
    const gateway = await bench.gateway();
    const get = await fetch(gateway.url.replace('ws:', 'http:').replace('/ws', '/v1/join'));
    expect({ status: get.status, allow: get.headers.get('allow') }).toEqual({ status: 405, allow: 'POST' });
    expect(await post(gateway, '/v1/other', {})).toMatchObject({ status: 426 });
    expect(await post(gateway, '/ws', {})).toMatchObject({ status: 426 });
  });

  it('one request is one connection', async () => {
    const gateway = await bench.gateway();
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const request = 'POST /v1/credential HTTP/1.1\r\nHost: gateway\r\nContent-Length: 2\r\n\r\n{}';
    socket.write(request + request);
    let said = '';
    for await (const chunk of socket as AsyncIterable<Buffer>) said += chunk.toString();
    expect(said.match(/HTTP\/1\.1 400/gu)).toHaveLength(1);
  });
});

describe('many requests', () => {
  it('from one address are slowed down, and asked no more of the registry than allowed', async () => {
    let asked = 0;
    const renew = async () => {
      asked++;
      return ISSUED;
    };
    const gateway = await bench.gateway({ registry: { renew }, clock: { now: () => 0 } });
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => post(gateway, '/v1/credential', { assertion: 'a' })),
    );
    const slowed = answers.filter(({ status }) => status === 429);
    expect(slowed[0]?.headers.get('retry-after')).toBe('1');
    expect({ slowed: slowed.length, asked }).toEqual({ slowed: 40, asked: 60 });
  });
});
