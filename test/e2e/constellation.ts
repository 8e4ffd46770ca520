import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { ConstellationEndpoint, HandshakeRefused, RegistrationRefused } from '#libs/aip';
import { exchangesOf, loadTrace, type Frame } from '../../services/aip-gateway/testing/trace.js';
import { TraceSocket } from '../../services/aip-gateway/testing/trace-socket.js';
import { type TestSystem, until } from './system.js';

interface ListedRun {
  readonly runId: string;
  readonly status: string;
  readonly name: string;
}

const exec = (command: string) => ({ tool: 'EXEC_CLI', arguments: { command, timeout: 600 } });

/** What tells the policy that a tool of another system's devices is a shell. */
const POLICY = 'version: 1\ntools: { execute_command: { shellLine: command } }\n';

/** Lays beside the home of a system what its gateway puts into calls of tools of other systems' devices, and what its policy knows of them; gives the settings. */
export async function prepareForClients(home: string): Promise<NodeJS.ProcessEnv> {
  const [inject, policy] = [join(home, 'inject.yaml'), join(home, 'policy-of-tools.yaml')];
  await writeFile(inject, 'linux_agent_1:\n  execute_command: { api_key: mcp-key }\n', { mode: 0o600 });
  await writeFile(policy, POLICY);
  return { ORRERY_AIP_INJECT_FILE: inject, ORRERY_POLICY_FILE: policy };
}

/** A client of another system that sends tasks. It is no operator: its commands are judged, and these are plain ones that need nobody's word. */
export function testsOfConstellationClients(system: () => TestSystem): void {
  let token: string;
  let url: string;

  beforeAll(async () => {
    ({ aip: url } = await system().endpoints());
    const enrolled = await system().json<{ clientId: string; token: string; url: string }>(
      'clients',
      'enroll',
      '--id',
      'galaxy',
      '--devices',
      'web-1',
    );
    expect(enrolled).toMatchObject({ clientId: 'galaxy', url: `${url}?token=<token>` });
    ({ token } = enrolled);
  });

  const connect = (more: { targetId?: string; token?: string } = {}): Promise<ConstellationEndpoint> =>
    ConstellationEndpoint.connect({
      url,
      credential: async () => more.token ?? token,
      // As UFO's clients do, which can put it nowhere else.
      credentialIn: 'query',
      clientId: 'trip@web-1',
      targetId: more.targetId ?? 'web-1',
      clock: { now: () => Date.now() },
    });
  const runNamed = async (name: string): Promise<ListedRun | undefined> => {
    const { runs } = await system().json<{ runs: ListedRun[] }>('runs');
    return runs.find((run) => run.name === name);
  };

  it('gets in with its token only, and to its own devices only', async () => {
    await expect(connect({ token: 'made-up' })).rejects.toBeInstanceOf(HandshakeRefused);
    await expect(connect({ targetId: 'web-2' })).rejects.toBeInstanceOf(RegistrationRefused);
    await (await connect()).close();
  });

  it('is told what its device is, and nothing of the others', async () => {
    const endpoint = await connect();
    expect(await endpoint.deviceInfo()).toMatchObject({
      device_id: 'web-1',
      platform: 'linux',
      supported_features: expect.arrayContaining(['cli']),
      tools: expect.arrayContaining(['EXEC_CLI']),
    });
    expect(await endpoint.deviceInfo('web-2')).toEqual({ error: expect.stringContaining("'web-2'") });
    await endpoint.close();
  });

  it('has an exact command done on a real device', async () => {
    const endpoint = await connect();
    const file = join(system().home, 'devices/web-1/jail/done-by-a-client');
    const end = await endpoint.task({
      sessionId: 'trip@t1',
      name: 'galaxy/trip/t1',
      request: 'Task Description: greet\nTips for Completion:\nNo tips available.',
      command: exec('echo hello | tee done-by-a-client'),
    });
    expect(end).toMatchObject({
      status: 'completed',
      error: null,
      result: [{ request: expect.stringContaining('greet'), result: { stdout: 'hello\n', exit_code: 0 } }],
    });
    expect(await readFile(file, 'utf8')).toBe('hello\n');
    const failing = { sessionId: 'trip@t2', name: 'galaxy/trip/t2', request: '', command: exec('echo half; exit 3') };
    const failed = await endpoint.task(failing);
    expect(failed).toMatchObject({ status: 'failed', result: [{ result: { stdout: 'half\n', exit_code: 3 } }] });
    expect(failed.error).toContain('3');
    await endpoint.close();
    expect(await system().cli('verify', '--all')).toMatchObject({ code: 0 });
  });

  it('drives a recorded device of UFO, which gets the key of its tools from nobody but the gateway', async () => {
    const id = 'linux_agent_1';
    const enrolled = await system().json<{ token: string }>('devices', 'enroll', '--id', id, '--foreign');
    const trace = loadTrace('02-task-two-commands');
    const [register] = trace;
    const exchanges = exchangesOf(trace, 'c1');
    const device = await TraceSocket.dial(`${url}?token=${enrolled.token}`, { exchanges });
    if (register !== undefined && 'frame' in register.what) device.send(register.what.frame);
    await device.take(({ type }) => type === 'heartbeat', 'the confirmation');
    const { token: ofAll } = await system().json<{ token: string }>('clients', 'enroll', '--id', 'all-of-them');
    const endpoint = await until('the device', () => connect({ token: ofAll, targetId: id }).catch(() => undefined));
    // Its tools are asked for when it is there already.
    const info = await until('its tools', async () => {
      const { tools = [], ...told } = (await endpoint.deviceInfo()) as { tools?: string[] };
      return tools.includes('execute_command') ? told : undefined;
    });
    expect(info).toMatchObject({ device_id: id, hostname: 'vm', ip_address: '192.0.2.2' });
    const command = { tool: 'execute_command', arguments: { command: 'uname -s' } };
    expect(await endpoint.task({ sessionId: 'trip@ufo', name: 'ufo', request: '', command })).toMatchObject({
      status: 'completed',
      result: [{ result: { success: true, stdout: 'Linux\n' } }],
    });
    expect(device.commands.map(parametersOf)).toEqual([{ command: 'uname -s', api_key: 'mcp-key' }]);
    const run = await until('the run', () => runNamed('ufo'));
    expect((await system().cli('export', run.runId)).stdout).not.toContain('mcp-key');
    const lost = endpoint.task({
      sessionId: 'trip@lost',
      name: 'lost',
      request: '',
      command: { tool: 'execute_command', arguments: { command: 'tail -f /dev/null' } },
    });
    await device.command(2);
    device.cut();
    expect(await lost).toMatchObject({ status: 'failed', result: [], error: expect.stringMatching(/./u) });
    await endpoint.close();
  });

  it('is told why words alone cannot be done', async () => {
    const endpoint = await connect();
    expect(await endpoint.task({ sessionId: 'trip@t3', name: 'words', request: 'have a look around' })).toEqual({
      status: 'failed',
      result: [],
      error: expect.stringContaining('needs a device agent'),
    });
    await endpoint.close();
  });

  it('that leaves takes its command with it: the run is cancelled and the process is gone', async () => {
    const endpoint = await connect();
    const { ended, pid } = await sleeping(endpoint, 'left');
    await endpoint.close();
    expect(await ended).toMatchObject({ status: 'unknown' });
    await expectCancelled('left', pid);
  });

  it('is told when its gateway stops, which takes the command with it, too', async () => {
    const endpoint = await connect();
    const { ended, pid } = await sleeping(endpoint, 'stopped');
    process.kill(await system().pidOf('aip-gateway'), 'SIGTERM');
    expect(await ended).toMatchObject({ status: 'failed', error: expect.stringContaining('the gateway stops') });
    await expectCancelled('stopped', pid);
  });

  async function sleeping(endpoint: ConstellationEndpoint, name: string) {
    // No other process of this machine sleeps as long.
    const seconds = `600.${process.pid}${name.length}`;
    const command = exec(`sleep ${seconds}`);
    const ended = endpoint.task({ sessionId: `trip@${name}`, name, request: 'sleep', command });
    const pid = Number(await until('the command', () => pidOf('sleep', seconds)));
    expect(isAlive(pid)).toBe(true);
    return { ended, pid };
  }

  async function expectCancelled(name: string, pid: number): Promise<void> {
    await until('the end of the process', async () => (isAlive(pid) ? undefined : true));
    const run = await until('the run', () => runNamed(name));
    expect(await system().untilEnd(run.runId)).toMatchObject({ status: 'CANCELLED' });
    const { stdout } = await system().cli('export', run.runId);
    expect(stdout).toContain('"by":{"id":"aip:galaxy","kind":"external"}');
  }
}

const parametersOf = (command: Frame): unknown =>
  (command['actions'] as unknown as { parameters: unknown }[])[0]?.parameters;

/** The process that was started with just these words; undefined while there is none. */
async function pidOf(...words: readonly string[]): Promise<string | undefined> {
  const wanted = words.map((word) => `${word}\0`).join('');
  const isIt = async (pid: string) => (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')) === wanted;
  for (const pid of await readdir('/proc')) if (/^\d+$/u.test(pid) && (await isIt(pid))) return pid;
  return undefined;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
