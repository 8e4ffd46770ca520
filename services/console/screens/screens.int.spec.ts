import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type Server } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { WebSocket } from 'ws';
import type { AccessDesk, AccessReading } from '../access/index.js';
import type { ConsoleCaller } from '../callers/index.js';
import { RefusedError, type Door } from '../http/index.js';
import type { RegistryWords } from '../runs/index.js';
import { ScreenDesk } from './screen-desk.adapter.js';
import { ScreenSockets } from './screen-sockets.adapter.js';
import { openVncServer } from './vnc-server.client.js';

const VERSION = 'RFB 003.008\n';
const KEY = Buffer.from([4, 1, 0, 0, 0, 0, 0, 97]);
const UPDATE = Buffer.from([3, 0, 0, 0, 0, 0, 0, 9, 0, 9]);
const PICTURE = Buffer.from('a picture');

/** The other end of the wire: says what a VNC server says, without a password or with a challenge, and keeps what it hears. */
class Peer {
  readonly heard: Buffer[] = [];
  challenge: Buffer | undefined;
  readonly #server = createServer((socket) => void this.#serve(socket).catch(() => socket.destroy()));
  #waiting: (() => void) | undefined;

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when it has heard so many bytes. */
  async hears(bytes: number): Promise<Buffer> {
    while (Buffer.concat(this.heard).length < bytes) await new Promise<void>((resolve) => (this.#waiting = resolve));
    return Buffer.concat(this.heard);
  }

  close(): void {
    this.#server.close();
  }

  async #serve(socket: Socket): Promise<void> {
    socket.on('data', (piece) => {
      this.heard.push(piece);
      this.#waiting?.();
    });
    socket.on('error', () => socket.destroy());
    socket.write(VERSION);
    await this.hears(VERSION.length);
    socket.write(Buffer.from([1, this.challenge === undefined ? 1 : 2]));
    await this.hears(VERSION.length + 1);
    if (this.challenge !== undefined) socket.write(this.challenge);
    const answer = this.challenge?.length ?? 0;
    await this.hears(VERSION.length + 1 + answer);
    socket.write(Buffer.alloc(4));
    await this.hears(VERSION.length + 2 + answer);
    socket.write(PICTURE);
  }
}

const anna = { actor: { kind: 'person', id: 'anna' }, roles: ['operator'] } as unknown as ConsoleCaller;
let peer: Peer;
let http: Server;
let caller: ConsoleCaller | RefusedError;
let taken: string | undefined;
let read: string[];
let cut: () => unknown;
let url: string;
let port: number;

beforeEach(async () => {
  [peer, caller, taken, read] = [new Peer(), anna, undefined, []];
  port = await peer.listen();
  const knock = async () => caller;
  const watch = (_: unknown, end: () => unknown) => ((cut = end), () => undefined);
  const door = { knock, watch } as unknown as Door;
  const reads = async (_: unknown, { what, deviceId }: AccessReading) => void read.push(`${what} ${deviceId}`);
  const access = { reads } as unknown as AccessDesk;
  const by = () => (taken === undefined ? {} : { taken: { by: { id: taken } } });
  const ask = async () => ({ devices: [{ deviceId: 'desk-1', ...by() }] });
  const words = { ask } as unknown as RegistryWords;
  const screens = new Map([['desk-1', { host: '127.0.0.1', port }]]);
  const desk = new ScreenDesk({ screens, door, desk: access, words, logger: pino({ level: 'silent' }) });
  http = createHttp();
  new ScreenSockets(door, desk).attach(http);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/v1/devices/`;
});
afterEach(() => {
  http.closeAllConnections();
  http.close();
  peer.close();
});

/** A viewer that has been greeted, and all that it was sent. */
async function viewing(): Promise<{ viewer: WebSocket; shown: () => Promise<void> }> {
  const viewer = new WebSocket(`${url}desk-1/screen`, 'binary');
  const pieces: Buffer[] = [];
  const seen = Promise.withResolvers<void>();
  viewer.on('message', (data: Buffer) => {
    pieces.push(data);
    if (Buffer.concat(pieces).includes(PICTURE)) seen.resolve();
  });
  await once(viewer, 'open');
  viewer.send(Buffer.concat([Buffer.from(VERSION), Buffer.from([1, 0])]));
  return { viewer, shown: () => seen.promise };
}

async function refusal(device: string): Promise<number | undefined> {
  const viewer = new WebSocket(`${url}${device}/screen`, 'binary');
  viewer.on('error', () => undefined);
  const [, response] = (await once(viewer, 'unexpected-response')) as [unknown, { statusCode?: number }];
  viewer.terminate();
  return response.statusCode;
}

/** What the server hears before anything of the viewer: version, no password, and that others may look as well. */
const GREETING = Buffer.concat([Buffer.from(VERSION), Buffer.from([1, 1])]);

describe('the screen of a device', () => {
  it('is seen, and recorded as read, and not acted on by who has not taken it over', async () => {
    const { viewer, shown } = await viewing();
    await shown();
    expect(read).toEqual(['OUTPUT_READ desk-1']);
    viewer.send(KEY);
    viewer.send(UPDATE);
    expect(await peer.hears(GREETING.length + UPDATE.length)).toEqual(Buffer.concat([GREETING, UPDATE]));
    taken = 'bert';
    viewer.send(Buffer.concat([KEY, UPDATE]));
    expect(await peer.hears(GREETING.length + 2 * UPDATE.length)).toEqual(Buffer.concat([GREETING, UPDATE, UPDATE]));
    viewer.terminate();
  });

  it('is acted on by who has it, and left without keys held down', async () => {
    taken = 'anna';
    const { viewer } = await viewing();
    viewer.send(KEY);
    expect(await peer.hears(GREETING.length + KEY.length)).toEqual(Buffer.concat([GREETING, KEY]));
    viewer.close();
    const up = Buffer.from([4, 0, 0, 0, 0, 0, 0, 97]);
    expect((await peer.hears(GREETING.length + 2 * KEY.length)).subarray(-KEY.length)).toEqual(up);
  });

  it('is gone for who says what no viewer says, and for whose login is over', async () => {
    const { viewer } = await viewing();
    viewer.send(Buffer.from([251, 0, 0, 0]));
    expect(await once(viewer, 'close')).toEqual([1008, Buffer.from('message 251 is not one of a viewer')]);
    const { viewer: other } = await viewing();
    cut();
    expect((await once(other, 'close'))[0]).toBe(1008);
  });

  it('is not there for who may not look, is not known, or asks for another', async () => {
    caller = { ...anna, roles: [] };
    expect(await refusal('desk-1')).toBe(403);
    caller = new RefusedError({ code: 'UNAUTHORIZED', message: 'no' });
    expect(await refusal('desk-1')).toBe(401);
    caller = anna;
    expect(await refusal('desk-2')).toBe(404);
    expect(read).toEqual([]);
  });

  it('is not shown while nothing answers there, which a page is told', async () => {
    peer.close();
    const viewer = new WebSocket(`${url}desk-1/screen`, 'binary');
    expect(await once(viewer, 'close')).toEqual([1011, Buffer.from('it cannot be reached')]);
  });

  it('is never asked to be told of a mouse in messages that are not known here', async () => {
    const { viewer } = await viewing();
    const wishes = [5, -316, 7];
    const asked = (of: readonly number[]): Buffer => {
      const bytes = Buffer.alloc(4 + 4 * of.length);
      bytes.writeUInt8(2, 0);
      bytes.writeUInt16BE(of.length, 2);
      for (const [at, one] of of.entries()) bytes.writeInt32BE(one, 4 + 4 * at);
      return bytes;
    };
    viewer.send(asked(wishes));
    expect(await peer.hears(GREETING.length + 12)).toEqual(Buffer.concat([GREETING, asked([5, 7])]));
    viewer.terminate();
  });
});

describe('the server of a screen', () => {
  it('is answered with what the password makes of its challenge, and never gets the password', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-screens-'));
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, 'geheim12\n');
    peer.challenge = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
    const server = await openVncServer({ host: '127.0.0.1', port, passwordFile });
    // By another implementation of DES.
    const answer = Buffer.from('443b3fb6adf1941f7c9ae9be9dc6e1ad', 'hex');
    const said = [Buffer.from(VERSION), Buffer.from([2]), answer, Buffer.from([1])];
    expect(await peer.hears(VERSION.length + 18)).toEqual(Buffer.concat(said));
    server.destroy();
    rmSync(folder, { recursive: true });
  });

  it('is not used when it wants a password that the console does not have', async () => {
    peer.challenge = Buffer.alloc(16);
    await expect(openVncServer({ host: '127.0.0.1', port })).rejects.toThrow('it asks for a password');
  });
});
