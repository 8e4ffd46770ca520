import { ConstellationEndpoint } from '#libs/aip';
import { exchangesOf, loadTrace } from '../../services/aip-gateway/testing/trace.js';
import { TraceSocket } from '../../services/aip-gateway/testing/trace-socket.js';
import { effectOf, FaultDevice } from '../e2e/aip-faults-device.js';
import { until } from '../e2e/system.js';
import { exact, line, type Recording, sh } from './recording.js';

/* Devices that are lost, killed, foreign, held and revoked; clients of other systems; and what the log of the fleet says of them. */

export interface FleetTimes {
  readonly graceMs: number;
  readonly deadAfterMs: number;
}

/** One device behind a cable that is cut: lost for good, lost and tried again, killed in the middle. */
export async function lostDevices(recording: Recording, { graceMs, deadAfterMs }: FleetTimes): Promise<void> {
  const { system, nc } = recording;
  const { aip } = await system.endpoints();
  const device = await FaultDevice.start({
    system,
    nc,
    id: 'far-1',
    urls: [aip],
    admin: { tags: ['far'], capabilities: [], tasksMax: 4 },
    config: { deadAfterMs, reconnectMsMax: graceMs },
  });
  /** One that lasts for so long, or until the gate is opened. */
  const far = (id: string, seconds: number, more: object = {}) => {
    const command = effectOf(seconds === 0 ? { id, seconds, gate: 'gate' } : { id, seconds });
    const target = { device: 'far-1' };
    return sh(id, '', { target, command: { tool: 'EXEC_CLI', arguments: { command, timeout: 600 } }, ...more });
  };
  await connected(recording, 'far-1');
  const lost = await recording.send(
    'device-lost',
    exact(
      'device-lost',
      [far('gone', 0), sh('told', 'echo told'), far('again', 0, { retry: { attempts: 2 }, idempotent: true })],
      [line('gone', 'told')],
    ),
  );
  await until('commands at work', async () => ((await device.effects()).length >= 2 ? true : undefined));
  device.proxy.goSilent();
  await device.openGate('gate');
  await recording.untilEvent(lost, 'the loss', ({ type, data }) => type === 'TASK_FAILED' && data.taskId === 'gone');
  device.proxy.mend();
  await recording.ends(lost, 'partially_failed');
  await recording.untilEvent(
    lost,
    'a late result',
    ({ type, data }) => type === 'RUN_ANNOTATED' && data.kind === 'late_result',
  );

  const { length: before } = await device.effects();
  const killed = await recording.send(
    'device-killed',
    exact('device-killed', [far('once', 3), far('twice', 3, { idempotent: true, retry: { attempts: 3 } })]),
  );
  await until('both at work', async () => ((await device.effects()).length >= before + 2 ? true : undefined));
  await device.process.kill9();
  await device.process.begin();
  await recording.ends(killed, 'partially_failed');
  await device.stop();
}

async function connected({ system }: Recording, id: string): Promise<void> {
  await until(`${id} to be connected`, async () => {
    const { devices } = await system.json<{ devices: { deviceId: string; status: string }[] }>('devices');
    return devices.find(({ deviceId, status }) => deviceId === id && status === 'connected');
  });
}

/** Clients of another system, and one of its devices. */
export async function foreignPeers(recording: Recording): Promise<void> {
  const { system } = recording;
  const { aip: url } = await system.endpoints();
  const { token } = await system.json<{ token: string }>('clients', 'enroll', '--id', 'galaxy');
  const dial = (targetId: string) =>
    ConstellationEndpoint.connect({
      url,
      credential: async () => token,
      credentialIn: 'query',
      clientId: `trip@${targetId}`,
      targetId,
      clock: { now: () => Date.now() },
    });
  const endpoint = await dial('web-1');
  const command = (text: string) => ({ tool: 'EXEC_CLI', arguments: { command: text, timeout: 600 } });
  const say = (name: string, request: string, call?: ReturnType<typeof command>) =>
    endpoint.task({
      sessionId: `trip@${name}`,
      name: `client-${name}`,
      request,
      ...(call === undefined ? {} : { command: call }),
    });
  await say('exact', 'Task Description: greet\nTips for Completion:\nNo tips available.', command('echo hello'));
  await say('failing', '', command('echo half; exit 3'));
  await say('words', 'Task Description: story-foreign, say your name\nTips for Completion:\n - one sentence');
  const leaving = say('leaving', 'sleep', command('exec sleep 600'));
  const left = await recording.adopt('client-leaves', 'client-leaving');
  await recording.untilView(left, 'it runs', ({ tasks }) => tasks[0]?.status === 'RUNNING');
  await endpoint.close();
  await leaving;
  await recording.ends(left, 'CANCELLED');
  for (const name of ['exact', 'failing', 'words']) await recording.adopt(`client-${name}`, `client-${name}`);
  await foreignDevice(recording, url, dial);
}

async function foreignDevice(
  recording: Recording,
  url: string,
  dial: (targetId: string) => Promise<ConstellationEndpoint>,
): Promise<void> {
  const id = 'linux_agent_1';
  const { token } = await recording.system.json<{ token: string }>('devices', 'enroll', '--id', id, '--foreign');
  const trace = loadTrace('02-task-two-commands');
  const device = await TraceSocket.dial(`${url}?token=${token}`, { exchanges: exchangesOf(trace, 'c1') });
  const [register] = trace;
  if (register !== undefined && 'frame' in register.what) device.send(register.what.frame);
  await device.take(({ type }) => type === 'heartbeat', 'the confirmation');
  const endpoint = await until('the device', () => dial(id).catch(() => undefined));
  await until('its tools', async () => {
    const { tools = [] } = (await endpoint.deviceInfo()) as { tools?: string[] };
    return tools.includes('execute_command') ? true : undefined;
  });
  const command = (text: string) => ({ tool: 'execute_command', arguments: { command: text } });
  await endpoint.task({ sessionId: 'trip@ufo', name: 'client-ufo', request: '', command: command('uname -s') });
  await recording.adopt('foreign-device', 'client-ufo');
  const lost = endpoint.task({
    sessionId: 'trip@lost',
    name: 'client-lost',
    request: '',
    command: command('tail -f /dev/null'),
  });
  await device.command(2);
  device.cut();
  await lost;
  await recording.adopt('foreign-device-lost', 'client-lost');
  await endpoint.close();
}

/** Held, let go, revoked: devices, clients and grants. */
export async function fleetOrders(recording: Recording): Promise<void> {
  const cli = (...args: string[]) => recording.cli(...args);
  await cli('devices', 'enroll', '--id', 'held-1', '--tags', 'held,eu', '--capabilities', 'printer');
  await cli('devices', 'hold', 'held-1', '--reason', 'disk is being replaced');
  await cli('devices', 'enroll', '--id', 'revoked-1', '--foreign');
  await cli('devices', 'revoke', 'revoked-1', '--reason', 'stolen');
  await cli('devices', 'revoke', 'linux_agent_1');
  await cli('clients', 'enroll', '--id', 'limited', '--devices', 'web-1,db-1');
  await cli('clients', 'enroll', '--id', 'gone');
  await cli('clients', 'revoke', 'gone', '--reason', 'gone');
  await cli('mcp', 'revoke', '--all', '--reason', 'for the record');
  await cli('devices', 'hold', '--all', '--reason', 'everything stands');
  await cli('devices', 'release', '--all');
  await cli('devices', 'hold', 'db-1');
  await cli('devices', 'release', 'db-1');
}
