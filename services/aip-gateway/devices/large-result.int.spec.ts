import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { getArtifact } from '#libs/messaging';
import { WebSocket } from 'ws';
import { AIP_LIMITS, type DeviceAnswer } from '#proto';
import { NEVER, run, TestBench, until, type BenchGateway } from '../testing/test-bench.adapter.js';
import { FakeDevice } from '#libs/testing';

/*
 * Results as UFO's clients send them: one frame, whatever its size. Large ones lie in ARTIFACTS afterwards, as those of devices
 * of ours do.
 */
const MIB = 1024 * 1024;

let bench: TestBench;
beforeAll(async () => {
  bench = await TestBench.start();
});
afterEach(() => bench.clear());
afterAll(() => bench.stop());

interface Stage {
  readonly device: FakeDevice;
  /** Asks for a command, and answers it with this frame. */
  readonly answered: (task: string, result: string) => Promise<DeviceAnswer>;
}

async function connect({ url }: { url: string }, deviceId: string): Promise<Stage> {
  const options = { journalId: null, tools: ['EXEC_CLI'], onCommand: NEVER };
  const device = bench.keep(await FakeDevice.connect({ url: `${url}?token=token-${deviceId}`, deviceId, ...options }));
  const sessionId = await bench.sessionOf(deviceId);
  return {
    device,
    answered: async (task, result) => {
      const request = run(device, task, { sessionId });
      const answer = bench.ask(request);
      const { response_id: id } = await device.untilCommand(request.commandId);
      device.raw(
        `{"type":"command_results","status":"continue","prev_response_id":"${id}","action_results":[{"status":"success","result":${result}}]}`,
      );
      const said = await answer;
      return said.state === 'running'
        ? until(
            () => bench.ask(request),
            ({ state }) => state !== 'running',
          )
        : said;
    },
  };
}

const outputOf = (text: string): string => `{"success":true,"exit_code":0,"stdout":"${text}","stderr":""}`;
const refOf = (text: string) => ({
  sha256: createHash('sha256').update(text).digest('hex'),
  bytes: Buffer.byteLength(text),
});

describe('a result of a foreign device', () => {
  let gate: BenchGateway;
  beforeEach(
    async () => void (gate = await bench.gateway({ injected: { l1: { EXEC_CLI: { key: 'the-tool-key' } } } })),
  );

  it('of many megabytes is taken, and the whole of it can be read', async () => {
    const { answered } = await connect(gate, 'l1');
    const text = 'a line of output\\n'.repeat(700_000);
    const whole = 'a line of output\n'.repeat(700_000);
    const answer = await answered('a', outputOf(`${text}the-tool-key`));
    const ref = refOf(`${whole}${'*'.repeat(12)}`);
    expect(answer).toMatchObject({
      state: 'finished',
      outcome: {
        state: 'COMPLETED',
        result: {
          exit_code: 0,
          stdout: expect.stringContaining('bytes cut'),
          stdout_artifact: ref,
          stdout_bytes: ref.bytes,
        },
      },
    });
    expect(Buffer.from(await getArtifact(bench.caller, ref.sha256)).toString()).toBe(`${whole}${'*'.repeat(12)}`);
    // The connection goes on.
    expect(await answered('b', outputOf('next'))).toMatchObject({ outcome: { result: { stdout: 'next' } } });
  });

  it('that is one text alone is named beside what is left of it', async () => {
    const { answered } = await connect(gate, 'l2');
    const picture = 'x'.repeat(9 * MIB);
    expect(await answered('a', JSON.stringify(picture))).toMatchObject({
      outcome: { result: { result: expect.stringContaining('bytes cut'), artifacts: { result: refOf(picture) } } },
    });
  });

  it('that is larger than what is taken fails its command, and both sides hear how large it was', async () => {
    const socket = new WebSocket(`${gate.url}?token=token-l3`);
    const say = (frame: object): void => socket.send(JSON.stringify({ status: 'ok', client_type: 'device', ...frame }));
    socket.on('open', () => say({ type: 'register' }));
    socket.on('message', (data: Buffer) => {
      const { type, response_id: id } = JSON.parse(data.toString()) as { type: string; response_id: string };
      if (type !== 'command') return;
      const result = id === 'list_tools' ? [] : { stdout: 'x'.repeat(AIP_LIMITS.largeFrameBytesMax) };
      say({ type: 'command_results', prev_response_id: id, action_results: [{ status: 'success', result }] });
    });
    const closed = once(socket, 'close');
    const sessionId = await bench.sessionOf('l3');
    const to = { deviceId: 'l3', sessionId, journalId: null } as FakeDevice;
    const message = expect.stringMatching(
      /^the device answered with 104857\d{3} bytes, and at most 104857600 are taken$/u,
    );
    const ask = (): Promise<DeviceAnswer> => bench.ask(run(to, 'a'));
    expect(await until(ask, ({ state }) => state !== 'running')).toMatchObject({
      state: 'finished',
      outcome: { state: 'FAILED', error: { code: 'RESULT_TOO_LARGE', message } },
    });
    const [code, reason] = (await closed) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([1009, expect.stringContaining('at most 104857600')]);
  });

  it('waits for its turn while another one is on its way', async () => {
    const stages = await Promise.all(['l4', 'l5', 'l6'].map((id) => connect(gate, id)));
    const texts = stages.map((_, index) => String(index).repeat(12 * MIB));
    const answers = await Promise.all(stages.map(({ answered }, index) => answered('a', outputOf(texts[index] ?? ''))));
    expect(answers).toMatchObject(texts.map((text) => ({ outcome: { result: { stdout_artifact: refOf(text) } } })));
  });
});
