import { AIP_CLOSE, AIP_LIMITS } from '#proto';
import { demand, demandEqual, type Check } from '../check.js';
import { typesOf } from '../client.js';
import { HEARTBEAT } from '../frames.js';
import type { Revised } from '../lab.js';
import type { Frame } from '../peer.js';

const NUMBERS = 'our promise: numbering';
const CROWDS = 3;
const PRESENT = ['heartbeat', 'resumed', 'ack', 'command', 'stop_attempt', 'result_stored', 'error'];

/** What the server has sent since the confirmation: everything that has to have a number. */
const numbered = ({ peer }: Revised): readonly Frame[] => peer.frames.slice(1);

export const demandNumbers = (device: Revised): void => {
  const numbers = numbered(device).map(({ seq }) => seq);
  demandEqual(
    numbers,
    numbers.map((_, index) => index + 1),
    'the numbers of the frames of the server',
  );
};

const lastAck = (device: Revised): unknown => numbered(device).at(-1)?.['ack'];

/** The connection is ended with ERROR and 1002: both ends do not mean the same frames any more. */
async function demandProtocolError(device: Revised): Promise<void> {
  await device.peer.nextOf('error');
  demandEqual((await device.peer.untilClosed()).code, AIP_CLOSE.protocolError, 'the close code');
}

/** Numbers and acknowledgements of revision 2. */
export const NUMBERING: readonly Check[] = [
  {
    id: 'r2.server-numbers',
    what: 'frames of the server after the confirmation have the numbers 1, 2, 3 ...',
    source: NUMBERS,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      for (let count = 0; count < 40; count++) device.heartbeat();
      for (let count = 0; count < 40; count++) await device.peer.nextOf('heartbeat');
      await device.demandError({ type: 'telepathy' });
      demandNumbers(device);
      demand(
        typesOf(device.peer.frames).every((type) => PRESENT.includes(type)),
        'there are frames of other types',
      );
    },
  },
  {
    id: 'r2.server-acknowledges',
    what: 'what the server sends acknowledges everything that it has taken',
    source: NUMBERS,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      demandEqual(lastAck(device), 1, 'the acknowledgement in RESUMED');
      for (const wanted of [2, 3, 4]) {
        device.heartbeat();
        await device.peer.nextOf('heartbeat');
        demandEqual(lastAck(device), wanted, 'the acknowledgement in the answer');
      }
    },
  },
  {
    id: 'r2.acknowledges-silence',
    what: 'frames that are not answered are acknowledged soon all the same, and after so many at once',
    source: 'our promise: a frame ack after ackEveryFrames, or ackAfterMs',
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      const complain = (): void => device.send({ type: 'error', status: 'error', error: 'just saying' });
      // Whatever the server has to say of its own accord may carry it, too.
      const acknowledges = (count: number) => (frame: Frame) => Number(frame['ack'] ?? 0) >= count;
      complain();
      const soonMs = AIP_LIMITS.ackAfterMs + lab.target.answerMs;
      await device.peer.next('the acknowledgement of 2 frames', acknowledges(2), soonMs);
      // Several times: a crowd that a busy machine has let through in two parts is acknowledged by any server after a while.
      for (let crowd = 0, taken = 2; crowd < CROWDS; crowd++, taken += AIP_LIMITS.ackEveryFrames + 1) {
        const from = device.peer.frames.length;
        for (let count = 0; count < AIP_LIMITS.ackEveryFrames; count++) complain();
        device.heartbeat();
        await device.peer.nextOf('heartbeat');
        const before = device.peer.frames.slice(from).filter(({ type }) => type !== 'heartbeat');
        demand(
          before.some(acknowledges(taken + 1)),
          `${AIP_LIMITS.ackEveryFrames} frames were not acknowledged at once`,
        );
      }
    },
  },
  {
    id: 'r2.acknowledgements-end',
    what: 'a frame that is nothing but an acknowledgement is not acknowledged: two quiet ends stop',
    source: NUMBERS,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      for (let count = 0; count < 3 * AIP_LIMITS.ackEveryFrames; count++) device.send({ type: 'ack', ack: 1 });
      await device.demandSilence(HEARTBEAT);
      demand(!typesOf(device.peer.frames).includes('ack'), 'acknowledgements were acknowledged');
    },
  },
  {
    id: 'r2.duplicate',
    what: 'a frame whose number was taken before is ignored',
    source: NUMBERS,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      const beat = device.stamped(HEARTBEAT);
      device.peer.send(beat);
      await device.peer.nextOf('heartbeat');
      device.peer.send(beat);
      device.peer.send(beat);
      await device.demandError({ type: 'telepathy' });
    },
  },
  {
    id: 'r2.gap',
    what: 'a number that is left out ends the connection with ERROR and 1002',
    source: NUMBERS,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      device.stamped(HEARTBEAT);
      device.heartbeat();
      await demandProtocolError(device);
    },
  },
  {
    id: 'r2.no-number',
    what: 'a frame without a number ends the connection with ERROR and 1002',
    source: NUMBERS,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      device.peer.send(HEARTBEAT);
      await demandProtocolError(device);
    },
  },
  {
    id: 'r2.number-before-resume',
    what: 'RESUME has the number 1: another one ends the connection with ERROR and 1002',
    source: NUMBERS,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.revised(2);
      device.peer.send({
        ...device.stamped({ type: 'resume' }),
        seq: 2,
        orrery: { running: [], finished: [], more: false },
      });
      await demandProtocolError(device);
    },
  },
  {
    id: 'r2.ack-of-the-future',
    what: 'an acknowledgement of what was never sent ends the connection with ERROR and 1002',
    source: NUMBERS,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      device.send({ ...HEARTBEAT, ack: 1_000 });
      await demandProtocolError(device);
    },
  },
  {
    id: 'r2.wrong-frame-counts',
    what: 'a frame that cannot be read is answered with ERROR and counts as one, and the connection goes on',
    source: 'our promise: every wrong frame is answered',
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      for (const wrong of ['{not json', '{"type":"telepathy"}', '[1,2']) await device.demandError(wrong);
      demandNumbers(device);
    },
  },
  {
    id: 'r2.never-acknowledges',
    what: 'a device that acknowledges nothing for a long time is closed with 4003',
    source: 'our promise: unackedMsMax',
    profile: 'revision-2',
    waitsMs: AIP_LIMITS.unackedMsMax + 2_000,
    run: async (lab) => {
      const device = await lab.resumed();
      const { code } = await device.peer.untilClosed(AIP_LIMITS.unackedMsMax + 2_000 + lab.target.answerMs);
      demandEqual(code, AIP_CLOSE.unacknowledged, 'the close code');
    },
  },
];
