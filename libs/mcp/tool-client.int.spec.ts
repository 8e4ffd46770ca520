import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type Server as HttpServer } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { ownPort } from '#libs/testing';
import { ToolClient } from './tool-client.js';
import { serveTools } from './tool-host.js';
import type { ToolOutput, ToolServerFact, ToolServerSpec } from './tool-server.js';

const ODD = fileURLToPath(new URL('testing/odd-server.ts', import.meta.url));
const never = new AbortController().signal;
const CALL = { signal: never, timeoutMs: 60_000 };

let dir: string;
let facts: ToolServerFact[];
let clients: ToolClient[];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-mcp-'));
  facts = [];
  clients = [];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await rm(dir, { recursive: true, force: true });
});

function connect(spec: ToolServerSpec): ToolClient {
  const client = new ToolClient({
    name: 'odd',
    spec,
    onFact: (fact) => facts.push(fact),
    monotonicMs: () => performance.now(),
  });
  clients.push(client);
  client.start();
  return client;
}
const odd = (mode = 'normal', more: Partial<Extract<ToolServerSpec, { kind: 'stdio' }>> = {}): ToolClient =>
  connect({ kind: 'stdio', command: process.execPath, args: [ODD, mode, join(dir, 'starts')], env: {}, ...more });

async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 2_000; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(10);
  }
  throw new Error('it never became true');
}
const starts = async (): Promise<number> =>
  (await readFile(join(dir, 'starts'), 'utf8').catch(() => '')).split('\n').length - 1;

describe('a tool server over stdio', () => {
  it('names its tools over all pages, with what they declare', async () => {
    const client = odd();
    expect(await client.ready(20_000)).toBe(true);
    expect(client.tools).toHaveLength(10);
    expect(client.tools[1]).toMatchObject({ name: 'text', description: 'does text', readOnly: true });
    expect(client.tools[9]).toMatchObject({ name: 'breaks', readOnly: false });
  });

  it.each([
    ['structured', { kind: 'answered', isError: false, value: { args: { a: 1 } } }],
    ['text', { kind: 'answered', isError: false, value: 'just text' }],
    ['mixed', { kind: 'answered', isError: false, value: [{ type: 'text', text: 'a' }, { type: 'image' }] }],
    ['fails', { kind: 'answered', isError: true, value: 'it failed' }],
    ['breaks', { kind: 'answered', isError: true, value: expect.stringContaining('broken inside') }],
    ['unknown', { kind: 'answered', isError: true, value: expect.stringContaining('no tool unknown') }],
  ])('answers %s', async (tool, answer) => {
    const client = odd();
    await client.ready(20_000);
    expect(await client.call(tool, { a: 1 }, CALL)).toMatchObject(answer);
  });

  it('is told what its caller says beside the arguments, and can have no other id by it', async () => {
    const client = odd();
    await client.ready(20_000);
    const meta = { 'orrery/agent': true, 'orrery/call': 'mine' };
    expect(await client.call('meta', {}, { ...CALL, meta })).toMatchObject({
      value: '{"orrery/agent":true,"orrery/call":"1"}',
    });
    expect(await client.call('meta', {}, CALL)).toMatchObject({ value: '{"orrery/call":"2"}' });
  });

  it('that does not answer is given up after the time, and is still there', async () => {
    const client = odd();
    await client.ready(20_000);
    expect(await client.call('hangs', {}, { signal: never, timeoutMs: 50 })).toEqual({ kind: 'timed_out' });
    expect(await client.call('text', {}, CALL)).toMatchObject({ kind: 'answered' });
  });

  it('has a call cancelled when nobody wants it any more', async () => {
    const client = odd();
    await client.ready(20_000);
    const cancel = new AbortController();
    const call = client.call('hangs', {}, { signal: cancel.signal, timeoutMs: 60_000 });
    cancel.abort();
    expect(await call).toEqual({ kind: 'cancelled', value: null });
    expect(await client.call('text', {}, { signal: cancel.signal, timeoutMs: 60_000 })).toEqual({
      kind: 'cancelled',
      value: null,
    });
  });

  it('is heard while it works, as far as it makes sense', async () => {
    const client = odd();
    await client.ready(20_000);
    const heard: ToolOutput[] = [];
    const answer = await client.call('talks', {}, { ...CALL, onOutput: (piece) => heard.push(piece) });
    expect(answer).toMatchObject({ value: 'said' });
    expect(heard).toEqual([
      { stream: 'stdout', offset: 0, text: 'one' },
      { stream: 'stderr', offset: 7, text: 'two' },
    ]);
    expect(await client.call('text', {}, CALL)).toMatchObject({ kind: 'answered' });
  });

  it.each(['normal', 'silent'])('is not asked to talk by who does not listen, or when it cannot (%s)', async (mode) => {
    const client = odd(mode);
    await client.ready(20_000);
    const onOutput = mode === 'silent' ? () => undefined : undefined;
    expect(await client.call('talks', {}, { ...CALL, onOutput })).toMatchObject({ value: 'nobody listens' });
  });

  it('that dies during a call leaves it lost and the next ones unavailable until it is back', async () => {
    const client = odd();
    await client.ready(20_000);
    const [lost, other] = await Promise.all([client.call('exits', {}, CALL), client.call('hangs', {}, CALL)]);
    expect(lost).toMatchObject({ kind: 'lost' });
    expect(other).toMatchObject({ kind: 'lost' });
    expect(await client.call('text', {}, CALL)).toMatchObject({ kind: 'unavailable' });
    expect(client.tools).toHaveLength(10);
    await client.ready(20_000);
    expect(await client.call('text', {}, CALL)).toMatchObject({ kind: 'answered', value: 'just text' });
    expect(facts.map(({ fact }) => fact)).toEqual(['connected', 'disconnected', 'connected']);
  });

  it('that dies at once is started again with growing waits, and its last words are told', async () => {
    const client = odd('dies');
    await until(async () => ((await starts()) >= 3 ? true : undefined));
    const waits = facts.flatMap((fact) => (fact.fact === 'disconnected' ? [fact.retryMs] : []));
    expect(waits.slice(0, 2)).toEqual([200, 400]);
    expect(facts[0]).toMatchObject({ reason: expect.stringContaining('I cannot go on') });
    expect(await client.call('text', {}, CALL)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('I cannot go on'),
    });
  });

  it('whose program does not exist is unavailable and nothing worse', async () => {
    const client = odd('normal', { command: '/no/such/program' });
    await until(() => (facts.length > 0 ? true : undefined));
    expect(await client.call('text', {}, CALL)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('ENOENT'),
    });
  });

  it('that floods standard error goes on answering', async () => {
    const client = odd();
    await client.ready(20_000);
    await client.call('floods', {}, CALL);
    for (let n = 0; n < 20; n++) expect(await client.call('text', {}, CALL)).toMatchObject({ kind: 'answered' });
  });

  it('tells when its tools change', async () => {
    const client = odd();
    await client.ready(20_000);
    await client.call('grows', {}, CALL);
    await until(() => (client.tools.length === 11 ? true : undefined));
    expect(facts.at(-1)).toEqual({ fact: 'tools_changed', tools: 11 });
  });

  it('inherits no variables beyond the harmless ones and its own', async () => {
    process.env['ORRERY_TEST_CANARY'] = 'secret';
    try {
      const client = odd('normal', { env: { GIVEN: '1' } });
      await client.ready(20_000);
      const answer = await client.call('environment', {}, CALL);
      const names = answer.kind === 'answered' && typeof answer.value === 'string' ? answer.value.split(' ') : [];
      expect(names).toContain('GIVEN');
      expect(['GIVEN', 'HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER']).toEqual(expect.arrayContaining(names));
    } finally {
      delete process.env['ORRERY_TEST_CANARY'];
    }
  });

  it('that never says a word does not delay the end', async () => {
    const client = odd('mute');
    await until(async () => ((await starts()) > 0 ? true : undefined));
    await client.close();
    expect(facts).toEqual([]);
  });

  it('is closed for good, twice without harm, also while it cannot start', async () => {
    const client = odd('dies');
    await until(() => (facts.length > 0 ? true : undefined));
    await client.close();
    await client.close();
    const before = await starts();
    expect(await client.ready(1)).toBe(false);
    expect(await starts()).toBe(before);
  });
});

describe('a tool server over HTTP', () => {
  let http: HttpServer;
  let url: string;
  afterEach(
    () =>
      new Promise<void>((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  );

  async function startHttp(port = 0): Promise<void> {
    const tool = {
      name: 'echo',
      title: 'Echo',
      description: '',
      input: z.strictObject({ text: z.string() }),
      output: z.strictObject({ text: z.string() }),
      readOnly: true,
      run: (args: Record<string, unknown>) => Promise.resolve({ text: String(args['text']) }),
    };
    http = createServer((request, response) => {
      if (request.headers.authorization !== 'Bearer secret') return void response.writeHead(401).end();
      void (async () => {
        // One server per request: the stateless form of the transport.
        const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
        await serveTools({ name: 'http', version: '1', tools: [tool], transport });
        await transport.handleRequest(request, response);
      })();
    });
    await new Promise<void>((resolve) => void http.listen(port, '127.0.0.1', resolve));
    const address = http.address();
    url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/mcp`;
  }

  it('is called with its headers', async () => {
    await startHttp();
    const client = connect({ kind: 'http', url, headers: { Authorization: 'Bearer secret' } });
    expect(await client.ready(20_000)).toBe(true);
    expect(await client.call('echo', { text: 'hi' }, CALL)).toEqual({
      kind: 'answered',
      isError: false,
      value: { text: 'hi' },
    });
    expect(await client.call('echo', { text: 1 }, CALL)).toMatchObject({ kind: 'answered', isError: true });
  });

  it('that goes away is unavailable, and used again when it is back', async () => {
    const port = await ownPort();
    await startHttp(port);
    const client = connect({ kind: 'http', url, headers: { Authorization: 'Bearer secret' } });
    await client.ready(20_000);
    http.closeAllConnections();
    await new Promise((resolve) => void http.close(resolve));
    expect((await client.call('echo', { text: 'hi' }, CALL)).kind).toMatch(/unavailable|lost/);
    await until(() => (client.isReady ? undefined : true));
    await startHttp(port);
    await client.ready(20_000);
    expect(await client.call('echo', { text: 'hi' }, CALL)).toMatchObject({ kind: 'answered', value: { text: 'hi' } });
  });
});
