import { createHash } from 'node:crypto';
import { AIP_LIMITS } from '#proto';
import { demand, demandEqual, type Check } from '../check.js';
import { HEARTBEAT, orreryOf, outcomeFrame, type Fields } from '../frames.js';
import type { Lab, Revised } from '../lab.js';
import type { Frame } from '../peer.js';
import { requestFor, resultOf } from './commands.js';

const FILES = 'our promise: files';
const sha256Of = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

/** A device with a command that runs, which files may belong to; the command ends with the work. */
async function withCommand(
  lab: Lab,
  work: (device: Revised, commandId: string) => Promise<void>,
  argumentsOf: Fields = { command: 'true' },
): Promise<void> {
  const device = await lab.resumed();
  const command = { tool: 'EXEC_CLI', arguments: argumentsOf as Record<string, string> };
  const request = requestFor(lab, device, { command });
  const answer = lab.ended(request);
  await device.command(request.commandId);
  await work(device, request.commandId);
  device.send(outcomeFrame(request.commandId));
  resultOf(await answer);
  await device.close();
}

const begin = (transferId: string, commandId: string, data: Buffer): Fields => ({
  type: 'file_begin',
  orrery: { transfer_id: transferId, command_id: commandId, sha256: sha256Of(data), bytes: data.length },
});

const chunk = (transferId: string, offset: number, data: Buffer): Fields => ({
  type: 'file_chunk',
  orrery: { transfer_id: transferId, offset, data: data.toString('base64') },
});

/** The transfer is ended by the server with a reason, and the connection goes on. */
async function demandAbort(device: Revised, transferId: string): Promise<void> {
  const isAbort = ({ type }: Frame): boolean => type === 'file_abort';
  await demandReason(device, await nextOf(device, transferId, isAbort));
}

/** The same before anything else is said about it. */
async function demandRefused(device: Revised, transferId: string): Promise<void> {
  const first = await nextOf(device, transferId, () => true);
  demandEqual(first.type, 'file_abort', 'the first that is said about the transfer');
  await demandReason(device, first);
}

const nextOf = ({ peer }: Revised, transferId: string, passes: (frame: Frame) => boolean): Promise<Frame> =>
  peer.next(`a frame about ${transferId}`, (frame) => orreryOf(frame)['transfer_id'] === transferId && passes(frame));

async function demandReason(device: Revised, abort: Frame): Promise<void> {
  const { code, message } = orreryOf(abort);
  demandEqual([typeof code, typeof message], ['string', 'string'], 'code and message of the reason');
  device.heartbeat();
  await device.peer.nextOf('heartbeat');
}

/** Sends the file the way a good device does, within the window that the server acknowledges. */
async function upload(device: Revised, transferId: string, data: Buffer): Promise<void> {
  let acknowledged = 0;
  for (let offset = 0; offset < data.length; offset += AIP_LIMITS.fileChunkBytes) {
    while (offset - acknowledged >= AIP_LIMITS.fileWindowBytes) {
      acknowledged = Number(orreryOf(await device.peer.nextOf('file_ack'))['bytes']);
    }
    device.send(chunk(transferId, offset, data.subarray(offset, offset + AIP_LIMITS.fileChunkBytes)));
  }
  device.send({ type: 'file_end', orrery: { transfer_id: transferId } });
}

/** A whole file, from FILE_BEGIN to FILE_STORED. */
async function store(device: Revised, commandId: string, data: Buffer): Promise<void> {
  device.send(begin('up', commandId, data));
  await device.peer.nextOf('file_ready');
  await upload(device, 'up', data);
  await device.peer.nextOf('file_stored', device.peer.taskMs);
}

const REFUSED: readonly Check[] = [
  {
    id: 'file.begin-without-command',
    what: 'a file for a command that does not run on this device is refused',
    source: `${FILES}: allowed only while command_id is open in this session`,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      device.send(begin('t1', 'run.task.1.0.0', Buffer.from('hello')));
      await demandRefused(device, 't1');
    },
  },
  {
    id: 'file.request-without-command',
    what: 'a file that is asked for by a command that does not run on this device is refused',
    source: `${FILES}: allowed only while command_id is open in this session`,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      const sha256 = sha256Of(Buffer.from('hello'));
      device.send({ type: 'file_request', orrery: { transfer_id: 't1', command_id: 'run.task.1.0.0', sha256 } });
      await demandRefused(device, 't1');
    },
  },
  {
    id: 'file.request-of-another',
    what: 'an artifact that is stored and does not stand in the arguments of the command is refused',
    source: `${FILES}: a download only of an artifact whose sha256 stands in that command's arguments`,
    profile: 'revision-2',
    needs: ['driver'],
    run: async (lab) => {
      const data = Buffer.from(lab.unique('belongs to another command'));
      await withCommand(lab, (device, commandId) => store(device, commandId, data));
      await withCommand(lab, async (device, commandId) => {
        const sha256 = sha256Of(data);
        device.send({ type: 'file_request', orrery: { transfer_id: 't1', command_id: commandId, sha256 } });
        await demandRefused(device, 't1');
      });
    },
  },
  {
    id: 'file.chunk-of-nothing',
    what: 'a piece of a transfer that never began is refused, and the connection goes on',
    source: 'our promise: every wrong frame is answered',
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      device.send(chunk('t9', 0, Buffer.from('hello')));
      const answer = await device.peer.next('an answer', ({ type }) => type === 'file_abort' || type === 'error');
      if (answer.type === 'file_abort') demandEqual(orreryOf(answer)['transfer_id'], 't9', 'the transfer');
      device.heartbeat();
      await device.peer.nextOf('heartbeat');
    },
  },
  {
    id: 'file.abort-of-nothing',
    what: 'FILE_ABORT of a transfer that never began is not answered with FILE_ABORT: two such ends would never stop',
    source: 'our promise: every wrong frame is answered or ignored for good',
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      const answers = await device.answersTo({
        type: 'file_abort',
        orrery: { transfer_id: 't9', code: 'X', message: 'x' },
      });
      demand(
        answers.every(({ type }) => type !== 'file_abort'),
        'it was answered with FILE_ABORT',
      );
    },
  },
  {
    id: 'file.wrong-checksum',
    what: 'a file that is not the one that was announced is not stored',
    source: `${FILES}: sha256`,
    profile: 'revision-2',
    needs: ['driver'],
    run: (lab) =>
      withCommand(lab, async (device, commandId) => {
        const announced = Buffer.from(lab.unique('announced'));
        const other = Buffer.alloc(announced.length, 'x');
        device.send(begin('t1', commandId, announced));
        await device.peer.nextOf('file_ready');
        await upload(device, 't1', other);
        await demandAbort(device, 't1');
      }),
  },
  {
    id: 'file.wrong-offset',
    what: 'a piece that does not follow the one before ends its transfer',
    source: FILES,
    profile: 'revision-2',
    needs: ['driver'],
    run: (lab) =>
      withCommand(lab, async (device, commandId) => {
        const data = Buffer.from(lab.unique('offset'));
        device.send(begin('t1', commandId, data));
        await device.peer.nextOf('file_ready');
        device.send(chunk('t1', 3, data.subarray(3)));
        await demandAbort(device, 't1');
      }),
  },
  {
    id: 'file.too-much',
    what: 'more bytes than were announced end the transfer',
    source: FILES,
    profile: 'revision-2',
    needs: ['driver'],
    run: (lab) =>
      withCommand(lab, async (device, commandId) => {
        const data = Buffer.from(lab.unique('much'));
        device.send(begin('t1', commandId, data));
        await device.peer.nextOf('file_ready');
        device.send(chunk('t1', 0, Buffer.concat([data, data])));
        await demandAbort(device, 't1');
      }),
  },
  {
    id: 'file.too-large',
    what: 'a file that is larger than any file may be is refused before a byte of it is sent',
    source: 'our promise: every payload has a limit',
    profile: 'revision-2',
    needs: ['driver'],
    run: (lab) =>
      withCommand(lab, async (device, commandId) => {
        const orrery = { transfer_id: 't1', command_id: commandId, sha256: '0'.repeat(64), bytes: 2 ** 50 };
        device.send({ type: 'file_begin', orrery });
        await demandRefused(device, 't1');
      }),
  },
];

const CARRIED: readonly Check[] = [
  {
    id: 'file.upload',
    what: 'a file of several pieces is taken, acknowledged and stored; sent again it need not be sent',
    source: FILES,
    profile: 'revision-2',
    needs: ['driver'],
    run: (lab) =>
      withCommand(lab, async (device, commandId) => {
        const data = Buffer.alloc(3 * AIP_LIMITS.fileWindowBytes + 11, lab.unique('content'));
        device.send(begin('t1', commandId, data));
        const ready = await device.peer.nextOf('file_ready');
        demandEqual(orreryOf(ready), { transfer_id: 't1', have: false }, 'FILE_READY');
        await upload(device, 't1', data);
        const stored = await device.peer.nextOf('file_stored', device.peer.taskMs);
        demandEqual(orreryOf(stored), { transfer_id: 't1' }, 'FILE_STORED');
        device.send(begin('t2', commandId, data));
        const again = await device.peer.nextOf('file_ready');
        demandEqual(orreryOf(again), { transfer_id: 't2', have: true }, 'FILE_READY of the same file');
      }),
  },
  {
    id: 'file.download',
    what: 'an artifact that stands in the arguments of a command is sent whole, within the window that the device acknowledges',
    source: FILES,
    profile: 'revision-2',
    needs: ['driver'],
    run: async (lab) => {
      const data = Buffer.alloc(2 * AIP_LIMITS.fileWindowBytes + 5, lab.unique('artifact'));
      const sha256 = sha256Of(data);
      await withCommand(lab, (device, commandId) => store(device, commandId, data));
      await withCommand(
        lab,
        async (device, commandId) => {
          device.send({ type: 'file_request', orrery: { transfer_id: 'down', command_id: commandId, sha256 } });
          const first = await device.peer.nextOf('file_begin');
          demandEqual(orreryOf(first), { transfer_id: 'down', sha256, bytes: data.length }, 'FILE_BEGIN');
          demandEqual(sha256Of(await download(device, 'down', data.length)), sha256, 'the checksum of what came');
        },
        { command: 'true', input: sha256 },
      );
    },
  },
];

async function download(device: Revised, transferId: string, bytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let taken = 0; taken < bytes;) {
    const { transfer_id: transfer, offset, data } = orreryOf(await device.peer.nextOf('file_chunk'));
    demandEqual([transfer, offset], [transferId, taken], 'transfer and offset of a piece');
    const content = Buffer.from(String(data), 'base64');
    demand(content.length > 0, 'a piece is empty');
    pieces.push(content);
    taken += content.length;
    device.send({ type: 'file_ack', orrery: { transfer_id: transferId, bytes: taken } });
  }
  await device.peer.nextOf('file_end');
  await device.answersTo(HEARTBEAT);
  return Buffer.concat(pieces);
}

/** Files between a device and the store of artifacts. */
export const FILE_TRANSFER: readonly Check[] = [...REFUSED, ...CARRIED];
