import { describe, expect, it } from '@jest/globals';
import type { ClientMessage, ServerMessage } from '#proto';
import { DeviceServerEndpoint, type DevicePort, type FileMessage } from '../session/index.js';
import { TELEMETRY } from '../testing/client-messages.js';
import { linkedPair } from '../transport/index.js';
import { ServerConnection, type LinkedDevice } from './server-connection.js';

/* Both real ends of a connection, and how pieces of files go over it. */

const DATA = Uint8Array.from([0, 255, 123, 34]);
const orrery = (data: string | Uint8Array) => ({ transfer_id: 't1', offset: 0, data });
const UP: ClientMessage = { type: 'file_chunk', status: 'ok', client_type: 'device', orrery: orrery(DATA) };
const DOWN: ServerMessage = { type: 'file_chunk', status: 'ok', orrery: orrery(DATA) };

/** `offers`: what the device says of itself; `carries`: whether the connection takes binary frames at all. */
function connected({ offers, carries = true }: { readonly offers: boolean; readonly carries?: boolean }) {
  const pair = linkedPair();
  /** Of every frame that was sent, whether it was binary. */
  const frames: { up: boolean[]; down: boolean[] } = { up: [], down: [] };
  const seen: { up: FileMessage[]; down: ServerMessage[] } = { up: [], down: [] };
  const end = (side: 'left' | 'right', way: 'up' | 'down') => {
    const { sendBytes, ...rest } = pair[side];
    const send = (text: string) => (frames[way].push(false), rest.send(text));
    const bytes = (data: Uint8Array) => (frames[way].push(true), sendBytes?.(data) === true);
    return { ...rest, send, ...(carries && { sendBytes: bytes }) };
  };
  const clock = { now: () => 0 };
  const nothing = () => undefined;
  const port: Partial<DevicePort> = {
    claim: () => endpoint.input({ kind: 'claimed', sessionId: 's1' }),
    files: { frame: (message) => seen.up.push(message), closed: nothing },
  };
  const silent = new Proxy(port, { get: (own, name) => Reflect.get(own, name) ?? nothing }) as DevicePort;
  const watch = { log: nothing, count: nothing, latency: nothing };
  const identity = { id: 'web-1', role: 'device', targets: null, expiresAt: null } as const;
  const endpoint = new DeviceServerEndpoint({ identity, transport: end('left', 'down'), clock, port: silent, watch });
  const said = { revision: 2, journal_id: 'j1', telemetry: TELEMETRY, ...(offers && { binary_pieces: true }) };
  const base = { status: 'ok', client_type: 'device' } as const;
  const device: LinkedDevice = {
    register: () => ({ type: 'register', ...base, metadata: { orrery: said } }),
    holdings: () => ({ running: [], finished: [] }),
    nextResult: nothing,
    heartbeat: () => ({ type: 'heartbeat', ...base }),
    onReady: nothing,
    onMessage: (message) => void seen.down.push(message),
    onDisconnected: nothing,
  };
  const options = { device, clock, heartbeatMs: 30_000, onFact: nothing, onEnd: nothing };
  const connection = new ServerConnection({ ...options, transport: end('right', 'up') });
  connection.start();
  pair.deliver();
  frames.up.length = 0;
  frames.down.length = 0;
  return {
    seen,
    frames,
    exchange: () => {
      connection.send(UP);
      endpoint.say(DOWN);
      pair.deliver();
    },
    connection,
    deliver: () => pair.deliver(),
  };
}

const bytesOf = (messages: readonly object[]): Buffer[] =>
  messages.map((message) => {
    const { data } = (message as typeof UP & { orrery: { data: string | Uint8Array } }).orrery;
    return typeof data === 'string' ? Buffer.from(data, 'base64') : Buffer.from(data);
  });

describe('a piece of a file', () => {
  it.each([
    ['are binary frames where both ends have said so', { offers: true }, true],
    ['are texts to and from a device that has not offered it', { offers: false }, false],
    ['are texts on a connection that carries nothing else', { offers: true, carries: false }, false],
  ])('and its answer %s, and the same bytes', (_, given, binary) => {
    const { seen, frames, exchange } = connected(given);
    exchange();
    expect([frames.up[0], frames.down[0]]).toEqual([binary, binary]);
    expect(bytesOf(seen.up)).toEqual([Buffer.from(DATA)]);
    expect(bytesOf(seen.down)).toEqual([Buffer.from(DATA)]);
    // Numbers go on over both kinds.
    exchange();
    expect([seen.up.length, seen.down.length]).toEqual([2, 2]);
  });

  it('is what it was when it was given, though its memory has something else by now', () => {
    const { seen, connection, deliver } = connected({ offers: true });
    const memory = Uint8Array.from(DATA);
    connection.send({ ...UP, orrery: orrery(memory) });
    memory.fill(9);
    deliver();
    expect(bytesOf(seen.up)).toEqual([Buffer.from(DATA)]);
  });
});
