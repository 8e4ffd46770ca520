import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SmallDisk } from '#libs/testing';
import { blocksOf, readPage } from '../pages/page.js';
import { testsOfControl } from './control.js';
import { CLI, exec, ROOT, run, TestSystem, until } from './system.js';
import { unhurried } from '../../services/cli/testing/fake-terminal.js';
import { writeRequest } from './requests.js';
import { diskOfNats, testsOfRecovery } from './recovery.js';
import { GatewayCertificates, testsOfTls } from './tls.js';

const echo = (id: string, device = 'web-1') => ({
  id,
  name: id,
  target: { device },
  command: { tool: 'EXEC_CLI', arguments: { command: `echo ${id}` } },
});
const diamond = (requestId: string) => ({
  requestId,
  constellation: {
    name: 'diamond',
    tasks: [echo('a'), echo('b'), echo('c', 'db-1'), echo('d')],
    lines: [
      { id: 'ab', from: 'a', to: 'b' },
      { id: 'ac', from: 'a', to: 'c' },
      { id: 'bd', from: 'b', to: 'd' },
      { id: 'cd', from: 'c', to: 'd' },
    ],
  },
});
const EXAMPLES = 'deploy/examples/publish';
const found = async (program: string) => (await exec('/bin/sh', ['-c', `command -v ${program}`])).code === 0;
const itWithPython = (await found('python3')) ? it : it.skip;
const itWithCurl = (await found('curl')) ? it : it.skip;

let certificates: GatewayCertificates;
let disk: SmallDisk | undefined;
let system: TestSystem;
beforeAll(async () => {
  certificates = await GatewayCertificates.make();
  const prepare = async (home: string) => {
    disk = await diskOfNats(home);
    return certificates.env;
  };
  system = await TestSystem.startWith({ prepare }, '--devices', '2');
});
afterAll(async () => {
  await system?.cli('down');
  disk?.unmount();
  await system?.stop();
  await certificates?.remove();
});

describe('the command line over a running system', () => {
  it('submits, waits, and is the same run the second time', async () => {
    const file = await writeRequest(system.home, diamond('once'));
    const first = await system.cli('submit', '-f', file, '--wait', '--json');
    expect(first).toMatchObject({ code: 0 });
    const view = JSON.parse(first.stdout) as { runId: string; sequence: number };
    expect(view).toMatchObject({ status: 'COMPLETED', outcome: 'succeeded', requestId: 'once' });
    const second = JSON.parse((await system.cli('submit', '-f', file, '--wait', '--json')).stdout) as unknown;
    expect(second).toMatchObject({ runId: view.runId, sequence: view.sequence });
  });

  it('plans with a runbook, without any model, and says in one sentence what it cannot plan', async () => {
    const done = await system.cli('submit', 'fleet-health', '--wait');
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('Answer') });
    const refused = await system.cli('submit', 'Make me a sandwich');
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('ORRERY_MODEL') });
    expect(unhurried(refused.stderr.trimEnd())).toEqual([expect.stringMatching(/^orrery: /u)]);
    const { runId } = await until('the projection', async () => {
      const { runs } = await system.json<{ runs: { runId: string; name: string }[] }>('runs');
      return runs.find(({ name }) => name.includes('fleet-health'));
    });
    const file = join(system.home, 'again.yaml');
    expect(await system.cli('runbooks', 'save', runId, '--name', 'again', '-o', file)).toMatchObject({ code: 0 });
    expect(await system.cli('runbooks', 'check', file)).toMatchObject({ code: 0 });
  });

  it('ends with 2 when a run does not succeed', async () => {
    const request = diamond('fails');
    const tasks = request.constellation.tasks.map((task, index) =>
      index === 1 ? { ...task, command: { tool: 'EXEC_CLI', arguments: { command: 'exit 7' } } } : task,
    );
    const file = await writeRequest(system.home, { ...request, constellation: { ...request.constellation, tasks } });
    expect(await system.cli('submit', '-f', file, '--wait')).toMatchObject({ code: 2 });
  });

  it('shows, replays, exports and verifies what happened, offline too, and finds a changed byte', async () => {
    const file = await writeRequest(system.home, diamond('audited'));
    const { runId } = await system.json<{ runId: string }>('submit', '-f', file, '--wait');
    const live = await system.show(runId);
    const exported = join(system.home, 'audited.jsonl');
    expect(await system.cli('export', runId, '-o', exported)).toMatchObject({ code: 0 });
    expect(await run(['verify', exported])).toMatchObject({ code: 0 });
    expect(await run(['replay', exported])).toMatchObject({ code: 0 });
    for (const sequence of [1, Math.ceil(live.sequence / 2), live.sequence]) {
      const at = await system.cli('show', runId, '--at', String(sequence), '--json');
      expect(JSON.parse(at.stdout)).toMatchObject({ sequence });
    }
    const tampered = join(system.home, 'tampered.jsonl');
    await writeFile(tampered, (await readFile(exported, 'utf8')).replace('echo b', 'echo x'));
    const verdict = await run(['verify', tampered]);
    expect(verdict.code).toBe(1);
    expect(verdict.stdout + verdict.stderr).toContain(runId);
  });

  it('runs again as it ran what is written in the form of UFO and submitted, post-condition and options included', async () => {
    const requestId = 'to-ufo';
    const a = {
      ...echo('a'),
      timeoutMs: 20_000,
      priority: 3,
      retry: { attempts: 2 },
      idempotent: true,
      verify: { command: { tool: 'EXEC_CLI', arguments: { command: 'exit 4' } }, condition: 'result.exit_code == 0' },
    };
    const b = {
      ...echo('b', 'db-1'),
      inputs: ['a'],
      command: { tool: 'EXEC_CLI', arguments: { command: 'wc -l', stdin: { from: ['a'] } } },
    };
    const lines = [{ id: 'ab', from: 'a', to: 'b', type: 'success-only', description: 'ö\u202e`</details>' }];
    const asked = { options: { concurrency: 1, priority: 2 }, metadata: { ticket: 'OPS-7' } };
    const request = { requestId, constellation: { name: 'to ufo', tasks: [a, b], lines }, ...asked };
    const first = await system.cli('submit', '-f', await writeRequest(system.home, request), '--wait', '--json');
    const [ufo, again] = ['ufo.json', 'again.jsonl'].map((name) => join(system.home, name)) as [string, string];
    const { runId } = JSON.parse(first.stdout) as { runId: string };
    await system.cli('export', runId, '--as', 'ufo', '-o', ufo);
    const second = await system.cli('submit', '-f', ufo, '--wait', '--json');
    expect([first.code, second.code]).toEqual([2, 2]);
    const other = JSON.parse(second.stdout) as { runId: string };
    expect(other).toMatchObject({
      tasks: [{ id: 'a', status: 'FAILED', error: { code: 'POSTCONDITION_FAILED' } }, {}],
    });
    const requestedIn = async (run: string) => {
      await system.cli('export', run, '-o', again);
      const [line = ''] = (await readFile(again, 'utf8')).split('\n');
      const { events } = (JSON.parse(line) as { commit: { events: [{ data: Record<string, unknown> }] } }).commit;
      const { constellation, options, metadata } = events[0].data;
      return { constellation, options, metadata };
    };
    expect(await requestedIn(other.runId)).toEqual(await requestedIn(runId));
  });

  it.each([
    ['a cycle', { lines: [{ id: 'x', from: 'a', to: 'a' }] }, 'constellation.lines'],
    ['an unknown field', { speed: 1 }, 'constellation.speed'],
    ['an unknown device', { tasks: [echo('a', 'mars')], lines: [] }, 'constellation.tasks[0].target'],
  ])('refuses %s with one sentence, its path, and exit code 3', async (_, change, path) => {
    const request = diamond('refused');
    const file = await writeRequest(system.home, {
      ...request,
      constellation: { ...request.constellation, ...change },
    });
    const { code, stderr } = await system.cli('submit', '-f', file);
    expect(code).toBe(3);
    expect(stderr).toContain(path);
    expect(stderr).not.toMatch(/\n\s+at /u);
  });

  it('shows the devices with what they can do', async () => {
    const { devices } = await system.json<{ devices: { deviceId: string }[] }>('devices');
    expect(devices).toMatchObject([
      { deviceId: 'db-1', status: 'connected', os: 'linux', tags: ['db'] },
      { deviceId: 'web-1', status: 'connected', os: 'linux', tags: ['web'] },
    ]);
  });

  itWithPython('is reached from Python with only a socket, and what nobody can read is a dead letter', async () => {
    const { nats } = await system.endpoints();
    const env = { ORRERY_NATS_URL: nats, ORRERY_NATS_PASSWORD_FILE: join(system.home, 'keys/external.password') };
    const file = await writeRequest(system.home, diamond('from-python'));
    const published = await exec('python3', [`${EXAMPLES}/publish.py`, file], env);
    expect(`${published.code} ${published.stderr}`).toBe('0 ');
    expect(published.stdout).toContain('RUN_COMPLETED');
    // Sent again it is the same run, of which nothing comes any more: that is said, and not waited for.
    const again = await exec('python3', [`${EXAMPLES}/publish.py`, file], { ...env, ORRERY_PATIENCE_S: '1' });
    expect(again).toMatchObject({ code: 4, stderr: expect.stringContaining('its events were told before') });
    const bad = await writeRequest(system.home, { requestId: 'bad-python', goal: 'x', speed: 9 });
    expect(await exec('python3', [`${EXAMPLES}/publish.py`, bad], env)).toMatchObject({ code: 3 });
    const letters = await until('the dead letter', async () => {
      const { letters } = await system.json<{ letters: { service: string; reason: string }[] }>('dlq', 'ls');
      return letters.length > 0 ? letters : undefined;
    });
    expect(letters).toMatchObject([{ service: 'orchestrator', reason: expect.stringContaining('speed') }]);
  });

  it('does all that the first day of an operator prints, as it stands there', async () => {
    const place = await mkdtemp(join(system.home, 'first-day-'));
    await writeFile(join(place, 'orrery'), `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`, { mode: 0o755 });
    const [start = '', ...blocks] = blocksOf(readPage('docs/first-day.md'), 'sh');
    expect(start).toBe('./orrery up --detach --devices 2\n');
    expect(blocks.filter((block) => block.includes('orrery up') || block.includes('orrery down'))).toEqual([]);
    // The disk of a machine that tests may be fuller than `doctor` likes.
    const [doctor = '', ...day] = [...blocks].sort((a) => (a.includes('doctor') ? -1 : 0));
    const script = `set -eu\ncd "${place}"\n${day.join('\n')}`;
    const done = await exec('/bin/sh', ['-c', script], { ...system.env, ORRERY_ROOT: ROOT, NO_COLOR: '1' });
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('web-1') });
    expect(done.stderr).not.toContain('Warning');
    expect(await readFile(join(place, 'report.md'), 'utf8')).toContain('fleet-health');
    const looked = await exec('/bin/sh', ['-c', `cd "${place}"\n${doctor}`], { ...system.env, ORRERY_ROOT: ROOT });
    expect(looked.stdout).toMatch(/devices/u);
  });

  it('is reached from TypeScript with the public NATS client', async () => {
    const { nats } = await system.endpoints();
    const env = { ORRERY_NATS_URL: nats, ORRERY_NATS_SEED_FILE: join(system.home, 'keys/external.seed') };
    const file = await writeRequest(system.home, diamond('from-typescript'));
    const { code, stdout } = await exec(process.execPath, [`${EXAMPLES}/publish.ts`, file], env);
    expect(stdout).toContain('orrery.RUN_COMPLETED');
    expect(code).toBe(0);
    // A NATS client asks for a second at least.
    const again = await exec(process.execPath, [`${EXAMPLES}/publish.ts`, file], { ...env, ORRERY_PATIENCE_S: '1' });
    expect(again).toMatchObject({ code: 4, stderr: expect.stringContaining('its events were told before') });
  });

  itWithCurl('is reached over HTTP with the token, and by nobody without', async () => {
    const { console: url } = await system.endpoints();
    const file = await writeRequest(system.home, diamond('from-curl'));
    const tokenFile = join(system.home, 'curl.token');
    await writeFile(tokenFile, system.token, { mode: 0o600 });
    const env = { ORRERY_CONSOLE_URL: url, ORRERY_TOKEN_FILE: tokenFile };
    const { stdout } = await exec('/bin/sh', [`${EXAMPLES}/publish-curl.sh`, file], env);
    expect(stdout).toContain('RUN_COMPLETED');
    expect((await fetch(`${url}/v1/runs`)).status).toBe(401);
  });
});

describe('a run under control', () => testsOfControl(() => system));
describe('connections of devices', () =>
  testsOfTls(
    () => system,
    () => certificates,
  ));
// They end what the others use: after them.
describe('parts that are away', () => testsOfRecovery(() => ({ system, disk })));
