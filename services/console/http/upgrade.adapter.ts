import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RefusedError } from './refusal.js';

/** The answer to who wanted a socket and gets none. */
export function refuseUpgrade(socket: Duplex, { status, refusal }: RefusedError): void {
  const body = JSON.stringify({ error: refusal });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
