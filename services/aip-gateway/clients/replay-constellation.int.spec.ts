import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { commandIdOf, type Json } from '#proto';
import { TestBench, until, type BenchGateway } from '../testing/test-bench.adapter.js';
import { OrchestratorStandIn, type StandInRun, type WorkEnd } from '../testing/orchestrator-stand-in.js';
import { replay, type Difference } from '../testing/replay.js';
import { exchangesOf, loadTrace, type Exchange, type Frame, type TraceLine } from '../testing/trace.js';

/*
 * Conversations of UFO's own constellation client and device client with UFO's own server, played against our gateway: what
 * the clients sent is sent, what the server said has to be said, unless a difference is listed here with its reason.
 * The agent that turned words into commands is played, too: it asks for the recorded commands, and says what it said.
 */
const KEY = 'mcp-key';
/** The key stood in the recorded plans, because UFO's agents have to know it; ours is added by the gateway. */
const INJECTED = Object.fromEntries(
  ['linux_agent_1', 'linux_agent_2'].map((deviceId) => [
    deviceId,
    { execute_command: { api_key: KEY }, get_system_info: { api_key: KEY } },
  ]),
);

let bench: TestBench;
let gate: BenchGateway;
const standIns: OrchestratorStandIn[] = [];
beforeAll(async () => {
  bench = await TestBench.start();
});
afterEach(async () => {
  await bench.clear();
  for (const standIn of standIns.splice(0)) await standIn.stop();
});
afterAll(() => bench.stop());

/** A gateway, and an orchestrator whose agent does what the recorded one did for each task. */
async function stage(trace: readonly TraceLine[]): Promise<OrchestratorStandIn> {
  gate = await bench.gateway({ injected: INJECTED });
  const standIn = await new OrchestratorStandIn(bench.caller, { work: (run) => work(trace, run) }).ready();
  standIns.push(standIn);
  return standIn;
}

async function work(trace: readonly TraceLine[], run: StandInRun): Promise<WorkEnd> {
  const { sessionId } = run.request.metadata['aip'] as { sessionId: string };
  const deviceId = 'device' in run.task.target ? run.task.target.device : '';
  const plan = plannedFor(trace, sessionId);
  for (const [step, { tool, parameters }] of plan.entries()) {
    const { api_key: _key, ...args } = parameters;
    const attempt = { runId: run.runId, taskId: run.task.id, attempt: 1 };
    const answer = await bench.ask({
      kind: 'run',
      commandId: commandIdOf(attempt, step),
      attempt,
      deviceId,
      sessionId: await bench.sessionOf(deviceId),
      journalId: null,
      command: { tool, arguments: args },
      priority: 0,
      notAfter: '2099-01-01T00:00:00.000Z',
    });
    if (answer.state !== 'finished') return { error: `the command is ${answer.state}` };
    if (answer.outcome.state === 'OUTCOME_UNKNOWN') return { error: answer.outcome.error?.message ?? '' };
  }
  return { result: resultOf(trace, sessionId) };
}

const plannedFor = (trace: readonly TraceLine[], sessionId: string): Exchange[] =>
  devicesOf(trace)
    .flatMap((conn) => exchangesOf(trace, conn))
    .filter((exchange) => exchange.tool !== 'list_tools' && exchange.sessionId === sessionId);

const devicesOf = (trace: readonly TraceLine[]): string[] => [
  ...new Set(trace.filter(({ role }) => role === 'device').map(({ conn }) => conn)),
];

function resultOf(trace: readonly TraceLine[], sessionId: string): Json {
  const end = framesOf(trace).find((frame) => frame.type === 'task_end' && frame['session_id'] === sessionId);
  const [first] = (end?.['result'] ?? []) as unknown as { result: Json }[];
  return first?.result ?? null;
}

const framesOf = (trace: readonly TraceLine[]): Frame[] =>
  trace.flatMap(({ what }) => ('frame' in what ? [what.frame] : []));

const isThere = (deviceId: string) => async (): Promise<unknown> =>
  until(
    () => bench.presenceOf(deviceId),
    (presence) => presence !== null,
  );

/** UFO's clients send this one with client_type "device", and UFO's server scolds them for it, every 30 s. */
const HEARTBEAT: Difference = {
  why: 'a heartbeat is answered whatever role it carries: who it is from is known from the connection',
  instead: [{ type: 'heartbeat', status: 'ok' }],
};
/** Whatever its device was told to do is what the recorded one was told, in that order. */
const recorded = (trace: readonly TraceLine[], conn: string) =>
  exchangesOf(trace, conn)
    .filter(({ tool }) => tool !== 'list_tools')
    .map(({ tool, parameters }) => ({ tool, parameters }));

describe('a recorded constellation client', () => {
  it('registers, asks and lives as before (01)', async () => {
    const trace = loadTrace('01-register-heartbeat');
    await stage(trace);
    await replay({
      url: gate.url,
      trace,
      namesTools: ['c1'],
      differences: { 8: HEARTBEAT, 10: HEARTBEAT, 12: HEARTBEAT },
      before: { 3: isThere('linux_agent_1') },
    });
  });

  it('has two tasks done on its device (14)', async () => {
    const trace = loadTrace('14-constellation-task');
    const { runs } = await stage(trace);
    const driven = await replay({
      url: gate.url,
      trace,
      differences: { 8: HEARTBEAT },
      before: { 3: isThere('linux_agent_1') },
    });
    expect(driven.get('c1')).toEqual(recorded(trace, 'c1'));
    expect(runs.map(({ task }) => task.name)).toEqual(['galaxy_interop_t1', 'galaxy_interop_t2']);
    expect(JSON.stringify(runs)).not.toContain(KEY);
  });

  it('hears that its device was lost in the middle of a command (17)', async () => {
    const trace = loadTrace('17-device-drops-mid-command');
    await stage(trace);
    const driven = await replay({
      url: gate.url,
      trace,
      differences: { 8: HEARTBEAT },
      before: {
        3: isThere('linux_agent_1'),
        14: async ({ sockets }) => {
          const device = sockets.get('c1');
          await device?.command(1);
          device?.cut();
        },
      },
    });
    expect(driven.get('c1')).toEqual(recorded(trace, 'c1'));
  });

  it('drives a diamond of tasks on two devices over two connections (24)', async () => {
    const trace = loadTrace('24-galaxy-diamond-two-devices');
    const { runs, cancels } = await stage(trace);
    const driven = await replay({
      url: gate.url,
      trace,
      differences: { 10: HEARTBEAT, 16: HEARTBEAT },
      before: { 5: isThere('linux_agent_1'), 11: isThere('linux_agent_2') },
    });
    expect(driven.get('c1')).toEqual(recorded(trace, 'c1'));
    expect(driven.get('c2')).toEqual(recorded(trace, 'c2'));
    expect(runs).toHaveLength(4);
    expect(cancels).toEqual([]);
  });
});

describe('recorded first frames', () => {
  /** UFO's server kept silent and held the socket until the client gave up. */
  const ANSWERED: Difference = {
    why: 'a first frame that is no registration is answered',
    before: [{ type: 'error', status: 'error' }],
  };
  const CLOSED: Difference = { why: 'and the connection is closed, instead of a half-open one', close: 1002 };

  it('are answered, every one (21)', async () => {
    const trace = loadTrace('21-errors-registration');
    await stage(trace);
    await replay({
      url: gate.url,
      trace,
      differences: {
        2: ANSWERED,
        3: CLOSED,
        5: {
          why: 'a TASK gets its TASK_END, also before REGISTER: its client waits for nothing else',
          before: [
            { type: 'task_end', status: 'failed', session_id: 's-u1', error: /REGISTER comes first/u },
            { type: 'error', status: 'error' },
          ],
        },
        6: CLOSED,
        8: {
          why: 'a device is named by its credential; it need not say its name',
          before: [{ type: 'heartbeat', status: 'ok' }],
        },
        11: ANSWERED,
        12: CLOSED,
        14: ANSWERED,
        15: CLOSED,
      },
    });
  });
});

describe('recorded frames that were refused (22)', () => {
  const ended = (sessionId: string): Difference => ({
    why: 'beside ERROR there is the TASK_END without which its client would wait 1,000 s',
    before: [{ type: 'task_end', status: 'failed', session_id: sessionId, result: [], error: /./u }],
  });
  const refused = (sessionId: string): Difference => ({
    why: 'a TASK gets its TASK_END, whoever sends it: ERROR names no task',
    instead: [{ type: 'task_end', status: 'failed', session_id: sessionId, error: /./u }],
  });
  const told = (why: string): Difference => ({ why, before: [{ type: 'error', status: 'error' }] });

  it('are refused as before, or better', async () => {
    const trace = loadTrace('22-errors-after-registration');
    const { runs } = await stage(trace);
    const driven = await replay({
      url: gate.url,
      trace,
      namesTools: ['c2'],
      before: {
        3: isThere('linux_agent_1'),
        // The newer connection has the device now, and the older one is told so.
        5: async ({ sockets }) => expect(await sockets.get('c1')?.closed).toMatchObject({ code: 4000 }),
        7: async (world) => {
          const gone = await until(
            () => bench.presenceOf('linux_agent_1'),
            (presence) => presence === null,
          );
          expect(gone).toBeNull();
          await world.comeBack('c1');
          await isThere('linux_agent_1')();
        },
      },
      differences: {
        4: {
          why: 'the newest connection of a device counts: UFO locks a device out that lost its network for half a minute',
          instead: [{ type: 'heartbeat', status: 'ok' }],
        },
        5: { why: 'so it stays open', instead: [] },
        31: ended('s-k1'),
        37: ended('s-k2'),
        43: ended('s-k3'),
        48: refused('s-d2'),
        54: refused('s-d3'),
        60: { ...HEARTBEAT, why: 'a heartbeat is answered whatever name it carries' },
        66: HEARTBEAT,
        78: {
          why: 'a device that is forbidden and one that is unknown get the same answer: there is nothing to learn',
          instead: [{ type: 'device_info_response', status: 'ok', response_id: 'r2', result: { error: /./u } }],
        },
        96: { why: 'the acknowledgement of TASK_END that the paper allows for is no error', instead: [] },
        102: { why: 'a complaint is written down, not sent back: two ends that echo never stop', instead: [] },
        108: told('results of nothing are not dropped in silence'),
        113: { why: 'a TASK without words is not acknowledged: nothing is begun', instead: [] },
        135: told('what nobody asked for is not dropped in silence'),
      },
    });
    expect(driven.get('c1')).toEqual(recorded(trace, 'c1'));
    // An unsafe name does no harm.
    expect(runs.map(({ task }) => task.name)).toEqual(['_.._etc_x']);
  });
});
