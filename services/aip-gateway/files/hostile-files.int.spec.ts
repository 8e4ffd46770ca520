import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { getArtifact, putArtifact } from '#libs/messaging';
import type { FakeDevice } from '#libs/testing';
import { AIP_LIMITS, commandIdOf, type ServerMessage } from '#proto';
import { NEVER, run, TestBench, until, type BenchGateway } from '../testing/test-bench.adapter.js';

/* What a device of revision 2 may try over its socket that ours would never do. Its connection stays, and nothing is stored. */

const PIECE = 1_000;
let bench: TestBench;
let gate: BenchGateway;
let device: FakeDevice;
beforeAll(async () => {
  bench = await TestBench.start();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  gate = await bench.gateway();
  device = await bench.device(gate, 'evil', { onCommand: NEVER });
});
afterEach(() => bench.clear());

const COMMAND = commandIdOf({ runId: 'run-1', taskId: 'open', attempt: 1 });
let seed = 0;
const fresh = (bytes: number): Buffer => Buffer.alloc(bytes, `hostile-${++seed}-`);
const sumOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
const isStored = (content: Uint8Array): Promise<boolean> =>
  getArtifact(bench.caller, sumOf(content)).then(
    () => true,
    () => false,
  );

/** A command that runs for as long as the test does. */
async function openCommand(names?: string): Promise<void> {
  const tool = 'EXEC_CLI';
  void bench
    .ask(run(device, 'open', { command: { tool, arguments: { names: names ?? null } } }))
    .catch(() => undefined);
  await device.untilCommand(COMMAND);
}

function begin(id: string, content: Uint8Array, commandId = COMMAND): void {
  const orrery = { transfer_id: id, command_id: commandId, sha256: sumOf(content), bytes: content.length };
  device.send({ type: 'file_begin', orrery });
}
const chunk = (id: string, offset: number, data: Uint8Array): void =>
  device.send({ type: 'file_chunk', orrery: { transfer_id: id, offset, data: Buffer.from(data).toString('base64') } });
const end = (id: string): void => device.send({ type: 'file_end', orrery: { transfer_id: id } });

/** The first frame of the type about the transfer. */
const about =
  (type: ServerMessage['type'], id: string) =>
  (frame: ServerMessage): boolean =>
    frame.type === type && JSON.stringify(frame).includes(`"transfer_id":"${id}"`);
async function abortOf(id: string): Promise<string> {
  const frame = await device.until(about('file_abort', id));
  return frame.type === 'file_abort' ? frame.orrery.code : '';
}
const untilSaid = (type: ServerMessage['type'], id: string): Promise<ServerMessage> => device.until(about(type, id));

/** The connection still does what it is for. */
async function stillServes(): Promise<void> {
  const content = fresh(PIECE);
  begin('honest', content);
  await untilSaid('file_ready', 'honest');
  chunk('honest', 0, content);
  end('honest');
  await untilSaid('file_stored', 'honest');
  expect(await isStored(content)).toBe(true);
}

describe('a hostile device', () => {
  it('stores nothing without a command, and nothing for one of another device', async () => {
    const other = await bench.device(gate, 'other', { onCommand: NEVER });
    const theirs = run(other, 'theirs');
    void bench.ask(theirs).catch(() => undefined);
    await other.untilCommand(theirs.commandId);
    for (const [id, commandId] of Object.entries({ t1: COMMAND, t2: theirs.commandId, t3: 'made.up.1.0.0' })) {
      begin(id, fresh(10), commandId);
      expect(await abortOf(id)).toBe('COMMAND_NOT_OPEN');
    }
  });

  it('gets nothing that its command does not name', async () => {
    const { sha256 } = await putArtifact(bench.caller, fresh(PIECE));
    await openCommand('f'.repeat(64));
    device.send({ type: 'file_request', orrery: { transfer_id: 't1', command_id: COMMAND, sha256 } });
    expect(await abortOf('t1')).toBe('NOT_NAMED');
    await stillServes();
  });

  it('gets what its command names, and no more of it at once than the window', async () => {
    // The last acknowledgement may be of a window more than half of it: more than another one has to be left then.
    const content = fresh(5 * AIP_LIMITS.fileWindowBytes);
    const { sha256, bytes } = await putArtifact(bench.caller, content);
    await openCommand(sha256);
    device.send({ type: 'file_request', orrery: { transfer_id: 't1', command_id: COMMAND, sha256 } });
    // Acknowledges everything as soon as it can for a while, and then nothing more.
    const taken = (): number =>
      device.received.reduce((sum, frame) => {
        return about('file_chunk', 't1')(frame) && frame.type === 'file_chunk'
          ? sum + Buffer.byteLength(frame.orrery.data, 'base64')
          : sum;
      }, 0);
    let acked = 0;
    while (acked < bytes / 2) {
      acked = await until(
        async () => taken(),
        (sum) => sum > acked,
      );
      device.send({ type: 'file_ack', orrery: { transfer_id: 't1', bytes: acked } });
    }
    await stillServes();
    expect(taken()).toBeLessThanOrEqual(acked + AIP_LIMITS.fileWindowBytes);
    expect(device.received.some(about('file_end', 't1'))).toBe(false);
  });

  it.each<[string, string, (id: string, content: Buffer) => void]>([
    ['another content', 'WRONG_CHECKSUM', (id, content) => (chunk(id, 0, Buffer.alloc(content.length)), end(id))],
    ['more bytes than announced', 'TOO_MANY_BYTES', (id, content) => chunk(id, 0, Buffer.alloc(content.length + 1))],
    ['fewer bytes than announced', 'TOO_FEW_BYTES', (id, content) => (chunk(id, 0, content.subarray(1)), end(id))],
    ['a piece at another place', 'WRONG_OFFSET', (id, content) => chunk(id, 1, content.subarray(1))],
  ])('stores nothing with %s', async (_, code, cheat) => {
    await openCommand();
    const content = fresh(PIECE);
    begin('t1', content);
    await untilSaid('file_ready', 't1');
    cheat('t1', content);
    expect(await abortOf('t1')).toBe(code);
    expect(await isStored(content)).toBe(false);
    await stillServes();
  });

  it('has sixteen transfers at a time, and a seventeenth is refused', async () => {
    await openCommand();
    for (let count = 1; count <= AIP_LIMITS.transfersMax; count++) begin(`t${count}`, fresh(10));
    begin('t17', fresh(10));
    expect(await abortOf('t17')).toBe('TOO_MANY_TRANSFERS');
    for (let count = 1; count <= AIP_LIMITS.transfersMax; count++) await untilSaid('file_ready', `t${count}`);
    device.send({ type: 'file_abort', orrery: { transfer_id: 't1', code: 'CANCELLED', message: '' } });
    await stillServes();
  });

  it('is told once of a transfer that nobody knows', async () => {
    await openCommand();
    chunk('nobody', 0, Buffer.alloc(1));
    expect(await abortOf('nobody')).toBe('UNKNOWN_TRANSFER');
    await stillServes();
  });

  it('of revision 1 has no files', async () => {
    device = await bench.device(gate, 'old', { revision: 1, onCommand: NEVER });
    begin('t1', fresh(10));
    await device.until(({ type }) => type === 'error');
    expect(device.received.filter(({ type }) => type.startsWith('file_'))).toEqual([]);
  });
});
