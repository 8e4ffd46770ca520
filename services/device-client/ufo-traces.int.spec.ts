import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ActionResult, ClientMessage, Json } from '#proto';
import { ClientMessage as ClientMessageSchema } from '#proto';
import { makeHome, startDevice, TOKEN, type DeviceHome, type DeviceProcess } from './testing/device-process.js';
import { startScriptedServer, type ScriptedConnection, type ScriptedServer } from './testing/scripted-server.js';
import { deviceConnections, recordedTools, type TraceLine } from './testing/ufo-trace.js';
import { isAlive, pidIn, until } from './testing/until.js';

// Our device stands where UFO's own device stood: the recorded server says its part, and what we answer has to have the
// shape and the ids that it needs. The tools of the recorded device answer as they did.

const TOOLS = fileURLToPath(new URL('testing/ufo-tools.ts', import.meta.url));
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DEVICE = 'linux_agent_1';

const ALONE = [
  '01-register-heartbeat',
  '02-task-two-commands',
  '04-two-commands-in-one-message',
  '05-failing-command',
  '07-bad-arguments-failure-then-skipped',
  '08-command-timeout',
  '10-system-info',
];
const UNKNOWN_TOOL = '09-unknown-tool-no-reply';
const TWO_DEVICES = '24-galaxy-diamond-two-devices';
const DROPS = ['17-device-drops-mid-command', '18-network-drop-mid-command-and-reconnect'];

/** A device goes through a list of addresses without a pause: so many connections can be cut, one after the other, and it comes at once. */
const ADDRESSES = 40;
const PATH = new RegExp(`^/ws/\\d+\\?token=${TOKEN}$`, 'u');

/** A device with tools that answer as the recorded ones did, in front of a server that says nothing by itself. */
class Stage {
  readonly home: DeviceHome;
  readonly server: ScriptedServer;
  readonly device: DeviceProcess;
  readonly #marksFile: string;
  #connection: ScriptedConnection | undefined;

  private constructor(at: { home: DeviceHome; server: ScriptedServer; device: DeviceProcess; marksFile: string }) {
    this.home = at.home;
    this.server = at.server;
    this.device = at.device;
    this.#marksFile = at.marksFile;
  }

  static async open(deviceId: string, traces: readonly string[], paths: readonly string[]): Promise<Stage> {
    const home = await makeHome();
    const server = await startScriptedServer();
    const file = (name: string): string => join(home.dir, name);
    const [record, marksFile, config] = [file('record.json'), file('marks'), file('config.yaml')];
    const connections = traces.flatMap((trace) => deviceConnections(trace, deviceId));
    await writeFile(record, JSON.stringify(recordedTools(connections)));
    const args = JSON.stringify([TOOLS, record, marksFile]);
    const command = JSON.stringify(process.execPath);
    await writeFile(
      config,
      `credentialIn: query\nmcpServers:\n  BashExecutor: { command: ${command}, args: ${args} }\n`,
    );
    const urls = paths.map((path) => new URL(path, server.url).href).join(',');
    const device = startDevice(home, urls, ['--id', deviceId, '--config', config]);
    return new Stage({ home, server, device, marksFile });
  }

  /** Until it has its tools, which come a moment after it. */
  async hasTools(...tools: readonly string[]): Promise<void> {
    this.#connection = (await this.server.registeredWith(...tools)).connection;
  }

  /** Its next connection, which nobody has said a word on; the one before has ended. */
  async next(): Promise<ScriptedConnection> {
    this.#connection?.cut();
    this.#connection = await this.server.connection();
    return this.#connection;
  }

  /** Its next connection, with a server of our own. */
  async nextAsOurs(): Promise<ScriptedConnection> {
    this.#connection?.cut();
    this.#connection = (await this.server.registered()).connection;
    return this.#connection;
  }

  /** What its tools have been through. */
  async marks(): Promise<string[]> {
    const text = await readFile(this.#marksFile, 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  }

  async close(): Promise<void> {
    await this.device.kill('SIGKILL');
    await this.server.stop();
    await this.home.remove();
  }
}

// One for all, as one device outlives many connections: what one leaves behind is nobody's on the next.
let stage: Stage;
beforeAll(async () => {
  const paths = Array.from({ length: ADDRESSES }, (_, n) => `/ws/${n}`);
  stage = await Stage.open(DEVICE, [...ALONE, UNKNOWN_TOOL, TWO_DEVICES, ...DROPS], paths);
  await stage.hasTools('execute_command', 'get_system_info');
});
afterAll(() => stage.close());

/** One recorded connection: says what the server said, and waits for our answers where the device answered. */
async function replay(connection: ScriptedConnection, lines: readonly TraceLine[]): Promise<void> {
  for (const { dir, msg } of lines) {
    if (msg === undefined) continue;
    if (dir === 's2c') connection.send(msg);
    // Ours come every 20 s; nobody waits for them.
    else if (msg['type'] !== 'heartbeat') await answered(connection, ClientMessageSchema.parse(msg));
  }
}

async function answered(connection: ScriptedConnection, recorded: ClientMessage): Promise<void> {
  const ours = await connection.next(recorded.type);
  expect(ours).toMatchObject({ status: recorded.status, client_type: 'device', client_id: recorded.client_id });
  expect(Number.isNaN(Date.parse(ours.timestamp ?? ''))).toBe(false);
  expect([ours.seq, ours.ack]).toEqual([undefined, undefined]);
  if (recorded.type === 'register' && ours.type === 'register') return registered(ours, recorded);
  expect(ours.request_id).toMatch(UUID);
  if (recorded.type === 'task' && ours.type === 'task') {
    const { request, task_name } = recorded;
    expect(ours).toMatchObject({ request, task_name, session_id: null, metadata: { platform: 'linux' } });
    return;
  }
  if (recorded.type !== 'command_results' || ours.type !== 'command_results') throw new Error(recorded.type);
  const { session_id, prev_response_id } = recorded;
  expect(ours).toMatchObject({ session_id, prev_response_id });
  const results = recorded.action_results ?? [];
  expect(ours.action_results).toHaveLength(results.length);
  for (const [index, result] of results.entries()) resultIs(ours.action_results?.[index], result);
}

type Register = Extract<ClientMessage, { type: 'register' }>;

function registered(ours: Register, recorded: Register): void {
  expect(ours.metadata?.platform).toBe('linux');
  const names = Object.keys(recorded.metadata?.system_info ?? {});
  expect(Object.keys(ours.metadata?.system_info ?? {})).toEqual(expect.arrayContaining(names));
  const { device_id, platform, platform_type, schema_version } = recorded.metadata?.system_info ?? {};
  expect(ours.metadata?.system_info).toMatchObject({ device_id, platform, platform_type, schema_version });
}

function resultIs(ours: ActionResult | undefined, recorded: ActionResult): void {
  const { status, call_id, error } = recorded;
  expect(ours).toMatchObject({ status, call_id, error: error ?? null });
  if (Array.isArray(recorded.result)) {
    // `list_tools`: ours has its own tools as well, and puts no words of its framework into `meta`.
    const known = recorded.result.map((tool) => ({ ...(tool as object), meta: null }));
    for (const tool of known) expect(ours?.result).toContainEqual(expect.objectContaining(tool));
    return;
  }
  expect(ours?.namespace).toEqual(recorded.namespace ?? null);
  expect(ours?.result ?? null).toEqual(recorded.result ?? null);
}

/** Nothing that the recorded device did not say either. */
const saysNoMore = (connection: ScriptedConnection): void =>
  expect(connection.waiting().filter(({ type }) => type !== 'heartbeat')).toEqual([]);

/** A question that every device answers: whatever was sent before it is served. */
async function served(connection: ScriptedConnection): Promise<void> {
  connection.send({ type: 'command', status: 'continue', response_id: 'last', session_id: 's', actions: [] });
  const answer = await connection.next('command_results');
  expect(answer).toMatchObject({ prev_response_id: 'last', action_results: [] });
}

describe('in the place of a recorded device, ours answers', () => {
  it.each(ALONE)('%s', async (trace) => {
    const connections = deviceConnections(trace, DEVICE);
    expect(connections).toHaveLength(1);
    const connection = await stage.next();
    expect(connection.request.url).toMatch(PATH);
    await replay(connection, connections.flat());
    await served(connection);
    saysNoMore(connection);
    expect(connection.closed).toBe(false);
    expect(stage.device.output()).not.toContain(TOKEN);
  });

  it(`${UNKNOWN_TOOL}, where the recorded one says nothing`, async () => {
    const connections = deviceConnections(UNKNOWN_TOOL, DEVICE);
    const connection = await stage.next();
    await replay(connection, connections.flat());
    const asked = connections.flat().at(-1)?.msg;
    const answer = await connection.next('command_results');
    expect(answer).toMatchObject({ prev_response_id: asked?.['response_id'], session_id: asked?.['session_id'] });
    expect(answer.action_results).toMatchObject([{ status: 'failure', error: 'unknown tool no_such_tool' }]);
    await served(connection);
    saysNoMore(connection);
  });

  it(`${TWO_DEVICES}, each with its part`, async () => {
    const second = await Stage.open('linux_agent_2', [TWO_DEVICES], ['/ws']);
    try {
      const both = [[DEVICE, await stage.next()] as const, ['linux_agent_2', await second.next()] as const];
      // The second is new: it knows no server yet, and has no other address.
      expect(both[1]?.[1].request.url).toBe(`/ws?token=${TOKEN}`);
      for (const [id, connection] of both) {
        const connections = deviceConnections(TWO_DEVICES, id);
        expect(connections).toHaveLength(1);
        await replay(connection, connections.flat());
        await served(connection);
        saysNoMore(connection);
      }
    } finally {
      await second.close();
    }
  });
});

describe('a recorded connection that ends in the middle of a command', () => {
  it.each(DROPS)('%s: the command ends with it, and nobody is told of it later', async (trace) => {
    const [first = [], ...more] = deviceConnections(trace, DEVICE);
    const times = async (what: string): Promise<number> => (await stage.marks()).filter((mark) => mark === what).length;
    const [called, ended] = [await times('called execute_command'), await times('ended execute_command')];
    const connection = await stage.next();
    await replay(connection, first);
    await until(async () => ((await times('called execute_command')) > called ? true : undefined));
    connection.cut();
    await until(async () => ((await times('ended execute_command')) > ended ? true : undefined));
    const again = await stage.next();
    await replay(again, more[0] ?? first.slice(0, 2));
    await served(again);
    saysNoMore(again);
  });
});

describe('a server of UFO', () => {
  const heartbeat: Json = { type: 'heartbeat', status: 'ok', response_id: 'r0' };

  it('that drops the connection never gets what our own servers would get', async () => {
    const ours = await stage.nextAsOurs();
    ours.command('c1', 'EXEC_CLI', { command: 'echo secret of another server' });
    await ours.outcome('c1');
    const connection = await stage.next();
    connection.send(heartbeat);
    await served(connection);
    expect(connection.waiting().map(({ type }) => type)).toEqual(['register']);
  });

  it('is not answered what another connection asked, also when it took long to end', async () => {
    const connection = await stage.next();
    connection.send(heartbeat);
    const stubborn = `echo $$ > pid; trap "" TERM; while :; do sleep 0.1; done`;
    const action = { tool_name: 'EXEC_CLI', parameters: { command: stubborn }, tool_type: 'action', call_id: 'a1' };
    connection.send({ type: 'command', status: 'continue', response_id: 'r1', actions: [action] });
    const pid = await pidIn(join(stage.home.jailDir, 'pid'));
    connection.cut();
    const again = await stage.next();
    again.send(heartbeat);
    await again.next('register');
    // Whether it still runs by then is a matter of the machine: that it has ended comes before anything is answered here.
    await served(again);
    expect(await isAlive(pid)).toBe(false);
    saysNoMore(again);
  });

  it('whose agent does nothing with a tool is told so', async () => {
    const connection = await stage.next();
    connection.send(heartbeat);
    const action = { tool_name: '', parameters: {}, tool_type: 'action', call_id: 'a1' };
    connection.send({ type: 'command', status: 'continue', response_id: 'r1', actions: [action] });
    const { action_results: results } = await connection.next('command_results');
    expect(results).toMatchObject([{ status: 'success', result: 'No action taken.', call_id: 'a1' }]);
  });

  it('that asks how the machine is gets its system_info', async () => {
    const connection = await stage.next();
    connection.send(heartbeat);
    connection.send({ type: 'device_info_request', status: 'ok', request_id: 'q1' });
    expect(await connection.next('device_info_response')).toMatchObject({
      request_id: 'q1',
      client_id: DEVICE,
      result: { device_id: DEVICE, platform: 'linux' },
    });
  });

  it('that asks for tools that collect data gets none, and those of a server when it asks for them', async () => {
    const connection = await stage.next();
    connection.send(heartbeat);
    const list = (parameters: Json): void =>
      connection.send({
        type: 'command',
        status: 'continue',
        response_id: 'r1',
        actions: [{ tool_name: 'list_tools', parameters, tool_type: 'action', call_id: 'a1' }],
      });
    list({ tool_type: 'data_collection' });
    expect((await connection.next('command_results')).action_results).toMatchObject([{ result: [] }]);
    list({ tool_type: 'action', namespace: 'device', remove_meta: true });
    const { action_results: results } = await connection.next('command_results');
    const names = ((results?.[0]?.result ?? []) as { namespace: string }[]).map(({ namespace }) => namespace);
    expect(new Set(names)).toEqual(new Set(['device']));
  });
});
