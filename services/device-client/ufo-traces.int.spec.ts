import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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

let cleanups: (() => unknown)[] = [];
beforeEach(() => {
  cleanups = [];
});
afterEach(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

interface Stage {
  readonly home: DeviceHome;
  readonly server: ScriptedServer;
  readonly device: DeviceProcess;
  readonly connections: TraceLine[][];
  readonly marks: () => Promise<string[]>;
}

/** A device with the recorded tools, in front of a server that says nothing by itself. */
async function stage(trace: string, deviceId = DEVICE): Promise<Stage> {
  const home = await makeHome();
  const server = await startScriptedServer();
  const connections = deviceConnections(trace, deviceId);
  const [record, marksFile, config] = ['record.json', 'marks', 'config.yaml'].map((name) => join(home.dir, name));
  await writeFile(record ?? '', JSON.stringify(recordedTools(connections)));
  const args = JSON.stringify([TOOLS, record, marksFile]);
  await writeFile(
    config ?? '',
    `credentialIn: query\nmcpServers:\n  BashExecutor: { command: ${JSON.stringify(process.execPath)}, args: ${args} }\n`,
  );
  const device = startDevice(home, server.url, ['--id', deviceId, '--config', config ?? '']);
  cleanups.push(
    () => home.remove(),
    () => server.stop(),
    () => device.kill('SIGKILL'),
  );
  const marks = async (): Promise<string[]> =>
    (await readFile(marksFile ?? '', 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  return { home, server, device, connections, marks };
}

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
  it.each([
    '01-register-heartbeat',
    '02-task-two-commands',
    '04-two-commands-in-one-message',
    '05-failing-command',
    '07-bad-arguments-failure-then-skipped',
    '08-command-timeout',
    '10-system-info',
  ])('%s', async (trace) => {
    const { server, connections, device } = await stage(trace);
    expect(connections).toHaveLength(1);
    for (const lines of connections) {
      const connection = await server.connection();
      expect(connection.request.url).toBe(`/ws?token=${TOKEN}`);
      await replay(connection, lines);
      await served(connection);
      saysNoMore(connection);
      expect(connection.closed).toBe(false);
    }
    expect(device.output()).not.toContain(TOKEN);
  });

  it('09-unknown-tool-no-reply, where the recorded one says nothing', async () => {
    const { server, connections } = await stage('09-unknown-tool-no-reply');
    const connection = await server.connection();
    await replay(connection, connections.flat());
    const asked = connections.flat().at(-1)?.msg;
    const answer = await connection.next('command_results');
    expect(answer).toMatchObject({ prev_response_id: asked?.['response_id'], session_id: asked?.['session_id'] });
    expect(answer.action_results).toMatchObject([{ status: 'failure', error: 'unknown tool no_such_tool' }]);
    await served(connection);
    saysNoMore(connection);
  });

  it('24-galaxy-diamond-two-devices, each with its part', async () => {
    const devices = await Promise.all(
      ['linux_agent_1', 'linux_agent_2'].map((id) => stage('24-galaxy-diamond-two-devices', id)),
    );
    for (const { server, connections } of devices) {
      expect(connections).toHaveLength(1);
      const connection = await server.connection();
      await replay(connection, connections.flat());
      await served(connection);
      saysNoMore(connection);
    }
  });
});

describe('a recorded connection that ends in the middle of a command', () => {
  it.each(['17-device-drops-mid-command', '18-network-drop-mid-command-and-reconnect'])(
    '%s: the command ends with it, and nobody is told of it later',
    async (trace) => {
      const { server, connections, marks } = await stage(trace);
      const [first = [], ...more] = connections;
      const connection = await server.connection();
      await replay(connection, first);
      await until(async () => ((await marks()).includes('called execute_command') ? true : undefined));
      connection.cut();
      await until(async () => ((await marks()).includes('ended execute_command') ? true : undefined));
      const again = await server.connection();
      await replay(again, more[0] ?? first.slice(0, 2));
      await served(again);
      saysNoMore(again);
    },
  );
});

describe('a server of UFO', () => {
  const heartbeat: Json = { type: 'heartbeat', status: 'ok', response_id: 'r0' };

  it('that drops the connection never gets what our own servers would get', async () => {
    const { server } = await stage('01-register-heartbeat');
    const ours = (await server.registered()).connection;
    ours.command('c1', 'EXEC_CLI', { command: 'echo secret of another server' });
    await ours.outcome('c1');
    ours.cut();
    const connection = await server.connection();
    connection.send(heartbeat);
    await served(connection);
    expect(connection.waiting().map(({ type }) => type)).toEqual(['register']);
  });

  it('is not answered what another connection asked, also when it took long to end', async () => {
    const { server, home } = await stage('01-register-heartbeat');
    const connection = await server.connection();
    connection.send(heartbeat);
    const stubborn = `echo $$ > pid; trap "" TERM; while :; do sleep 0.1; done`;
    const action = { tool_name: 'EXEC_CLI', parameters: { command: stubborn }, tool_type: 'action', call_id: 'a1' };
    connection.send({ type: 'command', status: 'continue', response_id: 'r1', actions: [action] });
    const pid = await pidIn(join(home.jailDir, 'pid'));
    connection.cut();
    const again = await server.connection();
    again.send(heartbeat);
    await again.next('register');
    // Whether it still runs by then is a matter of the machine: that it has ended comes before anything is answered here.
    await served(again);
    expect(await isAlive(pid)).toBe(false);
    saysNoMore(again);
  });

  it('whose agent does nothing with a tool is told so', async () => {
    const { server } = await stage('01-register-heartbeat');
    const connection = await server.connection();
    connection.send(heartbeat);
    const action = { tool_name: '', parameters: {}, tool_type: 'action', call_id: 'a1' };
    connection.send({ type: 'command', status: 'continue', response_id: 'r1', actions: [action] });
    const { action_results: results } = await connection.next('command_results');
    expect(results).toMatchObject([{ status: 'success', result: 'No action taken.', call_id: 'a1' }]);
  });

  it('that asks how the machine is gets its system_info', async () => {
    const { server } = await stage('01-register-heartbeat');
    const connection = await server.connection();
    connection.send(heartbeat);
    connection.send({ type: 'device_info_request', status: 'ok', request_id: 'q1' });
    expect(await connection.next('device_info_response')).toMatchObject({
      request_id: 'q1',
      client_id: DEVICE,
      result: { device_id: DEVICE, platform: 'linux' },
    });
  });

  it('that asks for tools that collect data gets none, and those of a server when it asks for them', async () => {
    const { server } = await stage('02-task-two-commands');
    const connection = await server.connection();
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
