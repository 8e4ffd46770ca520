import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { createInbox, type NatsConnection } from '@nats-io/transport-node';
import { generateHistory, moment, runCommitsOf, startTestBus, type TestBus } from '#libs/testing';
import { commandIdOf, liveSubjectOf, subjects, type OutputChunk, type RunCommit, type RunId } from '#proto';
import { OpenAnswers } from '../http/open-answers.js';
import { RefusedError } from '../http/refusal.js';
import { RunOutput } from './run-output.gateway.js';
import { SSE_LIMITS } from './sse.js';

const PIECE_BYTES = 16_384;
const ANY_BYTES = Number.POSITIVE_INFINITY;
const ANY_MS = 3_600_000;

let bus: TestBus;
let gateway: NatsConnection;
let orchestrator: NatsConnection;
let commits: readonly RunCommit[];
let runId: RunId;
let taskId: string;
let seed = 0;
const servers: Server[] = [];

beforeAll(async () => {
  bus = await startTestBus();
  [gateway, orchestrator] = [await bus.as('aip-gateway'), await bus.as('orchestrator')];
});
afterAll(async () => {
  for (const http of servers) http.closeAllConnections();
  for (const http of servers) http.close();
  await bus.stop();
});
beforeEach(async () => {
  seed += 1;
  commits = runCommitsOf(generateHistory({ seed, tasks: 3 }));
  const [first] = commits;
  const [asked] = first?.events ?? [];
  runId = first?.runId ?? '';
  taskId = asked?.type === 'RUN_REQUESTED' ? (asked.data.constellation?.tasks[0]?.id ?? '') : '';
  await append(commits.slice(0, 1));
});

async function append(some: readonly RunCommit[]): Promise<void> {
  for (const commit of some) await jetstream(orchestrator).publish(subjects.run(runId), JSON.stringify(commit));
}
const finish = () => append(commits.slice(1));

/** A console of its own with the rights of the console; `served` resolves when its first stream is over. */
async function open(limits: Partial<Record<keyof typeof SSE_LIMITS, number>> = {}) {
  const output = new RunOutput({
    nc: await bus.as('console'),
    answers: new OpenAnswers(ANY_BYTES),
    limits: { ...SSE_LIMITS, ...limits },
  });
  const { promise: served, resolve } = Promise.withResolvers<string>();
  let waitingBytes = 0;
  const http = createServer(({ url = '' }, response) => {
    const [run = '', task] = url.slice(1).split('/');
    const write = response.write.bind(response);
    response.write = (chunk: string) => {
      const more = write(chunk);
      waitingBytes = Math.max(waitingBytes, response.writableLength);
      return more;
    };
    void output.serve({ runId: run, taskId: task }, response).then(
      () => resolve('over'),
      (error: unknown) => {
        resolve(String(error));
        response.writeHead(error instanceof RefusedError ? error.status : 500).end();
      },
    );
  }).listen(0, '127.0.0.1');
  servers.push(http);
  await new Promise((listening) => http.once('listening', listening));
  return { output, served, port: (http.address() as AddressInfo).port, waitingBytesMost: () => waitingBytes };
}

interface Client {
  readonly status: number;
  text(): string;
  readonly ended: Promise<void>;
  until(part: string): Promise<void>;
  leave(): void;
}

/** Resolves with the head of the answer: from then on nothing is missed. */
async function ask(port: number, path: string): Promise<Client> {
  const sent = request({ host: '127.0.0.1', port, path: `/${path}` }).end();
  const response = await new Promise<IncomingMessage>((resolve) => void sent.once('response', resolve));
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  response.on('error', () => undefined);
  sent.on('error', () => undefined);
  return {
    status: response.statusCode ?? 0,
    text: () => text,
    ended: new Promise((resolve) => void response.once('close', resolve)),
    until: async (part) => {
      while (!text.includes(part)) await moment();
    },
    leave: () => void sent.destroy(),
  };
}

function write(task: string, text: string, change: Partial<OutputChunk> = {}): OutputChunk {
  const commandId = commandIdOf({ runId, taskId: task, attempt: 1 });
  const chunk: OutputChunk = { commandId, deviceId: 'web-1', stream: 'stdout', offset: 0, text, ...change };
  gateway.publish(subjects.output(commandId), JSON.stringify(chunk));
  return chunk;
}

const chunksOf = (text: string): unknown[] =>
  [...text.matchAll(/^event: output\ndata: ([^\n]*)\n\n/gmu)].map(([, data = '']) => JSON.parse(data) as unknown);

async function untilNobodyListens(): Promise<void> {
  const admin = await bus.as('admin');
  let nobody = false;
  const reply = createInbox('_INBOX_admin');
  const subscription = admin.subscribe(reply, { callback: () => void (nobody = true) });
  admin.publish(liveSubjectOf(subjects.output(commandIdOf({ runId, taskId, attempt: 9 }))), '', { reply });
  await admin.flush();
  subscription.unsubscribe();
  if (nobody) return;
  await moment();
  return untilNobodyListens();
}

describe('RunOutput', () => {
  it('sends each piece while the run goes on, and ends with it', async () => {
    const { port, served } = await open();
    const client = await ask(port, runId);
    expect(client.status).toBe(200);
    const first = write(taskId, 'one\n\ndata: evil\r\u2028');
    await client.until('event: output');
    const second = write('other', 'x', { stream: 'stderr' });
    gateway.publish(subjects.output(first.commandId), '{');
    gateway.publish(subjects.output(first.commandId), JSON.stringify(second));
    // Outputs and runs are streams of their own: neither waits for the other.
    await client.until(JSON.stringify(second));
    await finish();
    await client.ended;
    expect(await served).toBe('over');
    expect(chunksOf(client.text())).toEqual([first, second]);
    expect(client.text()).not.toMatch(/^data: evil/mu);
    await untilNobodyListens();
  });

  it('sends the pieces of one task only when it is named', async () => {
    const { port } = await open();
    const client = await ask(port, `${runId}/${taskId}`);
    write('other', 'not asked for');
    const wanted = write(taskId, 'asked for');
    await client.until(JSON.stringify(wanted));
    await finish();
    await client.ended;
    expect(chunksOf(client.text())).toEqual([wanted]);
  });

  it('tells a client not to come back when the run is over', async () => {
    await finish();
    const { port } = await open();
    expect((await ask(port, runId)).status).toBe(204);
  });

  it.each([
    ['a run', 'unknown'],
    ['a task', 'RUN/unknown'],
  ])('does not know %s that is not there', async (_, path) => {
    const { port } = await open();
    expect((await ask(port, path.replace('RUN', runId))).status).toBe(404);
    await untilNobodyListens();
  });

  it('shows that it is still there while nothing is written', async () => {
    const { port } = await open({ heartbeatMs: 5 });
    const client = await ask(port, runId);
    await client.until(': still here\n\n');
    client.leave();
    await untilNobodyListens();
  });

  it('drops a client that takes nothing, and keeps no more for it than the limit', async () => {
    const bufferBytesMax = 100_000;
    const { port, served, waitingBytesMost } = await open({ bufferBytesMax, drainMsMax: 500 });
    const socket = connect(port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    socket.write(`GET /${runId} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const over = served.then(() => true);
    let pieces = 0;
    do {
      // More than any socket takes by itself.
      for (let many = 0; many < 100; many++) write(taskId, 'x'.repeat(PIECE_BYTES), { offset: PIECE_BYTES * pieces++ });
    } while (!(await Promise.race([over, gateway.flush().then(() => false)])));
    expect(await served).toBe('over');
    expect(waitingBytesMost()).toBeGreaterThan(bufferBytesMax);
    expect(waitingBytesMost()).toBeLessThan(bufferBytesMax + 2 * PIECE_BYTES);
    socket.destroy();
    await untilNobodyListens();
  });

  it('waits for a client that is slow and comes round in time, and gives one that comes late what was written', async () => {
    const count = 200;
    const pieces = Array.from({ length: count }, (_, index) =>
      write(taskId, String(index % 10).repeat(PIECE_BYTES), { offset: PIECE_BYTES * index }),
    );
    await gateway.flush();
    // In time is any time: how long this test takes for the other client is no part of it.
    const { port } = await open({ bufferBytesMax: 100_000, drainMsMax: ANY_MS });
    const socket = connect(port, '127.0.0.1').pause();
    socket.write(`GET /${runId} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    const { port: second } = await open();
    const quick = await ask(second, runId);
    await quick.until(`"offset":${PIECE_BYTES * (count - 1)},`);
    let text = '';
    socket
      .setEncoding('utf8')
      .on('data', (part: string) => (text += part))
      .resume();
    while (!text.includes(`"offset":${PIECE_BYTES * (count - 1)},`))
      await new Promise((turn) => void setImmediate(turn));
    await finish();
    await quick.ended;
    expect(chunksOf(quick.text())).toEqual(pieces);
    expect(text.match(/^data: /gmu)).toHaveLength(count);
    socket.destroy();
  });

  it('ends its streams when the service stops', async () => {
    const { port, output } = await open();
    const first = await ask(port, runId);
    output.end();
    await first.ended;
    await untilNobodyListens();
  });
});
