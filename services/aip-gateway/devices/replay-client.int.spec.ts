import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { ConstellationEndpoint, RegistrationRefused, type ConstellationFact } from '#libs/aip';
import { loadTrace, type Frame, type TraceLine } from '../testing/trace.js';

/*
 * Our own constellation client before UFO's recorded server: what the server said to each frame of UFO's client, it says to
 * the frame of the same type that ours sends. It said no to heartbeats because they came as those of a device; ours do not.
 */
const servers: WebSocketServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    for (const socket of server.clients) socket.terminate();
    server.close();
  }
});

/** Answers with what was recorded; keeps what came. Ids of questions are those of the client that asks. */
async function recordedServer(trace: readonly TraceLine[], conn: string) {
  const received: Frame[] = [];
  const answers = answersIn(trace, conn);
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  servers.push(server);
  server.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Frame;
      received.push(frame);
      if (frame.type === 'heartbeat') return socket.send(JSON.stringify({ type: 'heartbeat', status: 'ok' }));
      const [answer = [], ...later] = answers.get(frame.type) ?? [];
      answers.set(frame.type, later);
      for (const said of answer) {
        const id = said.type === 'device_info_response' ? frame['request_id'] : said['response_id'];
        socket.send(JSON.stringify({ ...said, response_id: id ?? null }));
      }
    }),
  );
  await once(server, 'listening');
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`, received };
}

/** By type of the client's frame, in order: what the server said to it. Answers name a session, a question, or nothing. */
function answersIn(trace: readonly TraceLine[], conn: string): Map<string, Frame[][]> {
  const answers = new Map<string, Frame[][]>();
  const waiting: { readonly frame: Frame; readonly said: Frame[] }[] = [];
  for (const { what, dir, conn: its } of trace) {
    if (its !== conn || !('frame' in what)) continue;
    const { frame } = what;
    if (dir === 'c2s') {
      const said: Frame[] = [];
      answers.set(frame.type, [...(answers.get(frame.type) ?? []), said]);
      waiting.push({ frame, said });
      continue;
    }
    const asked = waiting.find(({ frame: { session_id: sessionId, request_id: requestId } }) =>
      frame['session_id'] !== undefined
        ? frame['session_id'] === sessionId
        : frame.type === 'device_info_response' && frame['response_id'] === requestId,
    );
    const silent = waiting.findLast(({ frame: { type }, said }) => said.length === 0 && type !== 'device_info_request');
    (asked ?? silent)?.said.push(frame);
  }
  return answers;
}

const FACTS: ConstellationFact[] = [];
const connect = (url: string, clientId: string, targetId?: string): Promise<ConstellationEndpoint> =>
  ConstellationEndpoint.connect({
    url,
    clientId,
    credential: async () => 'secret',
    credentialIn: 'query',
    clock: { now: () => Date.now() },
    onFact: (fact) => void FACTS.push(fact),
    ...(targetId !== undefined && { targetId }),
  });

/** The fields of a frame that mean something to UFO's server. */
const meaning = ({ type, ...fields }: Frame) => ({
  type,
  ...Object.fromEntries(
    ['status', 'client_type', 'client_id', 'target_id', 'session_id', 'task_name', 'request'].map((name) => [
      name,
      fields[name],
    ]),
  ),
});

describe('our constellation client before a recorded server of UFO', () => {
  it('says what UFO’s client says, and understands the answers (14)', async () => {
    const trace = loadTrace('14-constellation-task');
    const { url, received } = await recordedServer(trace, 'c2');
    const endpoint = await connect(url, 'interop@linux_agent_1', 'linux_agent_1');
    expect(await endpoint.deviceInfo()).toMatchObject({ device_id: 'linux_agent_1', platform: 'linux' });
    const task = (id: string, request: string) =>
      endpoint.task({ sessionId: `interop@${id}`, name: `galaxy/interop/${id}`, request });
    expect(await task('t1', 'CASE:two-commands TASKKEY:c1')).toEqual({
      status: 'completed',
      result: [{ request: 'CASE:two-commands TASKKEY:c1', result: 'kernel=Linux; echo=second-command' }],
      error: null,
    });
    expect(await task('t2', 'CASE:failing-command TASKKEY:c2')).toMatchObject({ status: 'completed' });
    await endpoint.close();
    const recorded = trace.flatMap(({ what, dir, conn }) =>
      conn === 'c2' && dir === 'c2s' && 'frame' in what ? [what.frame] : [],
    );
    for (const type of ['register', 'device_info_request', 'task']) {
      const own = received.filter((frame) => frame.type === type).map(meaning);
      expect(own).toEqual(recorded.filter((frame) => frame.type === type).map(meaning));
    }
  });

  it('hears of a device that is lost (17)', async () => {
    const { url } = await recordedServer(loadTrace('17-device-drops-mid-command'), 'c2');
    const endpoint = await connect(url, 'interop@linux_agent_1', 'linux_agent_1');
    expect(await endpoint.task({ sessionId: 'interop@d1', name: 'd1', request: 'x' })).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('device disconnected'),
    });
    await endpoint.close();
  });

  it('is told when its registration (21) and its task (22) are refused', async () => {
    const registration = await recordedServer(loadTrace('21-errors-registration'), 'c8');
    await expect(connect(registration.url, 'c1@nope', 'nope')).rejects.toBeInstanceOf(RegistrationRefused);
    const errors = await recordedServer(loadTrace('22-errors-after-registration'), 'c6');
    const endpoint = await connect(errors.url, 'k1');
    expect(await endpoint.task({ sessionId: 's-k1', name: 'z', request: 'x', targetId: 'nope' })).toEqual({
      status: 'failed',
      result: null,
      error: "Target device 'nope' is not connected",
    });
    await endpoint.close();
  });
});
