import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { getArtifact } from '#libs/messaging';
import { ChaosProxy } from '#libs/testing';
import { AIP_LIMITS, LIMITS, type DeviceAnswer, type RunCommandRequest } from '#proto';
import { TestBench, until, type BenchGateway } from '../testing/test-bench.adapter.js';
import { commandsOf, DEVICE, dialRecorded, INJECTED, recordedRequest, wasSent } from '../testing/recorded-device.js';
import { loadTrace, type Exchange, type TraceLine } from '../testing/trace.js';
import type { TraceSocket } from '../testing/trace-socket.js';

/*
 * UFO's own device client with a gateway of ours, as it was recorded while it was cut off, killed, asked for much and asked for
 * what it does not have. Its web framework for tools was replaced by a small stand-in there.
 */
let bench: TestBench;
let gate: BenchGateway;
let nowMs: number;
const sockets: TraceSocket[] = [];
beforeAll(async () => {
  bench = await TestBench.start();
});
beforeEach(() => void (nowMs = Date.now()));
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.cut();
  await bench.clear();
});
afterAll(() => bench.stop());

async function start(name: string, answerWithinMs = 20_000): Promise<TraceLine[]> {
  gate = await bench.gateway({ injected: INJECTED, clock: { now: () => nowMs }, answerWithinMs });
  return loadTrace(name);
}

async function dial(trace: readonly TraceLine[], conn: string, url = gate.url): Promise<TraceSocket> {
  const socket = await dialRecorded(url, trace, conn);
  sockets.push(socket);
  return socket;
}

/** The recorded command as an attempt of a task, for this session of the device. */
function attempt(exchange: Exchange | undefined, [taskId, number]: [string, number], sessionId: string) {
  if (exchange === undefined) throw new Error(`nothing was recorded of ${taskId}`);
  return { ...recordedRequest(exchange, { runId: 'run-1', taskId, attempt: number }), sessionId };
}

/** Asks until there is an end of it. */
const ended = (request: RunCommandRequest): Promise<DeviceAnswer> =>
  until(
    () => bench.ask(request),
    ({ state }) => state === 'finished' || state === 'refused',
  );

const completed = (stdout: string) => ({
  state: 'finished',
  outcome: { state: 'COMPLETED', result: { success: true, exit_code: 0, stdout, stderr: '' }, error: null },
});
const UNKNOWN = { state: 'finished', outcome: { state: 'OUTCOME_UNKNOWN' } };
const NOBODY_KNOWS = { state: 'refused', code: 'OUTCOME_UNKNOWN' };
const NOT_SENT = { state: 'refused', code: 'NOT_SENT' };

/** What a device was asked for, as it is recorded. */
const told = ({ commands }: TraceSocket): unknown[] =>
  commands.map(({ actions }) => {
    const [action] = actions as unknown as { tool_name: string; parameters: object }[];
    return { tool: action?.tool_name, parameters: action?.parameters };
  });
const recorded = (trace: readonly TraceLine[], conn: string): unknown[] =>
  commandsOf(trace, conn).map(({ tool, parameters }) => ({ tool, parameters }));

describe('a recorded device', () => {
  it('whose connection is reset under a command comes back for the two that waited, and does each once (25)', async () => {
    const trace = await start('25-reset-while-one-runs-and-two-wait', 20);
    const [long] = commandsOf(trace, 'c1');
    const [name, words] = commandsOf(trace, 'c2');
    const network = await ChaosProxy.start(gate.url);
    const device = await dial(trace, 'c1', network.url);
    const before = await bench.sessionOf(DEVICE);
    const first = [attempt(long, ['long', 1], before), attempt(name, ['name', 1], before)];
    const requests = [...first, attempt(words, ['words', 1], before)];
    const states: DeviceAnswer[] = [];
    for (const request of requests) states.push(await bench.ask(request));
    expect(states).toEqual([{ state: 'running' }, { state: 'queued' }, { state: 'queued' }]);
    // It was sent, and is still on its way through the network that is cut.
    await device.command(1);
    network.cut('rst');
    await device.closed;
    await network.close();
    const back = await dial(trace, 'c2');
    const after = await bench.sessionOf(DEVICE, before);
    expect(told(device)).toEqual(recorded(trace, 'c1'));
    const said = await Promise.all(requests.map(({ commandId }) => wasSent(bench, commandId, before)));
    expect(said).toMatchObject([{ state: 'done' }, NOT_SENT, NOT_SENT]);
    expect(await ended(attempt(long, ['long', 1], before))).toMatchObject(NOBODY_KNOWS);
    expect(await ended(attempt(name, ['name', 2], after))).toMatchObject(completed('Linux\n'));
    expect(await ended(attempt(words, ['words', 2], after))).toMatchObject(completed('what waited\n'));
    expect(told(back)).toEqual(recorded(trace, 'c2'));
  });

  it('that is killed under a command leaves that one unknown, and its successor does what comes next (26)', async () => {
    const trace = await start('26-killed-under-a-command');
    const [long] = commandsOf(trace, 'c1');
    const [words] = commandsOf(trace, 'c2');
    const device = await dial(trace, 'c1');
    const before = await bench.sessionOf(DEVICE);
    const request = attempt(long, ['long', 1], before);
    const asked = bench.ask(request);
    await device.command(1);
    device.cut();
    expect(await asked).toMatchObject(UNKNOWN);

    const successor = await dial(trace, 'c2');
    const after = await bench.sessionOf(DEVICE, before);
    expect(await ended(request)).toMatchObject(NOBODY_KNOWS);
    expect(await ended(attempt(words, ['words', 1], after))).toMatchObject(completed('after the death\n'));
    expect(told(successor)).toEqual(recorded(trace, 'c2'));
  });

  it('that answers with nine megabytes completes its task, the whole can be read, and it goes on (27)', async () => {
    const trace = await start('27-result-of-nine-megabytes');
    const [large, words] = commandsOf(trace, 'c1');
    const { stdout } = (large?.result?.result ?? { stdout: '' }) as { stdout: string };
    expect(stdout).toHaveLength(555_000 * 'one line of many\n'.length);
    await dial(trace, 'c1');
    const session = await bench.sessionOf(DEVICE);
    const ref = { sha256: createHash('sha256').update(stdout).digest('hex'), bytes: stdout.length };
    const result = { exit_code: 0, stdout_artifact: ref, stdout_bytes: ref.bytes };
    const outcome = { state: 'COMPLETED', result: { ...result, stdout: expect.stringContaining('bytes cut') } };
    expect(await ended(attempt(large, ['large', 1], session))).toMatchObject({ state: 'finished', outcome });
    const whole = Buffer.from(await getArtifact(bench.caller, ref.sha256)).toString();
    expect(whole === stdout).toBe(true);
    const next = attempt(words, ['words', 1], session);
    expect(await ended(next)).toMatchObject(completed('after the large one\n'));
  });

  it('is not asked for a tool that it has not named; one that names none is, and keeps silent (28)', async () => {
    const trace = await start('28-tool-that-nobody-serves');
    const [name] = commandsOf(trace, 'c1');
    const device = await dial(trace, 'c1');
    const before = await bench.sessionOf(DEVICE);
    const none = attempt(name, ['none', 1], before);
    const refused = await ended({ ...none, command: { tool: 'no_such_tool', arguments: { x: 1 } } });
    expect(refused).toMatchObject({
      state: 'refused',
      code: 'UNKNOWN_TOOL',
      message: expect.stringContaining('execute_command'),
    });
    expect(await ended(attempt(name, ['name', 1], before))).toMatchObject(completed('Linux\n'));
    expect(told(device)).toEqual(recorded(trace, 'c1'));
    device.cut();

    // Its tool server is gone: it answers neither the question for its tools nor the command.
    const without = await dial(trace, 'c2');
    nowMs += AIP_LIMITS.listToolsMs;
    const after = await bench.sessionOf(DEVICE, before);
    expect((await bench.presenceOf(DEVICE))?.telemetry.tools).toEqual([]);
    const second = attempt(name, ['name', 2], after);
    const asked = ended(second);
    await without.command(1);
    expect(await bench.ask({ kind: 'stop', attempt: second.attempt, deviceId: DEVICE })).toEqual({ state: 'done' });
    nowMs += 2 * LIMITS.stopGraceMs;
    expect(await asked).toMatchObject(UNKNOWN);
    // The tool server is back.
    expect(await ended(attempt(name, ['name', 3], after))).toMatchObject(completed('Linux\n'));
    expect(told(without)).toEqual(recorded(trace, 'c2'));
  });
});
