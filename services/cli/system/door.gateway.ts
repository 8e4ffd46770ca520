import { chmodSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { messageOf } from '../terminal/index.js';

/** What may be asked of a system that runs here. */
export interface AtTheDoor {
  /** Names of all that can be started anew. */
  names(): readonly string[];
  /** Stops what has this name, or is of this service, and resolves when it is ready again. Throws when it did not come back. */
  restart(name: string): Promise<void>;
}

const PRIVATE = 0o177;
const OWNER_ONLY = 0o600;
/** What a socket's path may have on every system that we run on. */
const PATH_BYTES_MAX = 103;
const RESTART = /^\/restart\/([A-Za-z0-9_-]{1,64})$/u;

/**
 * The door of a supervisor: a socket in its home, for whoever may write there and nobody else. Gives back what closes it; undefined when the home's
 * path is too long for a socket.
 */
export async function openDoorOf(file: string, system: AtTheDoor): Promise<(() => Promise<void>) | undefined> {
  if (Buffer.byteLength(file) > PATH_BYTES_MAX) return undefined;
  // Of a supervisor that was killed: the home's lock says that there is no other.
  await rm(file, { force: true });
  const server = createServer((request, response) => void answer(system, request, response));
  await listening(server, file);
  return async () => {
    server.closeAllConnections();
    await new Promise((closed) => void server.close(closed));
  };
}

/** Nobody else may connect from its first moment on. */
async function listening(server: Server, file: string): Promise<void> {
  const opened = new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  const before = process.umask(PRIVATE);
  server.listen(file);
  process.umask(before);
  await opened;
  chmodSync(file, OWNER_ONLY);
}

async function answer(
  system: AtTheDoor,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const name = method === 'POST' ? RESTART.exec(url)?.[1] : undefined;
  const say = (status: number, body: object): void => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };
  if (name === undefined) return say(404, { message: 'nothing of that kind can be asked here' });
  const names = system.names();
  if (!names.includes(name)) return say(404, { names });
  try {
    await system.restart(name);
    say(200, {});
  } catch (error) {
    say(500, { message: messageOf(error) });
  }
}
