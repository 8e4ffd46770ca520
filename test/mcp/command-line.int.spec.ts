import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { toolsFor, type Access } from '#libs/constellation-mcp';
import { decodeEditGrant, encodeEditGrant, grantIdOf, signEditGrant } from '#libs/keys';
import { sendVerb } from '#libs/messaging';
import { moment } from '#libs/testing';
import { ConstellationSnapshot, type RunId } from '#proto';
import { serveMcp } from '../../services/cli/commands/mcp/mcp.runner.js';
import { runProgram } from '../../services/cli/run-program.js';
import { FakeRegistry } from '../../services/cli/testing/fake-registry.js';
import { fakeTerminal, unhurried } from '../../services/cli/testing/fake-terminal.js';
import { momentText } from '../../services/cli/terminal/index.js';
import { startRig, type Rig } from './rig.js';

const NEW_TASK = {
  task_id: 'c',
  name: 'c',
  description: '',
  target_device_id: 'web-1',
  command: { tool: 'NOOP', arguments: {} },
};
const NOW = Date.now();
/** Every look at it is later than the one before. */
let time = NOW;
const now = () => ++time;
const instant = (ms: number) => new Date(ms).toISOString();

let rig: Rig;
let registry: FakeRegistry;
let runId: RunId;
let home: string;

beforeAll(async () => {
  rig = await startRig();
  registry = await FakeRegistry.start(await rig.bus.as('registry'));
  registry.showTime(NOW);
  runId = await rig.submit('command-line');
  home = await mkdtemp(join(tmpdir(), 'orrery-mcp-cli-'));
});
afterAll(async () => {
  await registry.stop();
  await rig.stop();
  await rm(home, { recursive: true, force: true });
});

const env = () => ({ ORRERY_NATS_URL: rig.bus.server.url, ORRERY_NATS_SEED_FILE: rig.bus.seedFile('cli') });

/** An assistant that has started `orrery mcp serve` and talks to it. */
async function assistant(access: Access) {
  const input = new PassThrough();
  const output = new PassThrough();
  const terminal = fakeTerminal();
  const stop = new AbortController();
  const context = { terminal, env: env(), json: false, now: () => Date.now(), signal: stop.signal };
  const ended = serveMcp(context, runId, access, { input, output });
  const client = new Client({ name: 'assistant', version: '1.0.0' });
  // Lines in, lines out: seen from the other end it is the same.
  await client.connect(new StdioServerTransport(output, input));
  return { client, input, terminal, ended, stop };
}

async function orrery(words: readonly string[], variables: NodeJS.ProcessEnv = env()) {
  const terminal = fakeTerminal();
  const signal = new AbortController().signal;
  const exitCode = await runProgram(words, { terminal, env: variables, now, signal });
  return { exitCode, out: terminal.outLines, err: terminal.errLines.join('\n') };
}

/** What makes a process of its own out of the command line, as it was built and is shipped. */
function mainWith(...words: readonly string[]): string[] {
  return [join(import.meta.dirname, '../../dist/services/cli/main.js'), ...words];
}

/** The answer, read whole: a connection is not left with half of one in it. */
async function listTools(token: string): Promise<{ readonly status: number; readonly json: unknown }> {
  const response = await fetch(rig.url(runId), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      connection: 'close',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  return { status: response.status, json: await response.json() };
}

describe('orrery mcp serve', () => {
  it('lets an assistant change the run in the name of the person, as something that a model may have written', async () => {
    const { client, input, ended, terminal } = await assistant('edit');
    const added = await client.callTool({ name: 'add_task', arguments: NEW_TASK });
    const { tasks } = ConstellationSnapshot.parse(added.structuredContent);
    expect(tasks.map(({ task_id: id }) => id)).toEqual(['a', 'b', 'c']);
    expect((await rig.lastEvent(runId, 'CONSTELLATION_MODIFIED'))?.data).toMatchObject({
      proposedBy: { kind: 'person', id: 'cli' },
      judgeCommands: true,
    });
    input.end();
    expect(await ended).toBe(0);
    expect([terminal.outLines, terminal.errLines]).toEqual([[], [expect.stringContaining(`Run ${runId} is served`)]]);
  });

  it('lets an assistant look only, when that is what was typed', async () => {
    const { client, stop, ended } = await assistant('read');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['get_constellation', 'get_board']);
    await expect(client.callTool({ name: 'add_task', arguments: NEW_TASK })).rejects.toThrow('access is read only');
    stop.abort(); // Ctrl-C
    expect(await ended).toBe(0);
  });

  it('answers what was asked before the input ended', async () => {
    const { client, input, ended } = await assistant('edit');
    const asked = client.callTool({ name: 'update_task', arguments: { task_id: 'b', priority: 7 } });
    const looked = client.callTool({ name: 'get_constellation', arguments: {} });
    input.end();
    expect(await asked).not.toHaveProperty('isError');
    expect(await looked).toHaveProperty('structuredContent.run_id', runId);
    expect(await ended).toBe(0);
  });

  it('is a process that says nothing but the protocol, and ends with its input', async () => {
    const child = spawn(process.execPath, mainWith('mcp', 'serve', runId), {
      env: { PATH: process.env['PATH'], ...env() },
      stdio: 'pipe',
    });
    const ended = once(child, 'close');
    const said: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => said.push(text));
    for (const message of [
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } },
      },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'get_constellation', arguments: {} } },
    ]) {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    }
    child.stdin.end();
    expect(await ended).toEqual([0, null]);
    const [first, second, ...more] = said
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(first).toMatchObject({ id: 1, result: { serverInfo: { name: 'orrery-constellation' } } });
    expect(second).toMatchObject({ id: 2, result: { structuredContent: { run_id: runId } } });
    expect(more).toEqual([]);
  });

  it('says no to a run that is none, and to what is no run id, before it says anything to the assistant', async () => {
    expect(await orrery(['mcp', 'serve', 'no-such-run'])).toMatchObject({ exitCode: 3, out: [] });
    expect(await orrery(['mcp', 'serve', 'no such run'])).toMatchObject({ exitCode: 3, out: [] });
  });
});

describe('orrery mcp token', () => {
  it('makes one that the endpoint takes, for this run, this access and this long', async () => {
    const { exitCode, out } = await orrery(['mcp', 'token', runId, '--read-only', '--minutes', '30', '--json']);
    expect(exitCode).toBe(0);
    const printed = JSON.parse(out.join('')) as { id: string; token: string };
    expect(printed).toEqual({
      id: expect.any(String),
      runId,
      access: 'read',
      expiresAt: expect.any(String),
      url: null,
      token: expect.any(String),
    });
    const grant = decodeEditGrant(printed.token);
    if (grant?.issuedAt === undefined) throw new Error('it is one, and says when it was signed');
    const expiresAt = instant(Date.parse(grant.issuedAt) + 30 * 60_000);
    expect(grant).toMatchObject({ runId, access: 'read', expiresAt });
    expect(printed).toMatchObject({ id: grantIdOf(grant), expiresAt });
    expect((await listTools(printed.token)).json).toMatchObject({
      result: { tools: [{ name: 'get_constellation' }, { name: 'get_board' }] },
    });
  });

  it('says where the system that runs here listens, and what the token is worth', async () => {
    await mkdir(join(home, 'keys'), { recursive: true });
    const endpoints = { nats: rig.bus.server.url, postgres: 'x', console: 'x', aip: 'x', health: {} };
    const { endpointsFile, seedFile } = (await import('../../services/cli/home/home.js')).homeAt(home);
    await writeFile(endpointsFile, JSON.stringify({ ...endpoints, mcp: 'http://127.0.0.1:8090/mcp' }));
    await writeFile(seedFile('cli'), await rig.bus.seedOf('cli'), { mode: 0o600 });
    const { out, err } = await orrery(['mcp', 'token', runId], { ORRERY_HOME: home });
    expect(out).toEqual([
      `url    http://127.0.0.1:8090/mcp/${runId}`,
      expect.stringMatching(/^token {2}[\w-]+$/u),
      expect.stringMatching(/^id {5}[0-9a-f]{64}$/u),
    ]);
    expect(err).toContain(`may see and change run ${runId} in your name`);
    expect(err).toContain(`orrery mcp revoke ${out[2]?.slice(7)}`);
  });

  it.each([
    ['no-such-run', '60'],
    ['RUN', '0'],
    ['RUN', '1441'],
    ['RUN', 'ten'],
  ])('makes none for %s and %s minutes', async (run, minutes) => {
    const words = ['mcp', 'token', run.replace('RUN', runId), '--minutes', minutes];
    expect(await orrery(words)).toMatchObject({ exitCode: 3, out: [] });
  });
});

describe('orrery mcp revoke', () => {
  interface Printed {
    readonly id: string;
    readonly token: string;
  }
  const tokenFor = async (minutes = 60): Promise<Printed> =>
    JSON.parse((await orrery(['mcp', 'token', runId, '--minutes', String(minutes), '--json'])).out.join('')) as Printed;
  const untilRefused = async (token: string): Promise<void> => {
    while ((await listTools(token)).status !== 401) await moment();
  };

  it('ends one token, by itself or by its id, and never shows it', async () => {
    const [first, second, third] = [await tokenFor(61), await tokenFor(62), await tokenFor(63)];
    const done = await orrery(['mcp', 'revoke', first.token, '--reason', 'in a chat']);
    expect(done).toEqual({ exitCode: 0, out: [`Token ${first.id} is revoked: whoever has it is refused.`], err: '' });
    expect((await orrery(['mcp', 'revoke', first.id])).out).toEqual([`Token ${first.id} was revoked already.`]);
    expect((await orrery(['mcp', 'revoke', second.id, '--json'])).out).toEqual([
      JSON.stringify({ changed: true, revoked: { kind: 'grant', grantId: second.id } }),
    ]);
    await untilRefused(first.token);
    await untilRefused(second.token);
    expect((await listTools(third.token)).status).toBe(200);
    const listed = await orrery(['mcp', 'revoked']);
    expect(listed.out.map((line) => line.split('\t'))).toEqual([
      [first.id, momentText(registry.revokedGrants[0]?.revokedAt ?? ''), 'cli: in a chat'],
      [second.id, momentText(registry.revokedGrants[1]?.revokedAt ?? ''), 'cli'],
    ]);
    expect(JSON.parse((await orrery(['mcp', 'revoked', '--json'])).out.join(''))).toEqual({
      revoked: registry.revokedGrants,
    });
    expect(JSON.stringify([registry.asked, done, listed])).not.toContain(first.token.slice(0, 40));
  });

  it.each([
    ['a file', 64],
    ['a pipe', 66],
  ])('reads a token from standard input, %s, where no list of processes shows it', async (from, minutes) => {
    const { id, token } = await tokenFor(minutes);
    const file = join(home, 'token.txt');
    await writeFile(file, `${token}\n`, { mode: 0o600 });
    const input = await open(file);
    const child = spawn(process.execPath, mainWith('mcp', 'revoke', '-'), {
      env: { PATH: process.env['PATH'], ...env() },
      stdio: [from === 'a file' ? input.fd : 'pipe', 'pipe', 'pipe'],
    });
    const ended = once(child, 'close');
    child.stdin?.end(token);
    await input.close();
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text: Buffer) => said.push(text.toString()));
    }
    expect(await ended).toEqual([0, null]);
    expect(unhurried(said.join(''))).toEqual([`Token ${id} is revoked: whoever has it is refused.`, '']);
    await untilRefused(token);
  });

  it('ends all that one has signed, for a run or altogether, and none of others', async () => {
    const { token } = await tokenFor(65);
    const others = rig.token(runId);
    const run = await orrery(['mcp', 'revoke', '--run', runId]);
    expect(run.out).toEqual([`Every token for run ${runId} that you have signed until now is revoked.`]);
    await untilRefused(token);
    expect((await listTools(others)).status).toBe(200);
    const all = await orrery(['mcp', 'revoke', '--all', '--json']);
    expect(JSON.parse(all.out.join(''))).toEqual({ changed: true, revoked: { kind: 'all' } });
  });

  it.each<[string, readonly string[], string]>([
    ['nothing', [], 'Name a token or its id, or say --run <run> or --all'],
    ['two things', ['--all', '--run', 'RUN'], 'Name a token or its id, or say --run <run> or --all'],
    ['a run that is none', ['--run', 'no-such-run'], 'no-such-run'],
    ['a token in the wrong place', ['--run', 'TOKEN'], '--run: a run id is needed; it has 26 letters and digits.'],
    ['what is no token', ['garbage'], 'This is neither a token of "orrery mcp token" nor the id of one'],
    ['half a token', ['HALF'], 'This is neither a token of "orrery mcp token" nor the id of one'],
    ['a token that was changed', ['CHANGED'], 'The token does not fit its key: it was changed, or is not whole.'],
  ])('does nothing for %s, and says what is needed', async (_, words, sentence) => {
    const token = rig.token(runId);
    const grant = decodeEditGrant(token);
    if (grant === undefined) throw new Error('it is one');
    const given: Record<string, string> = {
      RUN: runId,
      TOKEN: token,
      HALF: token.slice(0, 100),
      CHANGED: encodeEditGrant({ ...grant, access: 'read' }),
    };
    const before = registry.asked.length;
    const { exitCode, out, err } = await orrery(['mcp', 'revoke', ...words.map((word) => given[word] ?? word)]);
    expect([exitCode, out]).toEqual([3, []]);
    expect(err).toContain(sentence);
    expect(err).not.toContain(token.slice(0, 40));
    expect(registry.asked).toHaveLength(before);
  });
});

describe('a grant', () => {
  const granted = () => ({ issuedAt: instant(now()), expiresAt: instant(NOW + 3_600_000) });
  const propose = async (grantSeed: string) =>
    sendVerb(await rig.bus.as('cli'), {
      runId,
      verb: 'PROPOSE',
      fields: {
        proposal: { editId: null, try: 1, baseRevision: null, state: 'CONTINUE', edits: [] },
        grant: signEditGrant(grantSeed, { runId, access: 'edit', ...granted() }),
      },
      seed: await rig.bus.seedOf('cli'),
      now: () => Date.now(),
    });

  it('of somebody else counts in no hands but those of the planner', async () => {
    expect(await propose(rig.aliceSeed)).toMatchObject({ answer: 'rejected', reason: { code: 'UNAUTHORIZED' } });
    expect(await propose(await rig.bus.seedOf('cli'))).toMatchObject({ answer: 'ignored' });
  });
});

describe('docs/mcp.md', () => {
  const PAGE = join(import.meta.dirname, '../../docs/mcp.md');
  const blocks = async (language: string) =>
    Array.from((await readFile(PAGE, 'utf8')).matchAll(/^```(\w+)\n([^]*?)^```/gmu), ([, name, text = '']) =>
      name === language ? [text] : [],
    ).flat();
  const RUN = '0k3j…';
  const ID = '9f86d081…';
  const idOf = (token: string): string => {
    const grant = decodeEditGrant(token);
    return grant === undefined ? ID : grantIdOf(grant);
  };

  it('shows commands that do what it says', async () => {
    const lines = (await blocks('sh')).flatMap((text) => text.trim().split('\n'));
    expect(lines.length).toBeGreaterThan(7);
    let last = '';
    for (const line of lines) {
      // A shell would read the file; the first token that was shown is in it.
      const [program, ...words] = line
        .replace(RUN, runId)
        .replace('- < token.txt', last)
        .replace(ID, idOf(last))
        .split(' ');
      expect(program).toBe('orrery');
      const { exitCode, out } = await orrery(words);
      expect([line, exitCode]).toEqual([line, 0]);
      if (words[1] === 'token') [last = ''] = /[\w-]{100,}/u.exec(out.join('\n')) ?? [];
      expect(last).not.toBe('');
    }
    expect(registry.revokedGrants.map(({ grants }) => grants.kind)).toEqual(
      expect.arrayContaining(['grant', 'run', 'all']),
    );
  });

  it('shows settings of hosts that connect them', async () => {
    const [stdio = '', http = ''] = await blocks('json');
    const { orrery: local } = (JSON.parse(stdio) as Settings<{ command: string; args: string[] }>).mcpServers;
    expect([local.command, ...local.args]).toEqual(['orrery', 'mcp', 'serve', RUN]);
    const help = await orrery([...local.args.slice(0, 2), '--help']);
    expect(help.out.join('\n')).toContain('Usage: orrery mcp serve [options] <run>');
    const given = http
      .replace('http://127.0.0.1:8090/mcp/0k3j…', rig.url(runId))
      .replace('Bearer …', `Bearer ${rig.token(runId)}`);
    const { url, headers } = (JSON.parse(given) as Settings<{ url: string; headers: Record<string, string> }>)
      .mcpServers.orrery;
    const client = new Client({ name: 'host', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    const { tools } = await client.listTools();
    await client.close();
    expect(tools).toEqual(toolsFor('edit'));
  });

  it('names every tool there is', async () => {
    const rows = Array.from((await readFile(PAGE, 'utf8')).matchAll(/^\| `([a-z_]+)`/gmu), ([, name]) => name);
    expect(rows).toEqual(toolsFor('edit').map(({ name }) => name));
  });
});

interface Settings<T> {
  readonly mcpServers: { readonly orrery: T };
}
