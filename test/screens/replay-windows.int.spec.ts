import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testing } from '#libs/device-agent';
import { TestBench, until } from '../../services/aip-gateway/testing/test-bench.adapter.js';
import { exchangesOf, loadTrace } from '../../services/aip-gateway/testing/trace.js';
import { TraceSocket } from '../../services/aip-gateway/testing/trace-socket.js';
import { workedOver } from './over-gateway.js';
import { chosen, REPLIES, said, TYPED, wantedOf, type Frame } from './recorded-windows.js';

/*
 * UFO's client of a Windows machine, as it was recorded, on a socket of our gateway: our agents ask for their commands on the bus,
 * as the device-agent does, and it answers with what it answered then; what it was not asked in one session, it answers as in the other.
 */

const DEVICE = 'win1';
const ATTEMPT = { runId: 'run-1', taskId: 'task' };

let bench: TestBench;
let attempts = 0;
beforeAll(async () => {
  bench = await TestBench.start();
});
afterAll(() => bench.stop());

type Name = keyof typeof REPLIES;

/** The recorded client registers, and names its tools when it is asked for them. */
async function connected(name: Name) {
  const trace = loadTrace(name);
  const [register] = trace.flatMap(({ what }) => ('frame' in what ? [what.frame] : []));
  if (register === undefined) throw new Error(`${name} is empty`);
  const { url } = await bench.gateway();
  const exchanges = [...exchangesOf(trace, 'c1'), ...exchangesOf(loadTrace('windows-session'), 'c1')];
  const device = await TraceSocket.dial(`${url}?token=token-${DEVICE}`, { exchanges });
  device.send(register);
  const sessionId = await bench.sessionOf(DEVICE);
  // Its tools are asked for when it is there already.
  const isWhole = (seen: Awaited<ReturnType<TestBench['presenceOf']>>) => (seen?.telemetry.tools.length ?? 0) > 0;
  const presence = await until(() => bench.presenceOf(DEVICE), isWhole);
  return { device, sessionId, tools: presence?.telemetry.tools ?? [] };
}

/** Our agents work until they end; each command of theirs is asked for on the bus. */
async function worked(name: Name, replies: readonly testing.Said[] = REPLIES[name]) {
  const { device, sessionId, tools } = await connected(name);
  const attempt = { ...ATTEMPT, attempt: (attempts += 1) };
  const { kind, app } = testing.spiedScreen(true);
  const task = testing.screenTask();
  const end = await workedOver({ bench, kind, task, attempt, deviceId: DEVICE, sessionId, replies });
  const sent = device.commands.map((frame) => said(frame as unknown as Frame));
  const wanted = wantedOf(name).map(({ frame }) => said(frame));
  device.cut();
  return { end, sent, wanted, app, tools };
}

describe('UFO’s recorded client of a Windows machine, on a socket of our gateway', () => {
  it('hears of host and app what its own server told it, and its pictures reach the model', async () => {
    const { end, sent, wanted, app, tools } = await worked('windows-session');
    expect(sent).toEqual(wanted);
    expect(end).toMatchObject({ kind: 'finished', result: 'hello is written' });
    const images = app.at(2).observation?.flatMap((part) => (part.type === 'image' ? [part.ref] : []));
    expect(images).toEqual([expect.objectContaining({ bytes: expect.any(Number) }), expect.anything()]);
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['select_application_window', 'set_edit_text', 'capture_window_screenshot', 'save_as']),
    );
    await bench.clear();
  });

  it('hears after a subtask that failed what its own server told it until then; our host decides', async () => {
    const { end, sent, wanted } = await worked('windows-session-fail');
    expect(sent.slice(0, wanted.length)).toEqual(wanted);
    expect(end).toMatchObject({ kind: 'failed', message: 'not written' });
    await bench.clear();
  });

  it('is sent nothing for an id whose name is another one', async () => {
    const [, , ...rest] = REPLIES['windows-session-fail'];
    const mistaken = testing.appSays([['set_edit_text', { ...TYPED, name: 'Title' }]]);
    const { sent, app } = await worked('windows-session-fail', [chosen, mistaken, ...rest]);
    expect(JSON.stringify(sent)).not.toContain('set_edit_text');
    expect(app.at(2).memory.items.at(-1)?.problems.join()).toContain('MISMATCH');
    await bench.clear();
  });
});
