import { AIP_CLOSE, AIP_LIMITS } from '#proto';
import { demand, demandEqual, type Check } from '../check.js';
import { typesOf } from '../client.js';
import { HEARTBEAT, orreryOf, outcomeFrame, outcomeWith, type Fields } from '../frames.js';
import { requestFor, resultOf } from './commands.js';

const RESUME = 'our promise: RESUME';

const CONFIRMATION: readonly Check[] = [
  {
    id: 'r2.confirmed',
    what: 'REGISTER that offers revision 2 is confirmed with it, a session and the time, in a frame without a number',
    source: RESUME,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.revised(2);
      const [confirmation] = device.peer.frames;
      const { revision, session_id: session, server_time: time } = orreryOf(confirmation);
      demandEqual([revision, typeof session, typeof time], [2, 'string', 'string'], 'revision, session and time');
      demandEqual([confirmation?.['seq'] ?? null, confirmation?.['ack'] ?? null], [null, null], 'its numbers');
    },
  },
  {
    id: 'r2.later-revision',
    what: 'REGISTER that offers a later revision is confirmed with the one that the server speaks',
    source: 'our promise: revision = min(offered, 2)',
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.revised(7);
      const { revision } = orreryOf(device.peer.frames[0]);
      demandEqual(revision, 2, 'the revision');
    },
  },
  {
    id: 'r2.revision-1',
    what: 'a device of revision 1 goes on as before: no numbers, no RESUME, COMMANDs at once',
    source: 'our promise: revision 1 devices go on working as before',
    profile: 'revision-2',
    needs: ['driver'],
    run: async (lab) => {
      const device = await lab.revised(1);
      const { revision } = orreryOf(device.peer.frames[0]);
      demandEqual(revision, 1, 'the revision');
      const request = requestFor(lab, device);
      const answer = lab.ended(request);
      await device.command(request.commandId);
      await device.demandError({ type: 'resume', orrery: { running: [], finished: [], more: false } });
      device.send(outcomeFrame(request.commandId));
      resultOf(await answer);
      demand(
        device.peer.frames.every((frame) => (frame['seq'] ?? null) === null),
        'frames have numbers',
      );
    },
  },
  {
    id: 'r2.fields-of-a-later-revision',
    what: 'fields that no revision knows yet are ignored, in REGISTER and later',
    source: 'UFO: unknown fields are ignored',
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.revised(2, lab.device, { future: 1, orrery: { future: true } });
      device.send({ type: 'resume', future: [1], orrery: { running: [], finished: [], more: false, future: {} } });
      await device.peer.nextOf('resumed');
    },
  },
  {
    id: 'r2.only-when-offered',
    what: 'frames of a revision that a client did not offer are answered with ERROR',
    source: 'our promise: deny by default',
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.registered();
      const transfer = { transfer_id: 't1', command_id: 'c.1', sha256: '0'.repeat(64), bytes: 1 };
      const frames: readonly Fields[] = [
        { type: 'resume', orrery: { running: [], finished: [], more: false } },
        { type: 'ack', seq: 1, ack: 0 },
        { type: 'credential', orrery: { credential: 'a.b.c' } },
        { type: 'command_progress', orrery: { command_id: 'c.1', state: 'running' } },
        { type: 'command_output', orrery: { command_id: 'c.1', stream: 'stdout', offset: 0, text: 'x' } },
        { type: 'file_begin', orrery: transfer },
        { type: 'file_request', orrery: transfer },
        { type: 'file_chunk', orrery: { transfer_id: 't1', offset: 0, data: '' } },
        { type: 'file_end', orrery: { transfer_id: 't1' } },
        { type: 'file_ack', orrery: { transfer_id: 't1', bytes: 0 } },
        { type: 'file_abort', orrery: { transfer_id: 't1', code: 'X', message: 'x' } },
      ];
      for (const frame of frames) await device.demandError(frame);
    },
  },
];

const RESUMING: readonly Check[] = [
  {
    id: 'r2.resumed',
    what: 'RESUME is answered with RESUMED',
    source: RESUME,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      demandEqual(typesOf(await device.answersTo(HEARTBEAT)).length, 0, 'frames between two heartbeats');
    },
  },
  {
    id: 'r2.resume-in-parts',
    what: 'a RESUME that says more is answered only when the last part is here',
    source: RESUME,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.revised(2);
      device.resume(['a.t.1.0.0'], [], true);
      device.resume([], ['b.t.1.0.0'], true);
      await device.demandSilence(HEARTBEAT);
      device.resume();
      await device.peer.nextOf('resumed');
      demandEqual(typesOf(device.peer.frames).filter((type) => type === 'resumed').length, 1, 'the number of RESUMEDs');
    },
  },
  {
    id: 'r2.resume-comes-first',
    what: 'before RESUME results, output and files are answered with ERROR',
    source: RESUME,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.revised(2);
      await device.demandError(outcomeFrame('run.task.1.0.0'));
      await device.demandError({
        type: 'command_output',
        orrery: { command_id: 'run.task.1.0.0', stream: 'stdout', offset: 0, text: 'x' },
      });
      device.resume();
      await device.peer.nextOf('resumed');
    },
  },
  {
    id: 'r2.resume-once',
    what: 'a second RESUME is answered with ERROR',
    source: RESUME,
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.resumed();
      await device.demandError({ type: 'resume', orrery: { running: [], finished: [], more: false } });
    },
  },
  {
    id: 'r2.resume-too-long',
    what: 'a RESUME with more ids than one frame may have is answered with ERROR',
    source: 'our promise: at most 1,000 each per frame',
    profile: 'revision-2',
    run: async (lab) => {
      const device = await lab.revised(2);
      const running = Array.from({ length: 1_001 }, (_, index) => `run.task.${index}.0.0`);
      await device.demandError({ type: 'resume', orrery: { running, finished: [], more: false } });
    },
  },
  {
    id: 'r2.no-resume',
    what: 'a device of revision 2 that does not say RESUME in time is sent away',
    source: RESUME,
    profile: 'revision-2',
    waitsMs: AIP_LIMITS.resumeWithinMs + 1_000,
    run: async (lab) => {
      const device = await lab.revised(2);
      await device.peer.nextOf('error', AIP_LIMITS.resumeWithinMs + 1_000 + lab.target.answerMs);
      demandEqual((await device.peer.untilClosed()).code, AIP_CLOSE.policy, 'the close code');
    },
  },
  {
    id: 'r2.no-command-before-resumed',
    what: 'no COMMAND is sent before RESUMED',
    source: 'our promise: the desk opens only when READY',
    profile: 'revision-2',
    needs: ['driver', 'two-devices'],
    run: async (lab) => {
      const device = await lab.revised(2);
      const other = await lab.resumed(lab.otherDevice);
      const request = requestFor(lab, device);
      const answer = lab.ended(request);
      // What is asked of another device afterwards has come there: by then the server knows of the first, too.
      const after = requestFor(lab, other);
      const answerOfOther = lab.ended(after);
      await other.command(after.commandId);
      other.send(outcomeFrame(after.commandId));
      resultOf(await answerOfOther);
      await device.demandSilence(HEARTBEAT);
      device.resume();
      await device.command(request.commandId);
      const types = typesOf(device.peer.frames);
      demand(types.indexOf('resumed') < types.indexOf('command'), `a COMMAND came early: ${types.join(', ')}`);
      device.send(outcomeFrame(request.commandId));
      resultOf(await answer);
    },
  },
  {
    id: 'r2.running-is-not-sent-again',
    what: 'a command that runs when the device comes back is not sent again, and its result reaches who asks for it',
    source: RESUME,
    profile: 'revision-2',
    needs: ['driver'],
    run: async (lab) => {
      const before = await lab.resumed();
      const request = requestFor(lab, before);
      const lost = lab.driver.ask(request);
      await before.command(request.commandId);
      before.peer.cut();
      const device = await lab.revised(2);
      device.resume([request.commandId]);
      await device.peer.nextOf('resumed');
      await lost;
      const answer = lab.ended(request);
      const next = requestFor(lab, device);
      const other = lab.ended(next);
      await device.command(next.commandId);
      device.send(outcomeFrame(next.commandId));
      resultOf(await other);
      device.send(outcomeFrame(request.commandId, outcomeWith({ survived: true })));
      demandEqual(resultOf(await answer), { survived: true }, 'the result');
      const commands = device.peer.frames.filter(({ type }) => type === 'command');
      demandEqual(commands.length, 1, 'the number of COMMANDs after the return');
    },
  },
  {
    id: 'r2.finished-is-delivered',
    what: 'a result from before the cut reaches who asks for its command, which is not sent again',
    source: RESUME,
    profile: 'revision-2',
    needs: ['driver'],
    run: async (lab) => {
      const before = await lab.resumed();
      const request = requestFor(lab, before);
      const lost = lab.driver.ask(request);
      await before.command(request.commandId);
      before.peer.cut();
      const device = await lab.revised(2);
      device.resume([], [request.commandId]);
      await device.peer.nextOf('resumed');
      device.send(outcomeFrame(request.commandId, outcomeWith({ kept: true })));
      await device.demandSilence(HEARTBEAT);
      await lost;
      demandEqual(resultOf(await lab.ended(request)), { kept: true }, 'the result');
      demand(!typesOf(device.peer.frames).includes('command'), 'it was sent again');
    },
  },
];

/** Before the first command: who speaks which revision, and what the device brings. */
export const REVISION_2: readonly Check[] = [...CONFIRMATION, ...RESUMING];
