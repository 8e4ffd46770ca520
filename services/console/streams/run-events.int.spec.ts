import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { FeedMessage, subjects } from '#proto';
import { connectBus } from '#libs/messaging';
import { startTestNats, type TestNats } from '#libs/testing';
import { OpenAnswers } from '../http/open-answers.js';
import { RunEvents } from './run-events.gateway.js';
import { SSE_LIMITS } from './sse.js';

const TAIL_CHARS = 500;
const ANY_BYTES = Number.POSITIVE_INFINITY;

let server: TestNats;
let nc: NatsConnection;
const servers: Server[] = [];

beforeAll(async () => {
  server = await startTestNats({ provisioned: true });
  nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
});
afterAll(async () => {
  for (const http of servers) http.closeAllConnections();
  for (const http of servers) http.close();
  await nc.close();
  await server.stop();
});

/** A console of its own with other limits; `served` resolves when its first stream is over. */
async function open(limits: Partial<Record<keyof typeof SSE_LIMITS, number>>) {
  const events = new RunEvents({ nc, answers: new OpenAnswers(ANY_BYTES), limits: { ...SSE_LIMITS, ...limits } });
  const { promise: served, resolve } = Promise.withResolvers<string>();
  const http = createServer((request, response) => {
    void events.serve({ runId: (request.url ?? '').slice(1), lastEventId: undefined }, response).then(
      () => resolve('over'),
      (error: unknown) => {
        resolve(String(error));
        response.writeHead(503).end();
      },
    );
  }).listen(0, '127.0.0.1');
  servers.push(http);
  await new Promise((listening) => http.once('listening', listening));
  return { events, served, port: (http.address() as AddressInfo).port };
}

function ask(port: number, runId: string): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET /${runId} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return socket;
}

/** The end of what came until this part of it did; without reading any further, and without closing the socket. */
function textUntil(socket: Socket, part: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  socket.on('data', (chunk) => {
    text = `${text}${String(chunk)}`;
    if (text.includes(part)) resolve(text);
    text = text.slice(-TAIL_CHARS);
  });
  socket.once('close', () => reject(new Error(`closed before ${part}`)));
  return promise;
}

async function publish(runId: string, count: number, padding: number): Promise<void> {
  await jetstream(nc).publish(subjects.run(runId), '{}'); // there is such a run
  for (let index = 1; index <= count; index++) {
    const message = FeedMessage.parse({
      specversion: '1.0',
      id: `${runId}-${index}`,
      source: `/orrery/runs/${runId}`,
      type: 'orrery.RUN_ANNOTATED',
      time: '2026-01-01T00:00:00.000Z',
      datacontenttype: 'application/json',
      orreryrunid: runId,
      orrerysequence: index,
      orrerysource: `${index}.0`,
      data: { text: 'x'.repeat(padding) },
    });
    await jetstream(nc).publish(subjects.feed(runId, 'RUN_ANNOTATED', 'anna'), JSON.stringify(message));
  }
}

describe('RunEvents', () => {
  it('drops a client that takes nothing, and serves the next one', async () => {
    await publish('large', 32, 1_000_000);
    const { served, port } = await open({ bufferBytesMax: 100_000, drainMsMax: 2_000 });
    const slow = ask(port, 'large').pause();
    expect(await served).toBe('over');
    const { port: patient } = await open({ bufferBytesMax: 100_000 });
    const quick = ask(patient, 'large');
    await textUntil(quick, 'id: large-32\n');
    quick.destroy();
    slow.destroy();
  });

  it('does not know a run that is not there', async () => {
    const { port, served } = await open({});
    const socket = ask(port, 'unknown');
    expect(await served).toContain('There is no run unknown.');
    socket.destroy();
  });

  it('shows that it is still there while nothing happens', async () => {
    await publish('quiet', 0, 0);
    const { port } = await open({ heartbeatMs: 5 });
    const socket = ask(port, 'quiet');
    await textUntil(socket, ': still here\n\n');
    socket.destroy();
  });

  it('ends the streams when the service stops', async () => {
    const { port, events, served } = await open({});
    const socket = ask(port, 'quiet');
    await textUntil(socket, 'retry:').then(() => events.end());
    expect(await served).toBe('over');
    socket.destroy();
  });
});
