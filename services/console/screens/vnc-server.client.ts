import { createCipheriv } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import type { ScreenServer } from './screens.config.js';

const OPEN_MS_MAX = 5_000;
const VERSION = /^RFB 003\.(?:00[78]|889)\n$/u;
const OUR_VERSION = 'RFB 003.008\n';
const NONE = 1;
const PASSWORD = 2;
const SHARED = 1;
const CHALLENGE_BYTES = 16;
const PASSWORD_CHARS = 8;

/** The server of a screen cannot be used; in words for people. */
export class VncServerError extends Error {}

/** Connects to the server of a screen and is let in there; what it says from then on is for the viewer. Throws VncServerError. */
export async function openVncServer({ host, port, passwordFile }: ScreenServer): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true });
  const late = setTimeout(() => socket.destroy(new VncServerError('it does not answer')), OPEN_MS_MAX);
  try {
    await once(socket, 'connect');
    await greet(socket, passwordFile);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error instanceof VncServerError ? error : new VncServerError('it cannot be reached', { cause: error });
  } finally {
    clearTimeout(late);
  }
}

async function greet(socket: Socket, passwordFile: string | undefined): Promise<void> {
  const version = (await read(socket, OUR_VERSION.length)).toString('latin1');
  if (!VERSION.test(version)) throw new VncServerError('it is no VNC server of protocol 3.8');
  socket.write(OUR_VERSION);
  const kinds = await read(socket, (await read(socket, 1)).readUInt8(0));
  if (passwordFile === undefined) {
    if (!kinds.includes(NONE)) throw new VncServerError('it asks for a password, and there is no passwordFile');
    socket.write(Buffer.from([NONE]));
  } else {
    if (!kinds.includes(PASSWORD)) throw new VncServerError('it asks for no password, and there is a passwordFile');
    socket.write(Buffer.from([PASSWORD]));
    const password = (await readFile(passwordFile, 'utf8')).trim();
    socket.write(answerOf(await read(socket, CHALLENGE_BYTES), password));
  }
  if ((await read(socket, 4)).readUInt32BE(0) !== 0) throw new VncServerError('it does not let the console in');
  socket.write(Buffer.from([SHARED]));
}

/** DES of the challenge, the bits of each byte of the key turned round (RFC 6143, 7.2.2); three times the same key is DES once. */
function answerOf(challenge: Buffer, password: string): Buffer {
  const key = Buffer.alloc(PASSWORD_CHARS);
  Buffer.from(password, 'latin1').copy(key, 0, 0, PASSWORD_CHARS);
  const turned = key.map((byte) =>
    Number.parseInt(byte.toString(2).padStart(8, '0').split('').toReversed().join(''), 2),
  );
  const cipher = createCipheriv('des-ede3-ecb', Buffer.concat([turned, turned, turned]), null).setAutoPadding(false);
  return Buffer.concat([cipher.update(challenge), cipher.final()]);
}

/** Exactly so many bytes; the others stay where they are. Throws when the socket ends before. */
async function read(socket: Socket, bytes: number): Promise<Buffer> {
  if (bytes === 0) throw new VncServerError('it does not want the console');
  for (;;) {
    const piece = socket.read(bytes) as Buffer | null;
    if (piece !== null && piece.length === bytes) return piece;
    if (socket.readableEnded || socket.destroyed) throw new VncServerError('it has closed the connection');
    const heard = new AbortController();
    const hear = (event: string): Promise<unknown> => once(socket, event, { signal: heard.signal });
    await Promise.race(['readable', 'end', 'close'].map(hear)).finally(() => heard.abort());
  }
}
