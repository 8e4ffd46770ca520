import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { makeHome, startDevice, type DeviceHome, type DeviceProcess } from '../testing/device-process.js';
import { startScriptedServer, type ScriptedConnection, type ScriptedServer } from '../testing/scripted-server.js';
import { until } from '../testing/until.js';

const CANARY = 'Canary/4711+äöü "quoted"';
const FORMS = [
  CANARY,
  JSON.stringify(CANARY).slice(1, -1),
  encodeURIComponent(CANARY),
  ...(['base64', 'base64url', 'hex'] as const).map((encoding) => Buffer.from(CANARY).toString(encoding)),
];

const CLASHING = fileURLToPath(new URL('../testing/clashing-server.ts', import.meta.url));

let home: DeviceHome;
let server: ScriptedServer;
let device: DeviceProcess | undefined;
let secretsDir: string;
let frames: string[];

async function open(): Promise<void> {
  [home, server, frames] = [await makeHome(), await startScriptedServer(), []];
  secretsDir = join(home.dir, 'secrets');
  await mkdir(secretsDir, { mode: 0o700 });
  await put('db-password', CANARY);
}

async function close(): Promise<void> {
  if (device?.child.exitCode === null && device.child.signalCode === null) await device.kill('SIGKILL');
  device = undefined;
  await server.stop();
  await home.remove();
}

async function put(name: string, value: string): Promise<void> {
  await writeFile(join(secretsDir, name), value);
  await chmod(join(secretsDir, name), 0o600);
}

async function start(...more: string[]): Promise<ScriptedConnection> {
  return startWith([], ...more);
}

/** Takes it when it has these tools of other servers. */
async function startWith(tools: readonly string[], ...more: string[]): Promise<ScriptedConnection> {
  device = startDevice(home, server.url, ['--secrets', secretsDir, '--log-level', 'trace', ...more]);
  const { connection } = await server.registeredWith(...tools);
  connection.onFrame = (text) => frames.push(text);
  return connection;
}

const WITH = { env: { S: { secret: 'db-password' } }, stdin: { secret: 'db-password' } };

/** One client for all that is said of those it has: each test has commands, files and secrets of its own. */
describe('a secret of a device', () => {
  let connection: ScriptedConnection;
  beforeAll(async () => {
    await open();
    await put('theirs', 'from clashing');
    await put('word', 'last Words');
    const config = join(home.dir, 'tools.yaml');
    const args = JSON.stringify([CLASHING]);
    await writeFile(
      config,
      `mcpServers:\n  clashing: { command: ${JSON.stringify(process.execPath)}, args: ${args} }\n` +
        '  dead: { command: /bin/sh, args: [-c, "echo last Words, >&2; exit 1"] }\n',
    );
    connection = await startWith(['only_mine'], '--config', config);
  });
  afterAll(close);
  beforeEach(() => void (frames = []));

  it('is where a command needs it, and in no frame, journal or log, whatever commands do with it', async () => {
    const commands: Record<string, string> = {
      used: '[ "$S" = "$(cat)" ] && printf %s "$S" | wc -c > used',
      printed: 'printf "%s\\n" "$S"; printf "%s\\n" "$S" >&2; exit 3',
      encoded: 'printf %s "$S" | base64; printf "user:%s" "$S" | base64 -w0; printf %s "$S" | od -An -tx1',
      grouped: 'printf %s "$S" | od -An -v -tx1 | tr -d " \\n"; printf %s "$S" | od -An -v -tx2 --endian=big',
      split: 'a=${S%??????}; printf %s "$a"; until [ -e go ]; do sleep 0.05; done; printf "%s\\n" "${S#"$a"}"',
      read: `cat ${secretsDir}/db-password; env; tr "\\0" "\\n" < /proc/self/environ; tr "\\0" " " < /proc/$$/cmdline`,
      long: 'yes "$S" | head -c 3000000',
      kept: 'printf %s "$S" > file',
    };
    for (const [id, command] of Object.entries(commands)) connection.command(id, 'EXEC_CLI', { command, ...WITH });
    // What was held back while it might have been the beginning of the value is told when it is not.
    await until(() => (frames.some((text) => text.includes('"command_output"')) ? true : undefined));
    await writeFile(join(home.jailDir, 'go'), '');
    for (const id of Object.keys(commands)) {
      expect({ id, error: (await connection.outcome(id)).error?.code }).toEqual({
        id,
        error: id === 'printed' ? 'EXIT_CODE' : undefined,
      });
    }
    connection.command('get', 'FILE_GET', { path: 'file' });
    expect((await connection.outcome('get')).error?.message).toContain('contains a secret of this device');
    expect(await home.lines('used')).toEqual([String(Buffer.byteLength(CANARY))]);

    const journal = await readFile(join(home.dataDir, 'commands.journal'), 'utf8');
    const said = { frames: frames.join('\n'), journal, log: device?.output() ?? '' };
    expect(said.frames).toContain('[secret:db-password]');
    for (const [where, text] of Object.entries(said)) {
      for (const form of FORMS) expect({ where, form, has: text.includes(form) }).toEqual({ where, form, has: false });
    }
    expect(said.journal).toContain('[secret:db-password]');
  });

  it('has the value that its file has when the command starts, and the old one stays out', async () => {
    const changing = { env: { S: { secret: 'changing' } }, stdin: { secret: 'changing' } };
    await put('changing', 'first-canary');
    connection.command('old', 'EXEC_CLI', { command: 'printf %s "$S" > old', ...changing });
    await connection.outcome('old');
    await put('changing', 'another-canary');
    connection.command('new', 'EXEC_CLI', { command: '[ "$S" = another-canary ] && cat old && cat', ...changing });
    expect((await connection.outcome('new')).result).toMatchObject({ stdout: '[secret:changing][secret:changing]' });
  });

  it('is in no answer of another tool server, and in no line that it makes us write', async () => {
    connection.command('mine', 'only_mine', {});
    expect((await connection.outcome('mine')).result).toBe('[secret:theirs]');
    await until(() => (device?.output().includes('[secret:word]') ? true : undefined));
    expect(device?.output()).not.toContain('last Words');
  });

  it('that is not there lets nothing run, and nothing of it is written down', async () => {
    const env = { S: { secret: 'api-key' } };
    connection.command('absent', 'EXEC_CLI', { command: 'echo ran >> effects', env });
    expect(await connection.outcome('absent')).toMatchObject({
      state: 'FAILED',
      error: { code: 'UNKNOWN_SECRET', message: 'this device has no secret "api-key"' },
    });
    expect(await home.lines('effects')).toEqual([]);
    expect(await readFile(join(home.dataDir, 'commands.journal'), 'utf8')).not.toContain('"absent"');
    await put('api-key', 'canary-2');
    connection.command('absent', 'EXEC_CLI', { command: 'echo ran >> effects', env });
    expect(await connection.outcome('absent')).toMatchObject({ state: 'COMPLETED' });
  });
});

describe('a secret of a device', () => {
  beforeEach(open);
  afterEach(close);

  it('ends the start with one sentence when others can read it', async () => {
    await chmod(join(secretsDir, 'db-password'), 0o644);
    device = startDevice(home, server.url, ['--secrets', secretsDir]);
    const { child, output, ended } = device;
    await ended;
    expect(child.exitCode).toBe(3);
    expect(output()).toBe(
      `orrery-device: --secrets: ${secretsDir}/db-password can be read by others; it must have the mode 600 or 400.\n`,
    );
  });
});

describe('the policy of a device', () => {
  beforeEach(open);
  afterEach(close);

  const POLICY = 'version: 1\nrules:\n  - { id: no-uptime, match: { program: uptime }, decision: deny }\n';

  it('refuses what the service let through, and says by which rule', async () => {
    const policy = join(home.dir, 'policy.yaml');
    await writeFile(policy, POLICY, { mode: 0o644 });
    const connection = await start('--policy', policy);
    const judged = { class: 'read', decision: 'allow', rule: 'r' } as const;
    connection.command('c1', 'EXEC_CLI', { command: 'uptime' }, { judged });
    connection.command('c2', 'EXEC_CLI', { command: 'uptime' });
    connection.command('c3', 'EXEC_CLI', { command: 'rm -rf /srv/data-of-nobody' }, { judged });
    connection.command('c4', 'EXEC_CLI', { command: 'hostname; echo ran >> effects' });
    expect((await connection.outcome('c1')).error).toMatchObject({
      code: 'POLICY_DENIED',
      message: expect.stringContaining('no-uptime'),
    });
    expect((await connection.outcome('c2')).error?.code).toBe('POLICY_DENIED');
    expect((await connection.outcome('c3')).error?.code).toBe('APPROVAL_REQUIRED');
    expect((await connection.outcome('c4')).state).toBe('COMPLETED');
  });

  it.each<[string, number, string]>([
    [POLICY, 0o666, 'can be written by others; take that away with chmod go-w.'],
    ['rules: [}', 0o600, 'The policy is not YAML'],
    ['version: 2\n', 0o600, 'version: '],
  ])('ends the start with one sentence when it is %j with the mode %o', async (text, mode, sentence) => {
    const policy = join(home.dir, 'policy.yaml');
    await writeFile(policy, text);
    await chmod(policy, mode);
    device = startDevice(home, server.url, ['--policy', policy]);
    const { child, output, ended } = device;
    await ended;
    expect(child.exitCode).toBe(3);
    expect(output()).toContain(sentence);
    expect(output().trim().split('\n')).toHaveLength(1);
    await rm(policy);
  });
});

describe.each(['bwrap', 'util-linux'])('the policy of a device with the sandbox %s', (kind) => {
  const judged = { class: 'read', decision: 'allow', rule: 'r' } as const;
  let connection: ScriptedConnection;
  beforeAll(async () => {
    await open();
    const policy = join(home.dir, 'policy.yaml');
    // An owner who is wrong about a program: the wall knows better.
    await writeFile(policy, 'version: 1\nrules:\n  - { id: wrong, match: { program: touch }, decision: allow }\n', {
      mode: 0o644,
    });
    connection = await start('--sandbox', kind, '--policy', policy);
  });
  afterAll(close);

  it('is asked for commands of agents, which run in the sandbox, and only those', async () => {
    const command = 'grep NoNewPrivs: /proc/self/status';
    connection.command('inside', 'EXEC_CLI', { command }, { judged });
    connection.command('outside', 'EXEC_CLI', { command });
    const [inside, outside] = [await connection.outcome('inside'), await connection.outcome('outside')];
    expect({ inside, outside }).toMatchObject({ inside: { state: 'COMPLETED' }, outside: { state: 'COMPLETED' } });
    expect(outside.result).toMatchObject({ stdout: 'NoNewPrivs:\t0\n' });
    expect(inside.result).toMatchObject({ stdout: 'NoNewPrivs:\t1\n' });
  });

  it('holds what it takes for a look to one, and tells what was none', async () => {
    const asks = (id: string, command: string): void => connection.command(id, 'EXEC_CLI', { command }, { judged });
    asks('c1', 'sed -n w/var/tmp/orrery-fallen /etc/hostname');
    asks('c2', 'touch written && ls');
    asks('c3', 'ps -e');
    asks('c4', 'awk 1 /proc/mounts');
    asks('c6', 'cat /proc/mounts | wc -l');
    asks('c5', 'touch /var/tmp/orrery-fallen');
    const [c1, c2, c3, c4, c5, c6] = await Promise.all(
      ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'].map((id) => connection.outcome(id)),
    );
    expect(c1?.state).toBe('FAILED');
    expect(c2).toMatchObject({ state: 'COMPLETED', result: { stdout: 'written\n' } });
    const { stdout: processes } = { stdout: '', ...(c3?.result as { stdout: string } | undefined) };
    expect(processes).toMatch(new RegExp(`^ *${process.pid} `, 'mu'));
    expect(c4?.error?.code).toBe('APPROVAL_REQUIRED');
    // Its mounts are not those of the machine: who only tells of them is believed, and runs without it.
    expect(c6).toMatchObject({ state: 'COMPLETED' });
    expect(c5?.error).toEqual({
      code: 'POLICY_MISMATCH',
      message:
        'it was judged to write only, so only where commands work may be written, and it tried to write to /var/tmp/orrery-fallen',
      outcome: 'failed',
    });
    expect(device?.output()).toContain('a command ran into its wall');
    await expect(readFile('/var/tmp/orrery-fallen')).rejects.toThrow('ENOENT');
  });
});
