import type { ServerResponse } from 'node:http';
import type { RefusedError } from './refusal.js';

const RETRY_AFTER_S = 1;

export function sendRefusal(response: ServerResponse, { status, refusal }: RefusedError): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  if (refusal.code === 'TRY_AGAIN') response.setHeader('Retry-After', RETRY_AFTER_S);
  response.end(JSON.stringify({ error: refusal }));
}

/** As `sendRefusal`, when whatever body follows is not worth reading: nothing more of it is taken, and the connection ends with the answer. */
export function refuseUnread(response: ServerResponse, refused: RefusedError): void {
  response.setHeader('Connection', 'close');
  response.req.socket.pause();
  sendRefusal(response, refused);
}
