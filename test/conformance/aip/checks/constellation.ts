import { demand, demandEqual, text, type Check } from '../check.js';
import { typesOf, type Client } from '../client.js';
import type { Fields } from '../frames.js';
import { constellationRegisterOf } from '../frames.js';
import type { Lab } from '../lab.js';
import type { Frame } from '../peer.js';

const INFO = 'table 5, DEVICE_INFO_REQUEST';
const TASK = 'table 5, TASK';
const END = 'table 5, TASK_END';
const ONE_END = 'our promise: exactly one TASK_END with the same session_id, always, also for refusals';
const wordsFor = (targetId: string | null, session: string): Fields => ({
  type: 'task',
  status: 'continue',
  session_id: session,
  task_name: `galaxy/interop/${session}`,
  target_id: targetId,
  request: 'Task Description: say hello\nTips for Completion:\nNo tips available.',
});

const endsOf = ({ peer }: Client, session: string): Frame[] =>
  peer.frames.filter((frame) => frame.type === 'task_end' && frame['session_id'] === session);

const untilEnd = ({ peer }: Client, session: string): Promise<Frame> =>
  peer.next(
    `TASK_END of ${session}`,
    (frame) => frame.type === 'task_end' && frame['session_id'] === session,
    peer.taskMs,
  );

/** A TASK that ends for certain, sent behind another: what that one still had to say has been said by then. */
async function demandOneEnd(client: Client, session: string): Promise<Frame> {
  const end = await untilEnd(client, session);
  const behind = `${session}-behind`;
  client.send(wordsFor('no-such-device', behind));
  await untilEnd(client, behind);
  demandEqual(endsOf(client, session).length, 1, `the number of TASK_ENDs of ${session}`);
  return end;
}

/** TASK that cannot be done ends with TASK_END failed, which says why. */
const refusesTask =
  (task: (lab: Lab, session: string, client: Client) => Fields) =>
  async (lab: Lab): Promise<void> => {
    const client = await lab.constellation(null);
    const session = lab.unique('refused');
    client.send(task(lab, session, client));
    const end = await demandOneEnd(client, session);
    demandEqual(end['status'], 'failed', 'the status of TASK_END');
    demand(typeof end['error'] === 'string' && end['error'] !== '', 'TASK_END failed does not say why');
    demandEqual(typesOf(await client.answersToHeartbeat()), ['heartbeat'], 'the answer to the next heartbeat');
  };

const responseIdOf = ({ response_id: id }: Frame): string | undefined => (typeof id === 'string' ? id : undefined);
const byText = (one: string, other: string): number => one.localeCompare(other);

const isNo = ({ type }: Frame): boolean => type === 'error' || type === 'task_end';

/** The same as UFO's server does it: some answer that says no, and a connection that goes on. */
const saysNo =
  (task: (lab: Lab, session: string, client: Client) => Fields) =>
  async (lab: Lab): Promise<void> => {
    const client = await lab.constellation(null);
    client.send(task(lab, lab.unique('no'), client));
    const answer = await client.peer.next('an answer', isNo, client.peer.taskMs);
    demand(answer.type === 'error' || answer['status'] === 'failed', `TASK_END ${String(answer['status'])} came`);
    await client.answersToHeartbeat();
  };

const REGISTRATION: readonly Check[] = [
  {
    id: 'constellation.registers',
    what: 'REGISTER of a constellation client for a connected device is confirmed',
    source: 'table 5, REGISTER; recording 14 c2',
    profile: 'core',
    needs: ['constellation'],
    run: async (lab) => {
      const device = await lab.registered();
      await lab.constellationFor(device.id);
    },
  },
  {
    id: 'constellation.without-target',
    what: 'REGISTER of a constellation client needs no target',
    source: 'UFO; recording 21 c9',
    profile: 'core',
    needs: ['constellation'],
    run: async (lab) => void (await lab.constellation(null)),
  },
  {
    id: 'constellation.unknown-target',
    what: 'REGISTER for a device that is not connected is answered with ERROR, and the connection closed',
    source: 'recording 21 c8',
    profile: 'core',
    needs: ['constellation'],
    run: async (lab) => {
      const peer = await lab.dial({ token: lab.constellationAccount.token });
      peer.send(constellationRegisterOf('c1@nope', 'nope'));
      await peer.nextOf('error');
      await peer.untilClosed();
    },
  },
];

const DEVICE_INFO: readonly Check[] = [
  {
    id: 'device-info.answered',
    what: 'DEVICE_INFO_REQUEST is answered under its own id with what the device says of itself',
    source: `${INFO}: DEVICE_INFO_RESPONSE; recording 14`,
    profile: 'core',
    needs: ['constellation'],
    run: async (lab) => {
      const device = await lab.registered();
      const client = await lab.constellationFor(device.id);
      for (const id of [`device_info_${device.id}_1795189994.0033`, 'again']) {
        client.send({ type: 'device_info_request', target_id: device.id, request_id: id });
        const answer = await client.peer.nextOf('device_info_response');
        demandEqual([answer['status'], answer['response_id']], ['ok', id], 'status and response_id');
        const result = answer['result'] as Fields | null | undefined;
        demandEqual(result?.['platform'], 'linux', 'the platform of the device');
      }
    },
  },
  {
    id: 'device-info.concurrent',
    what: 'several DEVICE_INFO_REQUESTs at once are each answered once, under their own ids',
    source: `${INFO}: idempotent, correlation`,
    profile: 'core',
    needs: ['constellation'],
    run: async (lab) => {
      const device = await lab.registered();
      const client = await lab.constellationFor(device.id);
      const ids = Array.from({ length: 8 }, (_, index) => `request-${index}`);
      for (const id of ids) client.send({ type: 'device_info_request', target_id: device.id, request_id: id });
      const answers: string[] = [];
      for (const id of ids) answers.push(responseIdOf(await client.peer.nextOf('device_info_response')) ?? id);
      demandEqual(answers.toSorted(byText), ids, 'the ids that were answered');
    },
  },
  {
    id: 'device-info.other-device',
    what: 'DEVICE_INFO_REQUEST for a device that is none is answered, with no facts of anybody',
    source: 'UFO: result {error}; 1.10: not authorized',
    profile: 'core',
    needs: ['constellation'],
    run: async (lab) => {
      const device = await lab.registered();
      const client = await lab.constellationFor(device.id);
      client.send({ type: 'device_info_request', target_id: 'no-such-device', request_id: 'q1' });
      const answer = await client.peer.next(
        'an answer',
        ({ type }) => type === 'error' || type === 'device_info_response',
      );
      const result = (answer['result'] ?? {}) as Fields;
      demand(
        answer.type === 'error' || answer['response_id'] === 'q1',
        'the answer is not under the id of the request',
      );
      demand(!('platform' in result) && !('hostname' in result), 'facts of a device were given away');
    },
  },
  {
    id: 'device-info.of-a-device',
    what: 'DEVICE_INFO_REQUEST of a device is answered with ERROR',
    source: 'UFO; recording 22',
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      await device.demandError({ type: 'device_info_request', target_id: device.id, request_id: 'q1' });
    },
  },
  {
    id: 'device-info.pushed',
    what: 'DEVICE_INFO_RESPONSE that nobody asked for is answered with ERROR or not at all, and the connection goes on',
    source: 'table 5, DEVICE_INFO_RESPONSE: expected response none; recording 22 c22',
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      const answers = await device.answersTo({ type: 'device_info_response', status: 'ok', result: { a: 1 } });
      demand(
        answers.every(({ type }) => type === 'error'),
        `it was answered with ${typesOf(answers).join(', ')}`,
      );
    },
  },
];

const TASKS: readonly Check[] = [
  {
    id: 'task.acknowledged',
    what: 'TASK is acknowledged with HEARTBEAT ok under its session_id, or refused with TASK_END at once; nothing comes after that',
    source: 'UFO; recording 14',
    profile: 'core',
    needs: ['constellation'],
    run: async (lab) => {
      const device = await lab.registered();
      const client = await lab.constellationFor(device.id);
      const session = lab.unique('ack');
      client.send(wordsFor(device.id, session));
      const isAbout = (frame: Frame): boolean => frame['session_id'] === session;
      const first = await client.peer.next('an answer', isAbout, client.peer.taskMs);
      const word = `${first.type} ${String(first['status'])}`;
      demand(word === 'heartbeat ok' || word === 'task_end failed', `the first answer to TASK is ${text(first)}`);
      const end = first.type === 'task_end' ? first : await untilEnd(client, session);
      await client.answersToHeartbeat();
      const about = client.peer.frames.filter((frame) => frame['session_id'] === session);
      demandEqual(about.at(-1), end, 'the last frame of the session');
    },
  },
  {
    id: 'task.one-end',
    what: 'TASK ends with one TASK_END under its session_id, completed with a result or failed with a reason',
    source: `${END}; ${ONE_END}`,
    profile: 'core',
    needs: ['constellation'],
    run: async (lab) => {
      const device = await lab.registered();
      const client = await lab.constellationFor(device.id);
      const session = lab.unique('one');
      client.send(wordsFor(device.id, session));
      const { status, result, error } = await untilEnd(client, session);
      demand(status === 'completed' || status === 'failed', `the status of TASK_END is ${String(status)}`);
      if (status === 'failed') demand(typeof error === 'string' && error !== '', 'TASK_END failed does not say why');
      else demand(result !== undefined, 'TASK_END completed has no result');
      demandEqual(endsOf(client, session).length, 1, 'the number of TASK_ENDs');
    },
  },
  {
    id: 'task.several',
    what: 'TASKs that are open at the same time each get their own TASK_END',
    source: `${TASK}: queue fallback; UFO`,
    profile: 'core',
    needs: ['constellation'],
    run: async (lab) => {
      const device = await lab.registered();
      const client = await lab.constellationFor(device.id);
      const sessions = Array.from({ length: 5 }, () => lab.unique('several'));
      for (const session of sessions) client.send(wordsFor(device.id, session));
      for (const session of sessions) await untilEnd(client, session);
      for (const session of sessions) demandEqual(endsOf(client, session).length, 1, `the TASK_ENDs of ${session}`);
    },
  },
  {
    id: 'task.to-nobody.answered',
    what: 'TASK for a device that is not connected is refused, and the connection goes on',
    source: 'recording 22 c6',
    profile: 'core',
    needs: ['constellation'],
    run: saysNo((_, session) => wordsFor('no-such-device', session)),
  },
  {
    id: 'task.to-nobody',
    what: 'TASK for a device that is not connected ends with TASK_END failed',
    source: ONE_END,
    profile: 'strict',
    needs: ['constellation'],
    run: refusesTask((_, session) => wordsFor('no-such-device', session)),
  },
  {
    id: 'task.without-target.answered',
    what: 'TASK without a target is refused, and the connection goes on',
    source: 'recording 22 c7',
    profile: 'core',
    needs: ['constellation'],
    run: saysNo((_, session) => wordsFor(null, session)),
  },
  {
    id: 'task.without-target',
    what: 'TASK without a target ends with TASK_END failed',
    source: ONE_END,
    profile: 'strict',
    needs: ['constellation'],
    run: refusesTask((_, session) => wordsFor(null, session)),
  },
  {
    id: 'task.to-itself',
    what: 'TASK for the constellation client itself ends with TASK_END failed',
    source: `recording 22 c8; ${ONE_END}`,
    profile: 'strict',
    needs: ['constellation'],
    run: refusesTask((_, session, client) => wordsFor(client.id.slice(0, 128), session)),
  },
  {
    id: 'task.without-request',
    what: 'TASK without a request ends with TASK_END failed',
    source: `UFO; ${ONE_END}`,
    profile: 'strict',
    needs: ['constellation'],
    run: refusesTask((lab, session) => ({ ...wordsFor(lab.device.id, session), request: null })),
  },
  {
    id: 'task.forged-role',
    what: 'TASK of a constellation client that calls itself a device is refused',
    source: `recording 22: client_type does not match; ${ONE_END}`,
    profile: 'strict',
    needs: ['constellation'],
    run: refusesTask((lab, session) => ({ ...wordsFor(lab.device.id, session), client_type: 'device' })),
  },
  {
    id: 'task.of-a-device',
    what: 'TASK of a device for another device is answered with ERROR, and the connection goes on',
    source: 'recording 22 c9, c10',
    profile: 'core',
    run: async (lab) => {
      const device = await lab.registered();
      for (const role of ['device', 'constellation']) {
        const answers = await device.answersTo({ ...wordsFor('another-device', lab.unique('d')), client_type: role });
        demand(
          typesOf(answers).includes('error') || typesOf(answers).includes('task_end'),
          'TASK of a device was taken',
        );
        demand(!typesOf(answers).includes('heartbeat'), 'TASK of a device was acknowledged');
      }
    },
  },
  {
    id: 'results.of-a-constellation',
    what: 'COMMAND_RESULTS of a constellation client are no result of anybody: ERROR or nothing, and the connection goes on',
    source: 'table 5, COMMAND_RESULTS: correlation; UFO',
    profile: 'core',
    needs: ['constellation'],
    run: async (lab) => {
      const client = await lab.constellation(null);
      const answers = await client.answersTo({ type: 'command_results', prev_response_id: 'r1', action_results: [] });
      demand(
        answers.every(({ type }) => type === 'error'),
        `it was answered with ${typesOf(answers).join(', ')}`,
      );
    },
  },
];

export const CONSTELLATION: readonly Check[] = [...REGISTRATION, ...DEVICE_INFO, ...TASKS];
