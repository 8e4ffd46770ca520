import { connect } from 'node:net';
import { CheckFailed } from './check.js';

/** A TCP connection below HTTP and WebSocket, for what a library would never send. */
export interface RawSocket {
  write(data: string | Buffer): void;
  /** Everything that came back, as Latin-1. */
  readonly received: string;
  /** Resolves when the text has come back. */
  until(text: string, withinMs: number): Promise<void>;
  /** Resolves when the server has ended the connection. */
  untilEnded(withinMs: number): Promise<void>;
}

export async function rawSocket(url: string): Promise<RawSocket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.setEncoding('latin1');
  let received = '';
  let ended = false;
  const watchers = new Set<() => void>();
  const look = (): void => watchers.forEach((watcher) => watcher());
  socket.on('data', (data: string) => {
    received += data;
    look();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    ended = true;
    look();
  });
  const until = async (holds: () => boolean, withinMs: number, otherwise: string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const watcher = (): void => (holds() ? resolve() : undefined);
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new CheckFailed(`${otherwise} in ${withinMs} ms`));
    }, withinMs);
    watchers.add(watcher);
    watcher();
    await promise.finally(() => {
      clearTimeout(timer);
      watchers.delete(watcher);
    });
  };
  return {
    write: (data) => void socket.write(data, 'latin1'),
    get received() {
      return received;
    },
    until: (text, withinMs) => until(() => received.includes(text), withinMs, `${JSON.stringify(text)} did not come`),
    untilEnded: (withinMs) => until(() => ended, withinMs, 'the connection was not ended'),
  };
}

/** A whole upgrade request, as bytes. */
export function upgradeHead(url: string, token: string): string {
  const { host, pathname } = new URL(url);
  return [
    `GET ${pathname}?token=${encodeURIComponent(token)} HTTP/1.1`,
    `Host: ${host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==',
    '',
    '',
  ].join('\r\n');
}

/** One frame as a client must never send it: not masked. */
export function unmaskedFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  if (payload.length > SHORT_MAX) throw new RangeError(`at most ${SHORT_MAX} bytes`);
  return Buffer.concat([Buffer.from([FIN_TEXT, payload.length]), payload]);
}

const SHORT_MAX = 125;
const FIN_TEXT = 0x81;
