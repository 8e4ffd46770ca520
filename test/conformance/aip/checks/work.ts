import { AIP_LIMITS } from '#proto';
import { demand, demandEqual, type Check } from '../check.js';
import { typesOf } from '../client.js';
import { HEARTBEAT, outcomeFrame, outcomeWith, type Fields } from '../frames.js';
import { requestFor, resultOf } from './commands.js';
import { demandNumbers } from './numbering.js';

const RESUME = 'our promise: RESUME';
const STOP = 'our promise: STOP';
const OUTPUT = 'our promise: live output';

/** What a device of revision 2 is told and says while it works. */
export const WORK: readonly Check[] = [
  {
    id: 'r2.stop',
    what: 'an attempt that is stopped: its device is told so',
    source: STOP,
    profile: 'revision-2',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.resumed();
      const request = requestFor(lab, device);
      const answer = lab.ended(request);
      await device.command(request.commandId);
      const { attempt, deviceId } = request;
      demandEqual(
        await lab.driver.ask({ kind: 'stop', attempt, deviceId }),
        { state: 'done' },
        'the answer to the stop',
      );
      await device.about('stop_attempt', { attempt });
      device.send(outcomeFrame(request.commandId, outcomeWith(null, 'CANCELLED')));
      const ended = await answer;
      demandEqual(ended.state === 'finished' && ended.outcome.state, 'CANCELLED', 'the outcome');
    },
  },
  {
    id: 'r2.stop-refuses-later',
    what: 'a command of an attempt that was stopped before is cancelled and never sent',
    source: STOP,
    profile: 'revision-2',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.resumed();
      const request = requestFor(lab, device);
      await lab.driver.ask({ kind: 'stop', attempt: request.attempt, deviceId: device.id });
      const ended = await lab.ended(request);
      demandEqual(ended.state === 'finished' && ended.outcome.state, 'CANCELLED', 'the outcome');
      await device.demandSilence({ type: 'error', status: 'error', error: 'a frame behind' });
      demand(!typesOf(device.peer.frames).includes('command'), 'it was sent all the same');
    },
  },
  {
    id: 'r2.result-stored',
    what: 'a result that is stored: its device is told that it may forget it',
    source: RESUME,
    profile: 'revision-2',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.resumed();
      const request = requestFor(lab, device);
      const answer = lab.ended(request);
      await device.command(request.commandId);
      device.send(outcomeFrame(request.commandId));
      resultOf(await answer);
      const { commandId, deviceId } = request;
      await lab.driver.ask({ kind: 'stored', commandId, deviceId });
      await device.about('result_stored', { command_id: commandId });
      demandNumbers(device);
    },
  },
  {
    id: 'r2.output',
    what: 'live output of a command that runs reaches who watches it, piece by piece',
    source: OUTPUT,
    profile: 'revision-2',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.resumed();
      const request = requestFor(lab, device);
      const answer = lab.ended(request);
      await device.command(request.commandId);
      const watch = await lab.driver.output(request.commandId);
      device.send(piece(request.commandId, 0, 'line 1\n'));
      device.send(piece(request.commandId, 7, 'line 2\n'));
      await watch.until(2);
      const wanted = ['line 1\n', 'line 2\n'].map((text, index) => ({
        commandId: request.commandId,
        deviceId: device.id,
        stream: 'stdout',
        offset: 7 * index,
        text,
      }));
      demandEqual(watch.pieces, wanted, 'the output');
      watch.stop();
      device.send(outcomeFrame(request.commandId));
      resultOf(await answer);
    },
  },
  {
    id: 'r2.output-of-nothing',
    what: 'output of a command that does not run on this device goes nowhere',
    source: OUTPUT,
    profile: 'revision-2',
    needs: ['driver', 'two-devices'],
    run: async (lab) => {
      const device = await lab.resumed();
      const hostile = await lab.resumed(lab.otherDevice);
      const request = requestFor(lab, device);
      const answer = lab.ended(request);
      await device.command(request.commandId);
      const watch = await lab.driver.output(request.commandId);
      await hostile.answersTo(piece(request.commandId, 0, 'forged'));
      await device.answersTo(piece('run.task.9.0.0', 0, 'of nothing'));
      device.send(piece(request.commandId, 0, 'real'));
      await watch.until(1);
      demandEqual(
        watch.pieces.map(({ text }) => text),
        ['real'],
        'the output',
      );
      watch.stop();
      device.send(outcomeFrame(request.commandId));
      resultOf(await answer);
      device.send(piece(request.commandId, 4, 'after the end'));
      await device.answersTo(HEARTBEAT);
    },
  },
  {
    id: 'r2.output-too-long',
    what: 'a piece of output that is too long is answered with ERROR',
    source: 'our promise: pieces of at most 16 Ki characters',
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      await device.demandError(piece('run.task.1.0.0', 0, 'x'.repeat(AIP_LIMITS.outputChunkCharsMax + 1)));
    },
  },
  {
    id: 'r2.metrics',
    what: 'HEARTBEAT may say how the device is doing; figures that cannot be are answered with ERROR',
    source: 'our promise: metrics',
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      const metrics = { load1: 0.5, memoryFreeMb: 100, diskFreeMb: 1_000, gpus: [] };
      device.send({ ...HEARTBEAT, orrery: { metrics } });
      await device.peer.nextOf('heartbeat');
      for (const wrong of [
        { ...metrics, load1: -1 },
        { ...metrics, memoryFreeMb: 'much' },
        { ...metrics, gpus: [{}] },
      ]) {
        await device.demandError({ ...HEARTBEAT, orrery: { metrics: wrong } });
      }
    },
  },
];

const piece = (commandId: string, offset: number, text: string): Fields => ({
  type: 'command_output',
  orrery: { command_id: commandId, stream: 'stdout', offset, text },
});
