import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { parseJson } from '#proto';
import { ClientStatus } from './client-status.js';

const ANSWER_MS = 2_000;
const ANSWER_CHARS_MAX = 1024 * 1024;

/** In the data directory, which nobody else may enter. */
const socketIn = (dataDir: string): string => join(dataDir, 'status.sock');

/** Tells everybody who connects, and ends. Who holds the lock of the data directory may take a socket away that a killed client has left. */
export async function serveStatus(dataDir: string, status: () => Promise<ClientStatus>): Promise<Server> {
  const file = socketIn(dataDir);
  await rm(file, { force: true });
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    void status().then((told) => socket.end(JSON.stringify(told)));
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(file, resolve);
  await promise;
  await chmod(file, 0o600);
  // It answers as long as the client lives, and keeps nobody alive.
  return server.unref();
}

/** Undefined: no client works with this data directory, or it does not answer. */
export async function askStatus(dataDir: string): Promise<ClientStatus | undefined> {
  const socket = connect(socketIn(dataDir));
  socket.setTimeout(ANSWER_MS, () => socket.destroy());
  try {
    let text = '';
    for await (const chunk of socket.setEncoding('utf8') as AsyncIterable<string>) {
      text += chunk;
      if (text.length > ANSWER_CHARS_MAX) return undefined;
    }
    return ClientStatus.safeParse(parseJson(text)).data;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}
