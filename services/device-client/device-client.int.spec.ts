import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ExecCliResult, type Json } from '#proto';
import { makeHome, startDevice, TOKEN, type DeviceHome, type DeviceProcess } from './testing/device-process.js';
import { ATTEMPT, startScriptedServer, type ScriptedServer } from './testing/scripted-server.js';
import { isAlive, pidIn, until } from './testing/until.js';

let home: DeviceHome;
let server: ScriptedServer;
let devices: DeviceProcess[] = [];

const setUp = async (): Promise<void> => {
  home = await makeHome();
  server = await startScriptedServer();
};
const tearDown = async (): Promise<void> => {
  for (const device of devices)
    if (device.child.exitCode === null && device.child.signalCode === null) await device.kill('SIGKILL');
  devices = [];
  await server.stop();
  await home.remove();
};

const start = (...more: string[]): DeviceProcess => {
  const device = startDevice(home, server.url, more);
  devices.push(device);
  return device;
};

describe('a device client that runs', () => {
  let device: DeviceProcess;
  let registered: Awaited<ReturnType<ScriptedServer['registered']>>;
  let commands = 0;

  beforeAll(async () => {
    await setUp();
    device = start();
    registered = await server.registered();
  });
  afterAll(tearDown);

  /** Each command has an id of its own. */
  const gives = (tool: string, parameters: Json, more: object = {}) => {
    const { connection } = registered;
    const id = `c${++commands}`;
    connection.command(id, tool, parameters, more);
    return { connection, id, outcome: connection.outcome(id) };
  };
  const runs = (command: string, more: object = {}) => gives('EXEC_CLI', { command, ...more }).outcome;

  it('registers with its token in a header, its journal and its tools', async () => {
    const { connection, register } = registered;
    expect(connection.request.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(connection.request.url).toBe('/ws');
    expect(register).toMatchObject({ status: 'ok', client_type: 'device', client_id: null });
    expect(register.metadata?.system_info).toMatchObject({
      platform: 'linux',
      schema_version: '1.0',
      platform_type: 'computer',
    });
    const { revision, journal_id: journalId, telemetry } = register.metadata?.orrery ?? {};
    expect({ revision, journalId }).toEqual({ revision: 2, journalId: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(telemetry?.capabilities).toContain('cli');
    expect(telemetry?.tools.map(({ name, readOnly }) => ({ name, readOnly }))).toEqual([
      { name: 'EXEC_CLI', readOnly: false },
      { name: 'SYS_INFO', readOnly: true },
      { name: 'FILE_GET', readOnly: true },
      { name: 'FILE_PUT', readOnly: false },
    ]);
    await until(() => (device.output().includes('"registered"') ? true : undefined));
    expect(device.output()).not.toContain(TOKEN);
    expect((await stat(home.dataDir)).mode & 0o777).toBe(0o700);
  });

  it('runs a command and reports its result', async () => {
    const outcome = await runs('echo hello; pwd');
    expect(outcome).toMatchObject({ state: 'COMPLETED', error: null, durationMs: expect.any(Number) });
    expect(outcome.result).toMatchObject({ stdout: `hello\n${home.jailDir}\n`, exit_code: 0, status: 'SUCCESS' });
  });

  it('keeps the output of a command that fails and names code and last line', async () => {
    const outcome = await runs('echo out; echo first >&2; echo it broke >&2; exit 3');
    expect(outcome).toMatchObject({
      state: 'FAILED',
      result: { stdout: 'out\n', exit_code: 3 },
      error: { code: 'EXIT_CODE', message: 'exit code 3: it broke', outcome: 'failed' },
    });
  });

  it('reports a timeout as one, with the output until then', async () => {
    const within = (timeout: number) => runs('echo before; sleep 600', { timeout });
    let [timeout, outcome] = [1, await within(1)];
    // A machine may be too busy for its first word to come in that time.
    while (ExecCliResult.parse(outcome.result).stdout === '') outcome = await within((timeout *= 2));
    expect(outcome).toMatchObject({
      state: 'TIMED_OUT',
      result: { stdout: 'before\n', exit_code: 124, status: 'TIMEOUT' },
      error: { code: 'TIMEOUT', outcome: 'timed_out' },
    });
  });

  it('gives its commands none of its own secrets', async () => {
    const outcome = await runs('env; tr "\\0" "\\n" < /proc/$PPID/environ; cat /proc/$PPID/cmdline');
    expect(outcome.state).toBe('COMPLETED');
    expect(JSON.stringify(outcome)).not.toContain('canary');
  });

  it('answers a command for a tool it does not have at once', async () => {
    const { outcome } = gives('NO_SUCH_TOOL', {});
    expect(await outcome).toMatchObject({ state: 'FAILED', error: { code: 'UNKNOWN_TOOL' } });
  });

  it('reports what a tool refuses as a failure of the tool', async () => {
    const { outcome } = gives('EXEC_CLI', { comand: 'true' });
    expect(await outcome).toMatchObject({ state: 'FAILED', error: { code: 'TOOL_ERROR' } });
  });

  it('reads system information', async () => {
    const { outcome } = gives('SYS_INFO', { info_type: 'memory' });
    expect(await outcome).toMatchObject({
      state: 'COMPLETED',
      result: { info_type: 'memory', data: { total: expect.any(String), total_bytes: expect.any(Number) } },
    });
  });

  it('does not start a command whose time is over', async () => {
    const { outcome } = gives('EXEC_CLI', { command: 'echo x >> late' }, { not_after_ms: 0 });
    expect(await outcome).toMatchObject({ state: 'FAILED', error: { code: 'EXPIRED' } });
    expect(await home.lines('late')).toEqual([]);
  });

  it('fits a result with more output than a frame takes into one', async () => {
    const outcome = await runs('head -c 3000000 /dev/zero | tr "\\0" "\\001"');
    expect(outcome.state).toBe('COMPLETED');
    expect(Buffer.byteLength(JSON.stringify(outcome))).toBeLessThan(1024 * 1024);
    expect(outcome.result).toMatchObject({ stdout_bytes: 3_000_000 });
  });

  it('refuses other content under the same id', async () => {
    const { connection, id, outcome } = gives('EXEC_CLI', { command: 'true' });
    await outcome;
    connection.command(id, 'EXEC_CLI', { command: 'echo x >> other' }, { digest: 'd2' });
    expect(await connection.outcome(id)).toMatchObject({ state: 'FAILED', error: { code: 'COMMAND_ID_REUSED' } });
    expect(await home.lines('other')).toEqual([]);
  });

  it('runs a command once when it is delivered again while it runs', async () => {
    const command = 'echo x >> effects; until [ -e go ]; do sleep 0.02; done';
    const { connection, id, outcome } = gives('EXEC_CLI', { command });
    for (let again = 0; again < 2; again++) connection.command(id, 'EXEC_CLI', { command });
    await until(async () => ((await home.lines('effects')).length > 0 ? true : undefined));
    const told = () =>
      connection.waiting().some((said) => said.type === 'command_progress' && said.orrery.command_id === id);
    await until(() => told() || undefined);
    await writeFile(join(home.jailDir, 'go'), '');
    expect(await outcome).toMatchObject({ state: 'COMPLETED' });
    expect(await home.lines('effects')).toHaveLength(1);
  });

  it('refuses a second client on the same data directory', async () => {
    const second = start();
    await second.ended;
    expect(second.child.exitCode).toBe(3);
    expect(second.output()).toContain('another device client uses');
  });

  it('delivers after a cut connection what ended meanwhile', async () => {
    const { connection } = registered;
    connection.command('cut', 'EXEC_CLI', {
      command: 'echo x >> effects-cut; until [ -e go-cut ]; do sleep 0.02; done; echo done',
    });
    await until(async () => ((await home.lines('effects-cut')).length > 0 ? true : undefined));
    connection.cut();
    await writeFile(join(home.jailDir, 'go-cut'), '');
    registered = await server.registered();
    const { connection: second } = registered;
    expect(await second.outcome('cut')).toMatchObject({ state: 'COMPLETED', result: { stdout: 'done\n' } });
    expect(await home.lines('effects-cut')).toHaveLength(1);
  });

  // It is the same one, each time with all that it has kept so far.
  describe('and is ended and started again', () => {
    const startsAgain = async () => {
      device = start();
      registered = await server.registered();
      return registered;
    };

    it('gives the stored result when it is delivered again, also after a restart, until it is acknowledged', async () => {
      const { connection } = registered;
      connection.command('kept', 'EXEC_CLI', { command: 'echo x >> effects-kept; date +%N' });
      const outcome = await connection.outcome('kept');
      connection.command('kept', 'EXEC_CLI', { command: 'echo x >> effects-kept; date +%N' });
      expect(await connection.outcome('kept')).toEqual(outcome);
      await device.kill('SIGKILL');
      const { connection: second } = await startsAgain();
      // Redelivered by itself, and once more when asked for.
      expect(await second.outcome('kept')).toEqual(outcome);
      second.command('kept', 'EXEC_CLI', { command: 'echo x >> effects-kept; date +%N' });
      expect(await second.outcome('kept')).toEqual(outcome);
      second.stored('kept');
      second.command('kept', 'EXEC_CLI', { command: 'echo x >> effects-kept; date +%N' });
      expect(await second.outcome('kept')).toMatchObject({
        state: 'OUTCOME_UNKNOWN',
        error: { code: 'RESULT_FORGOTTEN' },
      });
      expect(await home.lines('effects-kept')).toHaveLength(1);
    });

    it('has an unknown outcome and no second effect after the client was killed in the middle of it', async () => {
      const { connection } = registered;
      const command = 'echo x >> effects-killed; echo $$ > pid-killed; sleep 600';
      connection.command('killed', 'EXEC_CLI', { command });
      const pid = await pidIn(join(home.jailDir, 'pid-killed'));
      await device.kill('SIGKILL');
      await until(async () => ((await isAlive(pid)) ? undefined : true));
      const { connection: second } = await startsAgain();
      expect(await second.outcome('killed')).toMatchObject({
        state: 'OUTCOME_UNKNOWN',
        error: { code: 'DEVICE_RESTARTED', outcome: 'unknown' },
      });
      second.command('killed', 'EXEC_CLI', { command });
      expect(await second.outcome('killed')).toMatchObject({ state: 'OUTCOME_UNKNOWN' });
      expect(await home.lines('effects-killed')).toHaveLength(1);
    });

    it('ends what runs, keeps its result for the next start, and exits with 0', async () => {
      const { connection } = registered;
      connection.command('ended', 'EXEC_CLI', { command: 'echo $$ > pid-ended; sleep 600' });
      const pid = await pidIn(join(home.jailDir, 'pid-ended'));
      expect(await device.kill('SIGTERM')).toBe(0);
      expect(await isAlive(pid)).toBe(false);
      const { connection: second } = await startsAgain();
      expect(await second.outcome('ended')).toMatchObject({ state: 'FAILED', error: { code: 'DEVICE_STOPPED' } });
    });

    it('stops with a clear sentence when its journal is damaged', async () => {
      const { connection } = registered;
      connection.command('damaged', 'EXEC_CLI', { command: 'true' });
      await connection.outcome('damaged');
      await device.kill('SIGKILL');
      const path = join(home.dataDir, 'commands.journal');
      const bytes = await readFile(path);
      bytes[20] = (bytes[20] ?? 0) ^ 1;
      await writeFile(path, bytes);
      const second = start();
      await second.ended;
      expect(second.child.exitCode).toBe(1);
      expect(second.output()).toContain('the journal is damaged: line 1 (at byte 0)');
    });
  });
});

describe('a device client', () => {
  beforeEach(setUp);
  afterEach(tearDown);

  describe('a stopped attempt', () => {
    it('has its running command killed, its queued ones cancelled and later ones refused, also after a restart', async () => {
      await writeFile(join(home.dir, 'config.yaml'), 'commandsMax: 1\n');
      const first = start('--config', join(home.dir, 'config.yaml'));
      const { connection } = await server.registered();
      connection.command('c1', 'EXEC_CLI', { command: 'echo began; echo $$ > pid; sleep 600' });
      const pid = await pidIn(join(home.jailDir, 'pid'));
      connection.command('c2', 'EXEC_CLI', { command: 'echo x >> effects' });
      await connection.queued('c2');
      connection.stop();
      expect(await connection.outcome('c2')).toMatchObject({ state: 'CANCELLED', error: { outcome: 'cancelled' } });
      // Said when the command has ended, with what it had written.
      expect(await connection.outcome('c1')).toMatchObject({ state: 'CANCELLED', result: { stdout: 'began\n' } });
      expect(await isAlive(pid)).toBe(false);
      connection.command('c3', 'EXEC_CLI', { command: 'echo x >> effects' });
      expect(await connection.outcome('c3')).toMatchObject({ state: 'CANCELLED' });
      await first.kill('SIGKILL');
      start();
      const { connection: second } = await server.registered();
      second.command('c4', 'EXEC_CLI', { command: 'echo x >> effects' });
      expect(await second.outcome('c4')).toMatchObject({ state: 'CANCELLED' });
      second.command('c5', 'EXEC_CLI', { command: 'echo next' }, { attempt: { ...ATTEMPT, attempt: 2 } });
      expect(await second.outcome('c5')).toMatchObject({ state: 'COMPLETED' });
      expect(await home.lines('effects')).toEqual([]);
    });
  });

  describe('an orderly end', () => {
    it('leaves V8 the code of the program, and the next one takes it', async () => {
      const codeDir = join(home.dir, 'code');
      const turn = async (): Promise<number> => {
        const device = startDevice(home, server.url, [], codeDir);
        devices.push(device);
        await server.registered();
        expect(await device.kill('SIGTERM')).toBe(0);
        return (await stat(join(codeDir, 'device-client-main-join.code'))).ino;
      };
      const left = [await turn(), await turn()];
      // What V8 does not take is written anew at every start; once more, too, by the first that lives for ten seconds.
      if (left[0] !== left[1]) left.push(await turn(), await turn());
      expect(left.at(-1)).toBe(left.at(-2));
    });
  });

  describe('a server that behaves badly', () => {
    it('is tried again after it refused the handshake, closed at once, or sent nonsense', async () => {
      server.refuse(503);
      const device = start();
      await until(() => (server.handshakes >= 2 ? true : undefined));
      server.refuse(101);
      (await server.connection()).close(1011);
      const { connection } = await server.registered();
      connection.raw('{"type":');
      connection.raw('[]');
      connection.raw('{"type":"command","status":"continue","actions":"no"}');
      connection.raw(`{"type":"command","a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`);
      connection.command('c1', 'EXEC_CLI', { command: 'echo alive' });
      expect(await connection.outcome('c1')).toMatchObject({ state: 'COMPLETED' });
      expect(device.child.exitCode).toBeNull();
    });

    it('of a foreign kind gets every action answered in the shape it knows', async () => {
      start('--id', 'foreign-1');
      const connection = await server.connection();
      expect(await connection.next('register')).toMatchObject({ client_id: 'foreign-1' });
      connection.send({ type: 'heartbeat', status: 'ok', response_id: 'r0' });
      const action = (tool: string, parameters: object, id: string) => ({
        tool_name: tool,
        parameters: JSON.parse(JSON.stringify(parameters)),
        tool_type: 'action',
        call_id: id,
      });
      connection.send({
        type: 'command',
        status: 'continue',
        response_id: 'r1',
        session_id: 's9',
        actions: [
          action('list_tools', { tool_type: 'action' }, 'a1'),
          action('EXEC_CLI', { command: 'exit 4' }, 'a2'),
          action('nope', {}, 'a3'),
          action('EXEC_CLI', { command: 'echo x >> effects' }, 'a4'),
        ],
      });
      const answer = await connection.next('command_results');
      expect(answer).toMatchObject({ status: 'continue', prev_response_id: 'r1', session_id: 's9' });
      expect(answer.action_results).toMatchObject([
        {
          status: 'success',
          call_id: 'a1',
          result: [{ tool_name: 'EXEC_CLI', tool_key: 'action::EXEC_CLI' }, { tool_name: 'SYS_INFO' }],
        },
        { status: 'success', call_id: 'a2', result: { exit_code: 4 } },
        { status: 'failure', call_id: 'a3', error: 'unknown tool nope', namespace: null },
        { status: 'skipped', call_id: 'a4' },
      ]);
      connection.send({ type: 'command', status: 'completed', response_id: 'r2', actions: [] });
      expect(await connection.next('command_results')).toMatchObject({ prev_response_id: 'r2', action_results: [] });
      expect(await home.lines('effects')).toEqual([]);
    });
  });
});
