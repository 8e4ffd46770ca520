import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { LIVE_CLOSE } from '#proto';
import { OpenAnswers } from '../http/index.js';
import { LIVE_SOCKET_LIMITS, LiveSocket, type LiveSocketLimits } from './live-socket.adapter.js';

let server: Server;
let sockets: WebSocketServer;
const clients: WebSocket[] = [];

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  sockets = new WebSocketServer({ server });
  await new Promise((listening) => server.once('listening', listening));
});
afterEach(() => {
  for (const client of clients.splice(0)) client.terminate();
  for (const socket of sockets.clients) socket.terminate();
  server.closeAllConnections();
  server.close();
});

async function connected(limits: Partial<LiveSocketLimits> = {}, bytesMax = 1e9) {
  const arrived = new Promise<LiveSocket>((resolve) => {
    sockets.once('connection', (socket) =>
      resolve(new LiveSocket(socket, new OpenAnswers(bytesMax), { ...LIVE_SOCKET_LIMITS, ...limits })),
    );
  });
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  clients.push(client);
  const code = new Promise<number>((resolve) => client.once('close', resolve));
  return { socket: await arrived, client, code };
}

const MESSAGE = 'x'.repeat(1024 * 1024);

it('drops who takes nothing, with a code that says so, and waits for who takes it slowly', async () => {
  const { socket, client, code } = await connected({ drainMsMax: 200, closeMsMax: 60_000 });
  await new Promise((opened) => client.once('open', opened));
  client.pause();
  let sent = 0;
  while (await socket.send(MESSAGE)) sent += 1;
  expect([socket.signal.aborted, sent < 1_000]).toEqual([true, true]);
  client.resume();
  expect(await code).toBe(LIVE_CLOSE.slow);

  // Slowly is as slowly as this machine is.
  const other = await connected({ drainMsMax: 3_600_000, closeMsMax: 60_000 });
  let taken = 0;
  other.client.on('message', () => (taken += 1));
  for (let more = 0; more < 20; more++) expect(await other.socket.send(MESSAGE)).toBe(true);
  other.socket.close(LIVE_CLOSE.goingAway, 'over');
  expect([await other.code, taken]).toEqual([LIVE_CLOSE.goingAway, 20]);
});

it('is dropped when more waits in all than there is room for', async () => {
  const { socket, client, code } = await connected({ closeMsMax: 60_000 }, 8 * 1024 * 1024);
  await new Promise((opened) => client.once('open', opened));
  client.pause();
  for (let more = 0; more < 200 && !socket.signal.aborted; more++) void socket.send(MESSAGE);
  expect(socket.signal.aborted).toBe(true);
  client.resume();
  expect(await code).toBe(LIVE_CLOSE.slow);
});

it('lets go of who does not say that he is still there', async () => {
  const { socket, client } = await connected({ pingMs: 20 });
  client.pong = () => undefined;
  client.pause();
  await new Promise((ended) => socket.signal.addEventListener('abort', ended));
  expect(await socket.send('x')).toBe(false);
});

it('lets many words through at once, and then each in its time, until it is over', async () => {
  const { socket, client, code } = await connected({ wordsMax: 2, wordMs: 3_600_000, closeMsMax: 60_000 });
  await new Promise((opened) => client.once('open', opened));
  await socket.turn();
  await socket.turn();
  const third = socket.turn().then(() => 'said');
  const soon = new Promise((resolve) => setImmediate(() => resolve('waits')));
  expect(await Promise.race([third, soon])).toBe('waits');
  socket.close(LIVE_CLOSE.goingAway, 'over');
  expect([await third, await code]).toEqual(['said', LIVE_CLOSE.goingAway]);
});
