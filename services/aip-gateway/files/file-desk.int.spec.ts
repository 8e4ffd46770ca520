import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import type { FileMessage } from '#libs/aip';
import { getArtifact, putArtifact } from '#libs/messaging';
import { Metrics, systemClock } from '#libs/platform';
import { startTestBus, valueOf, type TestBus } from '#libs/testing';
import { AIP_LIMITS, ARTIFACTS_BUCKET, type CommandCall, type Json, type ServerMessage } from '#proto';
import { Slots } from '#libs/slots';
import { FileDesk } from './file-desk.adapter.js';
import { gatewayMetrics } from '../connection/gateway-metrics.adapter.js';

const KIB = 1024;
const COMMAND = 'run-1.get.1.0.0';
const { fileChunkBytes: PIECE, fileWindowBytes: WINDOW } = AIP_LIMITS;

let bus: TestBus;
let nc: NatsConnection;
beforeAll(async () => {
  bus = await startTestBus();
  nc = await bus.as('aip-gateway');
});
afterAll(() => bus.stop());

type Of<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>;

/** The device's end of a desk: says what the test says, and keeps what it is told. */
class Device {
  readonly told: ServerMessage[] = [];
  readonly metrics = new Metrics('aip-gateway');
  readonly desk: FileDesk;
  /** Commands that run, with their arguments; null: not known again yet. */
  readonly commands = new Map<string, CommandCall | null>([[COMMAND, { tool: 'FILE_GET', arguments: {} }]]);
  congested = false;
  nowMs = 0;
  #changed = Promise.withResolvers<void>();

  constructor(budget = new Slots(100)) {
    const isCongested = (): boolean => this.congested;
    this.desk = new FileDesk({
      nc,
      clock: systemClock,
      monotonicMs: () => this.nowMs,
      logger: pino({ level: 'silent' }),
      metrics: gatewayMetrics(this.metrics),
      budget,
      device: {
        deviceId: 'web-1',
        say: (message) => this.#hear(message),
        get congested() {
          return isCongested();
        },
        openCommand: (commandId) => {
          const command = this.commands.get(commandId);
          return command === undefined ? undefined : { command };
        },
      },
    });
  }

  names(sha256: Json): void {
    this.commands.set(COMMAND, { tool: 'FILE_PUT', arguments: { deep: [{ artifact: { sha256 } }] } });
  }

  say(type: FileMessage['type'], orrery: object): void {
    this.desk.frame({ type, status: 'ok', client_type: 'device', orrery } as FileMessage);
  }

  begin(id: string, content: Uint8Array, change: object = {}): void {
    const announced = { transfer_id: id, command_id: COMMAND, sha256: sumOf(content), bytes: content.length };
    this.say('file_begin', { ...announced, ...change });
  }

  piece(id: string, offset: number, data: Uint8Array): void {
    this.say('file_chunk', { transfer_id: id, offset, data: Buffer.from(data).toString('base64') });
  }

  /** The next frame of this type about the transfer; an abort instead is an error. */
  async next<T extends ServerMessage['type']>(type: T, id: string): Promise<Of<T>> {
    for (;;) {
      const index = this.told.findIndex((frame) => isAbout(frame, id) && [type, 'file_abort'].includes(frame.type));
      const [found] = index < 0 ? [] : this.told.splice(index, 1);
      if (found?.type === type) return found as Of<T>;
      if (found !== undefined) throw new Error(`aborted: ${JSON.stringify(found)}`);
      await this.#changed.promise;
    }
  }

  /** Why the transfer was given up. */
  async refusal(id: string): Promise<string> {
    return (await this.next('file_abort', id)).orrery.code;
  }

  /** Sends the whole as an honest device does. */
  async upload(id: string, content: Uint8Array): Promise<void> {
    this.begin(id, content);
    const { orrery } = await this.next('file_ready', id);
    if (orrery.have) return;
    let acked = 0;
    for (let at = 0; at < content.length; at += PIECE) {
      while (at + PIECE - acked > WINDOW) acked = (await this.next('file_ack', id)).orrery.bytes;
      this.piece(id, at, content.subarray(at, at + PIECE));
    }
    this.say('file_end', { transfer_id: id });
    await this.next('file_stored', id);
  }

  #hear(message: ServerMessage): void {
    this.told.push(message);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

const isAbout = (frame: ServerMessage, id: string): boolean =>
  'orrery' in frame && 'transfer_id' in (frame.orrery ?? {}) && JSON.stringify(frame.orrery).includes(`"${id}"`);

const sumOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

let seed = 0;
/** A content that no test has used before. */
function fresh(bytes: number): Buffer {
  const content = Buffer.alloc(bytes, createHash('sha512').update(String(++seed)).digest());
  content.writeUInt32LE(seed);
  return content;
}

let device: Device;
beforeEach(() => {
  device = new Device();
});
afterEach(async () => {
  device.desk.closed();
  await untilNoneIsUnfinished();
});

const isStored = (content: Uint8Array): Promise<boolean> =>
  getArtifact(nc, sumOf(content)).then(
    (found) => Buffer.from(found).equals(content),
    () => false,
  );

/** Ids under which pieces lie that belong to no whole object. What a removal leaves behind for a second holds nothing. */
async function unfinished(): Promise<string[]> {
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const stream = `OBJ_${ARTIFACTS_BUCKET}`;
  const lastOf = async (kind: 'C' | 'M') => {
    const { state } = await jsm.streams.info(stream, { subjects_filter: `$O.${ARTIFACTS_BUCKET}.${kind}.>` });
    const subjects = Object.keys(state.subjects ?? {});
    return Promise.all(
      subjects.map(async (subject) => ({
        id: subject.split('.').at(-1) ?? '',
        message: await jsm.streams.getMessage(stream, { last_by_subj: subject }),
      })),
    );
  };
  const objects = await lastOf('M');
  const whole = new Set(objects.map(({ message }) => message?.json<{ nuid: string }>().nuid));
  const pieces = await lastOf('C');
  return pieces.filter(({ id, message }) => (message?.data.length ?? 0) > 0 && !whole.has(id)).map(({ id }) => id);
}

async function untilNoneIsUnfinished(): Promise<void> {
  while ((await unfinished()).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('a file of a device', () => {
  it.each([1, PIECE, PIECE + 1, 3_000 * KIB])('is stored under its checksum (%i bytes)', async (bytes) => {
    const content = fresh(Math.max(4, bytes));
    await device.upload('t1', content);
    expect(await isStored(content)).toBe(true);
    const counted = await device.metrics.text();
    expect(valueOf(counted, 'orrery_aip_files_total', { direction: 'up', outcome: 'done' })).toBe(1);
    expect(valueOf(counted, 'orrery_aip_file_bytes_total', { direction: 'up' })).toBe(content.length);
  });

  it('is stored when it is empty', async () => {
    await device.upload('t1', Buffer.alloc(0));
    expect(await getArtifact(nc, sumOf(Buffer.alloc(0)))).toHaveLength(0);
  });

  it('is not sent again when it is there', async () => {
    const content = fresh(700 * KIB);
    await device.upload('t1', content);
    device.begin('t2', content);
    expect((await device.next('file_ready', 't2')).orrery).toEqual({ transfer_id: 't2', have: true });
    device.piece('t2', 0, content.subarray(0, 10));
    device.begin('t3', fresh(10));
    await device.next('file_ready', 't3');
    expect(device.told.filter(({ type }) => type !== 'file_ack')).toEqual([]);
  });

  it('is acknowledged only as far as the store has it', async () => {
    const content = fresh(4 * PIECE);
    device.begin('t1', content);
    await device.next('file_ready', 't1');
    for (let at = 0; at < content.length; at += PIECE) device.piece('t1', at, content.subarray(at, at + PIECE));
    expect(device.told).toEqual([]);
    const acks = [];
    while (acks.at(-1) !== content.length) acks.push((await device.next('file_ack', 't1')).orrery.bytes);
    expect(acks).toEqual([PIECE, 2 * PIECE, 3 * PIECE, 4 * PIECE]);
  });

  it.each<[string, string, (content: Buffer) => void]>([
    ['a piece at a wrong place', 'WRONG_OFFSET', (content) => device.piece('t1', 9, content.subarray(9, 20))],
    ['a piece of nothing', 'WRONG_PIECE', () => device.piece('t1', PIECE, Buffer.alloc(0))],
    ['a piece that is too large', 'WRONG_PIECE', () => device.piece('t1', PIECE, Buffer.alloc(PIECE + 1))],
    ['a piece that came before', 'WRONG_OFFSET', (content) => device.piece('t1', 0, content.subarray(0, PIECE))],
    ['an end before the end', 'TOO_FEW_BYTES', () => device.say('file_end', { transfer_id: 't1' })],
    ['an acknowledgement', 'OUT_OF_TURN', () => device.say('file_ack', { transfer_id: 't1', bytes: 1 })],
    ['the id of another one', 'TRANSFER_ID_USED', (content) => device.begin('t1', content)],
    ['silence', 'IDLE', () => (device.nowMs += AIP_LIMITS.transferIdleMs) && device.desk.tick()],
    ['the end of its command', 'COMMAND_NOT_OPEN', () => device.commands.clear() === undefined && device.desk.tick()],
  ])('is given up at %s, and nothing of it stays', async (_, code, disturb) => {
    const content = fresh(1_000 * KIB);
    device.begin('t1', content);
    await device.next('file_ready', 't1');
    device.piece('t1', 0, content.subarray(0, PIECE));
    await device.next('file_ack', 't1');
    expect(await unfinished()).toHaveLength(1);
    disturb(content);
    expect(await device.refusal('t1')).toBe(code);
    await untilNoneIsUnfinished();
    expect(await isStored(content)).toBe(false);
  });

  it('with another content than announced is not stored, and nothing of it stays', async () => {
    const content = fresh(600 * KIB);
    device.begin('t1', content);
    await device.next('file_ready', 't1');
    content.writeUInt8(content.readUInt8(9) ^ 1, 9);
    for (let at = 0; at < content.length; at += PIECE) device.piece('t1', at, content.subarray(at, at + PIECE));
    device.say('file_end', { transfer_id: 't1' });
    while ((await device.next('file_ack', 't1')).orrery.bytes < content.length);
    expect(await device.refusal('t1')).toBe('WRONG_CHECKSUM');
    content.writeUInt8(content.readUInt8(9) ^ 1, 9);
    expect(await isStored(content)).toBe(false);
    await untilNoneIsUnfinished();
  });

  it('with more bytes than announced is not stored', async () => {
    const content = fresh(1_000);
    device.begin('t1', content);
    await device.next('file_ready', 't1');
    device.piece('t1', 0, content);
    device.piece('t1', content.length, Buffer.alloc(1));
    expect(await device.refusal('t1')).toBe('TOO_MANY_BYTES');
    expect(await isStored(content)).toBe(false);
  });

  it('is never held in memory beyond its window', async () => {
    device.begin('t1', Buffer.alloc(20 * PIECE));
    await device.next('file_ready', 't1');
    for (let at = 0; at <= WINDOW + PIECE; at += PIECE) device.piece('t1', at, Buffer.alloc(PIECE));
    expect(await device.refusal('t1')).toBe('WINDOW_EXCEEDED');
  });

  it.each([
    ['a command that does not run here', 'COMMAND_NOT_OPEN', { command_id: 'run-2.other.1.0.0' }],
    ['more than anybody may send', 'TOO_LARGE', { bytes: 1024 ** 3 + 1 }],
  ])('for %s is refused', async (_, code, change) => {
    device.begin('t1', fresh(10), change);
    expect(await device.refusal('t1')).toBe(code);
  });

  it('is the seventeenth one too many', async () => {
    for (let count = 1; count <= AIP_LIMITS.transfersMax; count++) device.begin(`t${count}`, fresh(10));
    device.begin('t17', fresh(10));
    expect(await device.refusal('t17')).toBe('TOO_MANY_TRANSFERS');
    await device.next('file_ready', 't16');
    device.say('file_abort', { transfer_id: 't1', code: 'CANCELLED', message: '' });
    device.begin('t18', fresh(10));
    await device.next('file_ready', 't18');
  });

  it('is refused when its command has wanted to store enough, and no other command pays for that', async () => {
    const half = { bytes: 1024 ** 3 };
    device.begin('t1', fresh(10), half);
    device.begin('t2', fresh(10), half);
    device.begin('t3', fresh(10));
    expect(await device.refusal('t3')).toBe('TOO_LARGE');
    device.commands.set('run-1.other.1.0.0', { tool: 'FILE_GET', arguments: {} });
    device.begin('t4', fresh(10), { command_id: 'run-1.other.1.0.0' });
    await device.next('file_ready', 't4');
  });

  it('waits for the room that the whole gateway has', async () => {
    const budget = new Slots(1);
    const [one, other] = [new Device(budget), new Device(budget)];
    one.begin('t1', fresh(10));
    other.begin('t1', fresh(10));
    expect(await other.refusal('t1')).toBe('TOO_MANY_TRANSFERS');
    one.desk.closed();
    other.begin('t2', fresh(10));
    await other.next('file_ready', 't2');
    other.desk.closed();
  });

  it('of which nobody has heard is answered once, and an abort of it not at all', async () => {
    device.say('file_abort', { transfer_id: 'nobody', code: 'X', message: '' });
    device.piece('nobody', 0, Buffer.alloc(1));
    expect(await device.refusal('nobody')).toBe('UNKNOWN_TRANSFER');
    expect(device.told).toEqual([]);
  });

  it('is dropped with the connection', async () => {
    const content = fresh(900 * KIB);
    device.begin('t1', content);
    await device.next('file_ready', 't1');
    device.piece('t1', 0, content.subarray(0, PIECE));
    await device.next('file_ack', 't1');
    device.desk.closed();
    device.piece('t1', PIECE, content.subarray(PIECE, 2 * PIECE));
    await untilNoneIsUnfinished();
    expect(device.told.filter(({ type }) => type !== 'file_ack')).toEqual([]);
  });
});

describe('an artifact for a device', () => {
  const request = (id: string, sha256: string) =>
    device.say('file_request', { transfer_id: id, command_id: COMMAND, sha256 });

  it('comes in pieces, no further than the window', async () => {
    const content = fresh(10 * PIECE + 7);
    const { sha256, bytes } = await putArtifact(nc, content);
    device.names(sha256);
    request('t1', sha256);
    expect((await device.next('file_begin', 't1')).orrery).toEqual({ transfer_id: 't1', sha256, bytes });
    const parts: Buffer[] = [];
    let got = 0;
    while (got < bytes) {
      const { orrery } = await device.next('file_chunk', 't1');
      expect(orrery.offset).toBe(got);
      // The bytes themselves: what they are on the wire is the connection's business.
      parts.push(Buffer.from(orrery.data as Uint8Array));
      got += parts.at(-1)?.length ?? 0;
      device.say('file_ack', { transfer_id: 't1', bytes: got });
    }
    await device.next('file_end', 't1');
    expect(Buffer.concat(parts).equals(content)).toBe(true);
    device.desk.tick();
    expect(device.told).toEqual([]);
  });

  it('waits while the connection is congested', async () => {
    const { sha256 } = await putArtifact(nc, fresh(2 * PIECE));
    device.names(sha256);
    device.congested = true;
    request('t1', sha256);
    await device.next('file_begin', 't1');
    device.desk.tick();
    expect(device.told).toEqual([]);
    device.congested = false;
    device.desk.drained();
    await device.next('file_chunk', 't1');
  });

  it.each<[string, string, (sha256: string) => void]>([
    ['its command does not name', 'NOT_NAMED', () => device.names('0'.repeat(64))],
    ['its command only mentions', 'NOT_NAMED', (sha256) => device.names(`the file ${sha256}`)],
    ['belongs to no command that runs', 'COMMAND_NOT_OPEN', () => device.commands.clear()],
    ['may be named by a command', 'COMMAND_NOT_KNOWN_YET', () => void device.commands.set(COMMAND, null)],
  ])('that %s is refused', async (_, code, prepare) => {
    const { sha256 } = await putArtifact(nc, fresh(10));
    prepare(sha256);
    request('t1', sha256);
    expect(await device.refusal('t1')).toBe(code);
  });

  it('that nobody has stored is missed by name', async () => {
    device.names('0'.repeat(64));
    request('t1', '0'.repeat(64));
    expect(await device.refusal('t1')).toBe('NOT_STORED');
  });

  it('is given up when it is acknowledged before it was sent', async () => {
    const { sha256 } = await putArtifact(nc, fresh(9 * PIECE));
    device.names(sha256);
    request('t1', sha256);
    await device.next('file_chunk', 't1');
    device.say('file_ack', { transfer_id: 't1', bytes: 8 * PIECE });
    while ((await device.refusal('t1').catch(() => 'a piece')) === 'a piece');
    expect(device.told.filter(({ type }) => type === 'file_end')).toEqual([]);
  });
});
