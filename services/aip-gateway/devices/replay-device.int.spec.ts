import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { commandIdOf, ExecCliResult, type DeviceAnswer, type RunCommandRequest } from '#proto';
import { TestBench, type BenchGateway } from '../testing/test-bench.adapter.js';
import { DEVICE, dialRecorded, INJECTED, KEY, recordedRequest, wasSent } from '../testing/recorded-device.js';
import { exchangesOf, loadTrace, type Exchange, type TraceLine } from '../testing/trace.js';
import type { TraceSocket } from '../testing/trace-socket.js';

/*
 * UFO's own device client, as it was recorded, driven by our gateway: the commands that its own server gave it are asked for
 * on the bus, as the device-agent does, and it answers with what it answered then.
 *
 * Where we do something else than its own server, and why:
 *   - Its tools are asked for once, at the registration, and not at the start of every task: a command for a tool that it
 *     does not have is refused before it is sent, because this client would never answer it.
 *   - One action per COMMAND: with several, what failed would hide what became of the others.
 *   - No TASK, no TASK_END and no COMMAND without actions is sent to it: it only writes them down.
 *   - The key of its tool server is added by the gateway, for this device: nobody who plans has to know it.
 */
const ATTEMPT = { runId: 'run-1', taskId: 'task', attempt: 1 };

let bench: TestBench;
let gate: BenchGateway;
let nowMs: number;
const sockets: TraceSocket[] = [];
beforeAll(async () => {
  bench = await TestBench.start();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.cut();
  await bench.clear();
});
afterAll(() => bench.stop());

interface Stage {
  readonly device: TraceSocket;
  readonly commands: readonly Exchange[];
  /** Asks for the command of this exchange. */
  readonly ask: (step: number, change?: Partial<RunCommandRequest>) => Promise<DeviceAnswer>;
}

/** The recorded device is connected and has named its tools. */
async function connect(name: string): Promise<Stage & { trace: TraceLine[] }> {
  nowMs = Date.now();
  gate = await bench.gateway({ injected: INJECTED, clock: { now: () => nowMs } });
  const trace = loadTrace(name);
  const device = await dial(trace, 'c1');
  const sessionId = await bench.sessionOf(DEVICE);
  const commands = exchangesOf(trace, 'c1').filter(({ tool }) => tool !== 'list_tools');
  const ask = (step: number, change: Partial<RunCommandRequest> = {}): Promise<DeviceAnswer> =>
    bench.ask({ ...requestOf(commands[step], step), sessionId, ...change });
  return { device, commands, ask, trace };
}

async function dial(trace: readonly TraceLine[], conn: string): Promise<TraceSocket> {
  const socket = await dialRecorded(gate.url, trace, conn);
  sockets.push(socket);
  return socket;
}

function requestOf(exchange: Exchange | undefined, step: number): RunCommandRequest {
  if (exchange === undefined) throw new Error(`nothing was recorded of command ${step}`);
  return { ...recordedRequest(exchange, ATTEMPT), commandId: commandIdOf(ATTEMPT, step) };
}

const completed = (result: object) => ({ state: 'finished', outcome: { state: 'COMPLETED', result, error: null } });
const failed = (message: string, result: unknown = null) => ({
  state: 'finished',
  outcome: { state: 'FAILED', result, error: { code: 'TOOL_ERROR', message, outcome: 'failed' } },
});
const ran = (stdout: string) => ({ success: true, exit_code: 0, stdout, stderr: '' });

it('the key that the gateway adds is no argument of the tools that others see', async () => {
  await connect('02-task-two-commands');
  const presence = await bench.presenceOf(DEVICE);
  const tool = presence?.telemetry.tools.find(({ name }) => name === 'execute_command');
  expect(Object.keys(tool?.inputSchema?.['properties'] ?? {})).toEqual(['command', 'timeout', 'cwd']);
  expect(tool?.inputSchema?.['required']).toEqual(['command']);
});

describe('EXEC_CLI of a device that has execute_command', () => {
  it('is that tool, with the result of EXEC_CLI', async () => {
    const { device, ask } = await connect('02-task-two-commands');
    const command = { tool: 'EXEC_CLI', arguments: { command: 'uname -s' } };
    const answer = await ask(0, { command });
    if (answer.state !== 'finished') throw new Error(answer.state);
    expect(ExecCliResult.parse(answer.outcome.result)).toMatchObject({
      stdout: 'Linux\n',
      exit_code: 0,
      command: 'uname -s',
      status: 'SUCCESS',
    });
    const [sent] = device.commands.map(({ actions }) => (actions as unknown as { tool_name: string }[])[0]);
    expect(sent).toMatchObject({
      tool_name: 'execute_command',
      parameters: { command: 'uname -s', api_key: KEY },
    });
  });

  it('takes no more than that tool does', async () => {
    const { ask } = await connect('02-task-two-commands');
    const command = { tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: 'x' } };
    const message = expect.stringContaining('arguments.stdin: this device has EXEC_CLI through execute_command');
    expect(await ask(0, { command })).toMatchObject({ state: 'refused', message });
  });
});

describe('what a recorded device answers', () => {
  it('is the result of each of two commands, one after the other (02)', async () => {
    const { device, commands, ask } = await connect('02-task-two-commands');
    expect(await ask(0)).toMatchObject(completed(ran('Linux\n')));
    expect(await ask(1)).toMatchObject(completed(ran('second-command\n')));
    const told = device.commands.map(({ actions }) => (actions as unknown as { parameters: object }[])[0]?.parameters);
    expect(told).toEqual(commands.map(({ parameters }) => parameters));
  });

  it('is two results for what was one message (04)', async () => {
    const { device, ask } = await connect('04-two-commands-in-one-message');
    expect(await Promise.all([ask(0), ask(1)])).toMatchObject([completed(ran('one\n')), completed(ran('two\n'))]);
    expect(device.commands.map(({ actions }) => (actions as unknown[]).length)).toEqual([1, 1]);
  });

  it('of a command that fails is a success for the client, and a failure here (05)', async () => {
    const { ask } = await connect('05-failing-command');
    const result = { success: false, exit_code: 1, stdout: '', stderr: expect.stringContaining('No such file') };
    expect(await ask(0)).toMatchObject(failed('the command ended with exit code 1', result));
  });

  it('to bad arguments is a failure, and so is what was skipped after it (07)', async () => {
    const { device, ask } = await connect('07-bad-arguments-failure-then-skipped');
    // Without the key that the gateway adds, this is what was recorded.
    const bad = ask(0);
    const sent = await device.command(1);
    expect(sent['actions']).toMatchObject([{ parameters: { wrong: 'argument', api_key: KEY } }]);
    answer(device, sent['response_id'], {
      status: 'failure',
      error: "Input validation error: 'command' is required",
    });
    expect(await bad).toMatchObject(failed("Input validation error: 'command' is required"));
    expect(await ask(1)).toMatchObject(failed('Skipped due to previous failure (early_exit=True).'));
  });

  it('after its own time limit is a failure (08)', async () => {
    const { ask } = await connect('08-command-timeout');
    expect(await ask(0)).toMatchObject(failed('Timeout after 2s.', { success: false, error: 'Timeout after 2s.' }));
  });

  it('about its machine is a result like any other (10)', async () => {
    const { commands, ask } = await connect('10-system-info');
    expect(await ask(0)).toMatchObject(completed(commands[0]?.result?.result as object));
  });

  it('does not give away the key of its tool server', async () => {
    const { device, ask } = await connect('17-device-drops-mid-command');
    const asked = ask(0);
    const sent = await device.command(1);
    answer(device, sent['response_id'], { status: 'failure', error: `the key ${KEY} is wrong` });
    const said = await asked;
    expect(said).toMatchObject(failed('the key [injected] is wrong'));
    expect(JSON.stringify(said)).not.toContain(KEY);
  });
});

describe('a recorded device that does not answer', () => {
  it('because it has no such tool is not asked (09)', async () => {
    const { device, ask } = await connect('09-unknown-tool-no-reply');
    expect(await ask(0)).toMatchObject({ state: 'refused', code: 'UNKNOWN_TOOL' });
    expect(device.commands).toEqual([]);
  });

  it('because it is gone leaves the outcome unknown (17)', async () => {
    const { device, ask } = await connect('17-device-drops-mid-command');
    const asked = ask(0);
    await device.command(1);
    device.cut();
    expect(await asked).toMatchObject({ state: 'finished', outcome: { state: 'OUTCOME_UNKNOWN' } });
  });

  it('gets the command not again when it comes back (18)', async () => {
    const { device, ask, trace } = await connect('18-network-drop-mid-command-and-reconnect');
    const before = await bench.sessionOf(DEVICE);
    const asked = ask(0);
    await device.command(1);
    device.cut();
    expect(await asked).toMatchObject({ outcome: { state: 'OUTCOME_UNKNOWN' } });
    const back = await dial(trace, 'c2');
    await bench.sessionOf(DEVICE, before);
    expect(await ask(0)).toMatchObject({ state: 'refused', code: 'OUTCOME_UNKNOWN' });
    expect(back.commands).toEqual([]);
  });

  it('costs nothing but the command that it had: what waited for it was never sent, and its gateway says so (18)', async () => {
    const { device, ask, trace } = await connect('18-network-drop-mid-command-and-reconnect');
    const before = await bench.sessionOf(DEVICE);
    const waiting = [1, 2, 3].map((step) => ask(0, { commandId: commandIdOf(ATTEMPT, step) }));
    await device.command(1);
    device.cut();
    expect(await Promise.all(waiting)).toMatchObject([
      { outcome: { state: 'OUTCOME_UNKNOWN' } },
      { state: 'refused', code: 'NOT_SENT' },
      { state: 'refused', code: 'NOT_SENT' },
    ]);
    // Whoever was not waiting at that moment asks the gateway that held the session.
    await dial(trace, 'c2');
    await bench.sessionOf(DEVICE, before);
    const said = await Promise.all([1, 2, 9].map((step) => sentOf(step, before)));
    expect(said).toMatchObject([{ state: 'done' }, { code: 'NOT_SENT' }, { code: 'NOT_SENT' }]);
  });

  it('is waited for no longer than the grace after a stop', async () => {
    const { device, ask } = await connect('17-device-drops-mid-command');
    const asked = ask(0);
    await device.command(1);
    expect(await bench.ask({ kind: 'stop', attempt: ATTEMPT, deviceId: DEVICE })).toEqual({ state: 'done' });
    nowMs += 20_000;
    expect(await asked).toMatchObject({ outcome: { state: 'OUTCOME_UNKNOWN' } });
  });

  it('holds back what comes after it, until that is too late', async () => {
    const { device, ask } = await connect('17-device-drops-mid-command');
    void ask(0).catch(() => undefined);
    await device.command(1);
    const late = { commandId: commandIdOf(ATTEMPT, 7), notAfter: new Date(nowMs + 1_000).toISOString() };
    const next = ask(0, late);
    nowMs += 2_000;
    expect(await next).toMatchObject({ state: 'refused', code: 'EXPIRED' });
    expect(device.commands).toHaveLength(1);
  });

  // The last one: what PRESENCE says of the device stays for a while.
  it('has nobody who could say what it was sent, after the end of its gateway', async () => {
    const { device, ask } = await connect('17-device-drops-mid-command');
    const session = await bench.sessionOf(DEVICE);
    void ask(0).catch(() => undefined);
    await device.command(1);
    expect(await sentOf(0, session)).toEqual({ state: 'running' });
    await bench.kill(gate);
    let said = 'timeout'; // what is asked before the bus has noticed the end gets no answer at all
    while (said === 'timeout') said = await sentOf(0, session).then(() => 'an answer', messageOf);
    expect(said).toMatch(/no responders/u);
  });
});

const messageOf = (error: Error): string => error.message;
const sentOf = (step: number, sessionId: string): Promise<DeviceAnswer> =>
  wasSent(bench, commandIdOf(ATTEMPT, step), sessionId);

function answer(device: TraceSocket, commandId: unknown, result: object): void {
  device.send({
    type: 'command_results',
    status: 'continue',
    prev_response_id: String(commandId),
    action_results: [result as never],
  });
}
