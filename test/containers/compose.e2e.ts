// The system of docker-compose.yml on a real engine: ./orrery test containers
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { connect, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { SubmitAnswer, subjects, type RunView } from '#proto';
import { heapFlags, SERVICES } from '../../services/cli/processes/plan.js';
import { ContainerSystem } from './containers.js';
import { orrery, ROOT, until, whyNoEngine } from './engine.js';

const START_MS_MAX = 15 * 60_000;
const ONE_SHOTS = ['setup', 'setup-nats', 'setup-streams', 'setup-devices'];
const DEVICES = ['web-1', 'db-1'];

const reason = await whyNoEngine();
if (reason !== undefined) process.stderr.write(`containers: skipped, because ${reason}.\n`);
const example = await readFile(join(ROOT, 'deploy/examples/fleet-health.json'), 'utf8');
const MEMORY_BYTES = 1024 ** 3;
const named = (requestId: string): string => JSON.stringify({ ...(JSON.parse(example) as object), requestId });

/** Three tasks; the middle one writes a line, which it must do once, and is at work when something dies. */
function plan(requestId: string): string {
  const task = (id: string, device: string, command: string) => ({
    id,
    name: id,
    target: { device },
    command: { tool: 'EXEC_CLI', arguments: { command } },
  });
  return JSON.stringify({
    requestId,
    constellation: {
      name: 'recovery',
      tasks: [
        task('before', 'db-1', 'echo before'),
        task('effect', 'web-1', `echo once >> ${requestId}; sleep 2; echo done`),
        task('after', 'db-1', 'echo after'),
      ],
      lines: [
        { id: 'l1', from: 'before', to: 'effect', type: 'success-only' },
        { id: 'l2', from: 'effect', to: 'after', type: 'success-only' },
      ],
    },
  });
}

/** A goal for a runbook: the planner makes its plan, and says in a round at its end that this was all. */
const script = (requestId: string, text: string): string =>
  JSON.stringify({ requestId, goal: `run-script script="${text}" tags=web` });

/** Addresses of this machine that others may reach. */
const outerAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all = []) =>
    all.flatMap(({ address, family, internal }) => (internal || family !== 'IPv4' ? [] : [address])),
  );

const shapeOf = ({ status, outcome, tasks, lines }: RunView) => ({
  status,
  outcome,
  tasks: tasks.map((task) => ({ id: task.id, status: task.status, attempts: task.attempts, device: task.device })),
  lines: lines.map(({ id, satisfied }) => ({ id, satisfied })),
});

(reason === undefined ? describe : describe.skip)('docker compose up', () => {
  let system: ContainerSystem;
  let token: string;

  beforeAll(async () => {
    system = await ContainerSystem.start(`orrery-test-${process.pid}`);
    token = await system.adminToken();
  }, START_MS_MAX);

  afterAll(() => system?.stop(), START_MS_MAX);

  /** 503 means "come again": the planner of a busy machine may not have said in time whether the goal is for a runbook. */
  async function submit(request: string): Promise<string> {
    const response = await until('an answer to the request', async () => {
      const answer = await system.http('POST', '/v1/requests', { token, body: request });
      return answer.status === 503 ? undefined : answer;
    });
    expect(response.status).toBe(202);
    return ((await response.json()) as { runId: string }).runId;
  }

  it('starts everything, the steps in order, the rest healthy', async () => {
    const containers = await system.containers();
    expect([...containers.keys()].toSorted()).toEqual(
      [...ONE_SHOTS, ...DEVICES, ...SERVICES, 'nats', 'postgres'].toSorted(),
    );
    for (const name of ONE_SHOTS) {
      expect({ name, ...containers.get(name)?.State }).toMatchObject({ name, Status: 'exited', ExitCode: 0 });
    }
    for (const name of [...SERVICES, ...DEVICES, 'nats', 'postgres']) {
      expect({ name, health: containers.get(name)?.State.Health?.Status }).toEqual({ name, health: 'healthy' });
    }
  });

  it('publishes the console, the gateway, the MCP server and the bus on the loopback interface, and nothing else', async () => {
    const published = [...(await system.containers())].flatMap(([name, { NetworkSettings }]) =>
      Object.entries(NetworkSettings.Ports).flatMap(([port, bindings]) =>
        (bindings ?? []).map(({ HostIp }) => `${HostIp} ${name} ${port}`),
      ),
    );
    expect(published.toSorted()).toEqual([
      '127.0.0.1 aip-gateway 5000/tcp',
      '127.0.0.1 console 8080/tcp',
      '127.0.0.1 nats 4222/tcp',
      '127.0.0.1 planner 8090/tcp',
    ]);
  });

  it('lets no container do more than it needs', async () => {
    for (const [name, { Config, HostConfig }] of await system.containers()) {
      const { ReadonlyRootfs, Privileged, CapDrop, CapAdd, SecurityOpt, Ulimits, LogConfig } = HostConfig;
      expect({ name, ReadonlyRootfs, Privileged, CapDrop }).toEqual({
        name,
        ReadonlyRootfs: true,
        Privileged: false,
        CapDrop: ['ALL'],
      });
      const isDevice = DEVICES.includes(name);
      // A wall around commands takes namespaces and mounts, which a profile of its own lets nobody make who is more than that.
      const opened = [expect.stringMatching(/^seccomp=\{/u), 'apparmor=unconfined'];
      expect({ name, SecurityOpt }).toEqual({
        name,
        SecurityOpt: ['no-new-privileges:true', ...(isDevice ? opened : [])],
      });
      expect({ name, covers: HostConfig.MaskedPaths?.length !== 0 }).toEqual({ name, covers: !isDevice });
      expect(Ulimits ?? []).toEqual([]);
      expect(LogConfig.Config).toMatchObject({ 'max-size': '10m', 'max-file': '3' });
      if (name === 'postgres') continue; // its entrypoint starts as root and becomes another user
      expect({ name, user: Config.User }).toEqual({ name, user: name === 'nats' ? '1000:1000' : 'node' });
      expect(CapAdd).toBeNull();
    }
    const owner = 'stat -c %U /proc/$(cat /proc/1/task/1/children)';
    expect((await system.mustCompose(['exec', '-T', 'postgres', 'sh', '-c', owner])).trim()).toBe('postgres');
  });

  it('bounds the memory of what is ours: the heap as "orrery up" does, and the container above it', async () => {
    const containers = await system.containers();
    const expectBounds = (name: string, flags: readonly string[]): void => {
      const one = containers.get(name);
      expect({ name, words: one?.Config.Entrypoint }).toMatchObject({ words: expect.arrayContaining([...flags]) });
      expect({ name, bytes: one?.HostConfig.Memory }).toEqual({ name, bytes: MEMORY_BYTES });
    };
    for (const service of SERVICES) expectBounds(service, heapFlags(service));
    for (const device of DEVICES) expectBounds(device, heapFlags());
  });

  it('keeps from every container the credentials of the others', async () => {
    const filesOf = async (name: string): Promise<string[]> =>
      (await system.mustCompose(['exec', '-T', name, 'ls', '/secrets'])).trim().split('\n').toSorted();
    expect(await filesOf('orchestrator')).toEqual(['metrics-token.sha256', 'seed']);
    expect(await filesOf('logging')).toEqual(['database-password', 'metrics-token.sha256', 'seed']);
    expect(await filesOf('planner')).toEqual(['database-password', 'metrics-token.sha256', 'seed']);
    const ofConsole = ['admin-token.sha256', 'desk-1.view', 'metrics-token.sha256', 'screens.json', 'seed'];
    expect(await filesOf('console')).toEqual(ofConsole);
    expect(await filesOf('web-1')).toEqual(['token']);
    expect(await filesOf('nats')).toEqual(['nats.conf', 'users.json']);
    const environments = [...(await system.containers()).values()].map((one) => JSON.stringify(one));
    for (const secret of [token, await system.secret('postgres/database-password'), await system.secret('cli/seed')]) {
      expect(secret.length).toBeGreaterThan(20);
      for (const text of environments) expect(text).not.toContain(secret);
    }
  });

  it('lets a device reach the gateway, and neither the bus nor the database', async () => {
    const find = (host: string): Promise<{ code: number }> =>
      system.compose([
        'exec',
        '-T',
        'web-1',
        'node',
        '-e',
        `require('dns').lookup('${host}', (e) => process.exit(e ? 9 : 0))`,
      ]);
    expect(await find('aip-gateway')).toMatchObject({ code: 0 });
    expect(await find('nats')).toMatchObject({ code: 9 });
    expect(await find('postgres')).toMatchObject({ code: 9 });
  });

  describe('a wall around judged commands', () => {
    it('is what each device says that it has, and everybody sees', async () => {
      const { stdout } = await system.cli(['devices', '--json']);
      const { devices } = JSON.parse(stdout) as { devices: { id: string; wall?: { kind: string } }[] };
      expect(devices.map(({ id, wall }) => [id, wall?.kind])).toEqual(DEVICES.toSorted().map((id) => [id, 'bwrap']));
      expect((await system.cli(['devices', 'show', 'web-1'])).stdout).toMatch(/^ {2}wall +bwrap, with a view of /mu);
    });

    it('is around a command of a request that is judged, and around no other', async () => {
      const said = async (command: string, options: object): Promise<string> => {
        const task = {
          id: 't',
          name: 't',
          target: { device: 'web-1' },
          command: { tool: 'EXEC_CLI', arguments: { command } },
        };
        const request = {
          requestId: `wall-${command.length}-${JSON.stringify(options).length}`,
          constellation: { name: 'wall', tasks: [task], lines: [] },
          options,
        };
        const view = await system.untilEnd(await submit(JSON.stringify(request)), token);
        expect(view).toMatchObject({ outcome: 'succeeded' });
        return JSON.stringify(view.tasks[0]?.result);
      };
      const madeIn = (text: string): string => /\/tmp\/tmp\.\w+/u.exec(text)?.[0] ?? 'nothing was made';
      const behind = madeIn(await said('mktemp -d', { judge: 'all' }));
      const outside = madeIn(await said('mktemp -d', {}));
      // Behind a wall there is a /tmp that nobody else sees.
      const seen = await said('ls -d /tmp/tmp.*', {});
      expect(behind).toMatch(/^\/tmp\/tmp\./u);
      expect(seen).toContain(outside);
      expect(seen).not.toContain(behind);
    });

    it.each<[string, 'read' | 'write', string]>([
      ['the key of its client', 'write', 'cat /data/identity.json'],
      ['the join token', 'write', 'cat /secrets/token'],
      ['the journal', 'write', 'cat /data/commands.journal'],
      ['the environment of its client', 'write', 'cat /proc/1/environ | tr "\\0" "\\n" | grep ORRERY_LOG_LEVEL'],
      ['another place to write', 'write', 'touch /data/out'],
      ['any place to write, when it reads', 'read', 'touch /data/jail/out'],
      [
        'the gateway',
        'write',
        "node -e \"require('net').connect(5000, 'aip-gateway').on('error', () => process.exit(9))\"",
      ],
      [
        'another network',
        'write',
        "node -e \"require('net').connect(53, '192.0.2.1').on('error', () => process.exit(9))\"",
      ],
      ['the processes of the device', 'write', 'grep -l device-client/[m]ain /proc/[0-9]*/cmdline'],
      ['a namespace of its own', 'write', 'unshare --user --map-root-user true'],
    ])('refuses %s', async (_what, kind, command) => {
      const { code, stdout } = await system.behindWall(kind, command);
      expect({ failed: code !== 0, stdout }).toEqual({ failed: true, stdout: '' });
    });

    it('lets a command work where commands work', async () => {
      const worked = await system.behindWall('write', 'echo once > worked && cat worked && id -u');
      expect(worked).toEqual({ code: 0, stdout: 'once\n1000\n', stderr: '' });
      expect(await system.effects('worked')).toBe(1);
    });
  });

  it('serves a goal with a runbook, without a model', async () => {
    const { code, stdout } = await system.cli(['submit', 'fleet-health', '--wait']);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('RUN_COMPLETED succeeded') });
    expect(stdout).toContain('the goal is what the runbook fleet-health is for');
    expect(stdout).toContain('2 of 2 devices answered');
  });

  it('says of a goal that nobody serves what is missing, and starts nothing', async () => {
    const before = await system.runIds();
    const { code, stderr } = await system.cli(['submit', 'paint the fence green']);
    expect({ code, stderr }).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no runbook fits this goal and no model is configured that could plan it'),
    });
    expect(stderr).toContain('fleet-health');
    expect(await system.runIds()).toEqual(before);
  });

  it('runs a request of the command line in a container', async () => {
    const { code, stdout } = await system.cli(['submit', '-f', 'deploy/examples/fleet-health.json', '--wait']);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('RUN_COMPLETED succeeded') });
    const devices = await system.cli(['devices', '--json']);
    expect(JSON.parse(devices.stdout)).toMatchObject({
      devices: [
        { deviceId: 'db-1', status: 'connected', tags: ['db'] },
        { deviceId: 'web-1', status: 'connected', tags: ['web'] },
      ],
    });
  });

  it('runs a request of POST /v1/requests for those who have the token', async () => {
    const view = await system.untilEnd(await submit(named('by-http')), token);
    expect(view).toMatchObject({ status: 'COMPLETED', outcome: 'succeeded' });
    const stranger = await system.http('POST', '/v1/requests', { token: 'ora_guessed', body: named('by-a-stranger') });
    expect(stranger.status).toBe(401);
  });

  it('runs a request that another system publishes on NATS with the password of its user', async () => {
    const nc = await connect({
      servers: await system.published('nats', 4222),
      user: 'external',
      pass: await system.secret('external/password'),
      inboxPrefix: '_INBOX_external',
    });
    try {
      const answers = nc.subscribe(subjects.answer('by-nats'), { max: 1 });
      await nc.flush();
      await jetstream(nc).publish(subjects.requests, named('by-nats'));
      for await (const message of answers) {
        const answer = SubmitAnswer.parse(message.json());
        expect(answer).toMatchObject({ requestId: 'by-nats' });
        const view = await system.untilEnd('runId' in answer ? answer.runId : '', token);
        expect(view.outcome).toBe('succeeded');
      }
    } finally {
      await nc.close();
    }
    await expect(connect({ servers: await system.published('nats', 4222), reconnect: false })).rejects.toThrow();
  });

  it('serves MCP on the loopback interface only, and to those only who have a token of the run', async () => {
    const runId = await submit(named('for-mcp'));
    await system.untilEnd(runId, token);
    const { stdout } = await system.cli(['mcp', 'token', runId, '--read-only', '--json']);
    const grant = JSON.parse(stdout) as { token: string };

    const answer = await system.mcp(runId, 'tools/list', grant.token);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      result: { tools: [{ name: 'get_constellation' }, { name: 'get_board' }] },
    });
    expect((await system.mcp(runId, 'tools/list')).status).toBe(401);
    expect((await system.mcp(runId, 'tools/list', 'guessed')).status).toBe(401);

    const [, port] = (await system.published('planner', 8090)).split(':');
    for (const address of outerAddresses())
      await expect(fetch(`http://${address}:${port}/mcp/${runId}`)).rejects.toThrow();
  });

  describe('a planner that goes away while its runbook is at work', () => {
    it.each([
      ['killed', () => system.kill9('planner')],
      ['restarted', () => system.mustCompose(['restart', 'planner'])],
    ])('is %s: it goes on with the run, which ends as planned, with its effect once', async (how, damage) => {
      const name = `planner-${how}`;
      const runId = await submit(script(name, `echo once >> ${name}; sleep 2; echo done`));
      await until('the effect', async () => (await system.effects(name)) || undefined);
      await damage();
      expect(await system.untilEnd(runId, token)).toMatchObject({
        status: 'COMPLETED',
        outcome: 'succeeded',
        tasks: [{ id: 'script', status: 'COMPLETED', attempts: 1 }],
      });
      expect(await system.effects(name)).toBe(1);
      // Without a planner the run would end, too, when its last round is overdue.
      const { stdout } = await system.cli(['plan', runId, '--json']);
      const { steps } = JSON.parse(stdout) as { steps: { type: string; data: { proposal: { state: string } } }[] };
      const proposed = steps.filter(({ type }) => type === 'PLAN_PROPOSED');
      expect(proposed.map(({ data }) => data.proposal.state)).toEqual(['CONTINUE', 'FINISH']);
    });
  });

  describe('kill -9 of the main process of a container in the middle of a run', () => {
    let undisturbed: ReturnType<typeof shapeOf>;

    async function disturbed(name: string, damage: () => Promise<unknown>): Promise<RunView> {
      const runId = await submit(plan(name));
      await until('the effect', async () => (await system.effects(name)) || undefined);
      await damage();
      const view = await system.untilEnd(runId, token);
      expect(await system.effects(name)).toBe(1);
      return view;
    }

    beforeAll(async () => {
      undisturbed = shapeOf(await disturbed('undisturbed', async () => undefined));
      expect(undisturbed).toMatchObject({ status: 'COMPLETED', outcome: 'succeeded' });
    });

    it.each(['orchestrator', 'device-agent', 'aip-gateway', 'logging', 'registry', 'postgres', 'nats'])(
      'of %s: it starts again, and the run ends as it would have, with its effect once',
      async (service) => {
        const before = (await system.container(service)).RestartCount;
        const view = await disturbed(`kill-${service}`, () => system.kill9(service));
        expect(shapeOf(view)).toEqual(undisturbed);
        await until(`${service} to be healthy again`, async () => {
          const { RestartCount, State } = await system.container(service);
          return (RestartCount > before && State.Health?.Status === 'healthy') || undefined;
        });
      },
    );

    it('of a device: nobody knows how its command ended, so it is not run again, and the device is back', async () => {
      const view = await disturbed('kill-device', () => system.kill9('web-1'));
      expect(shapeOf(view)).toMatchObject({
        status: 'COMPLETED',
        outcome: 'partially_failed',
        tasks: [
          { id: 'before', status: 'COMPLETED' },
          { id: 'effect', status: 'FAILED', attempts: 1 },
          { id: 'after', status: 'SKIPPED' },
        ],
      });
      expect(await system.cli(['submit', '-f', '-', '--wait'], plan('after-the-device'))).toMatchObject({ code: 0 });
    });
  });

  describe('a person with a key and a token of her own', () => {
    let folder: string;
    let seedFile: string;
    let annasToken: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'orrery-anna-'));
      seedFile = join(folder, 'anna.seed');
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    const people = (...words: string[]): Promise<string> =>
      system.mustCompose(['run', '--rm', '-T', 'people', ...words]);
    const dial = async (): Promise<NatsConnection> =>
      connect({
        servers: await system.published('nats', 4222),
        authenticator: nkeyAuthenticator(new TextEncoder().encode((await readFile(seedFile, 'utf8')).trim())),
        reconnect: false,
      });

    it('is let in by a server that goes on running, with a file that only she reads', async () => {
      const before = await system.container('nats');
      expect(await people('add', 'anna', '--roles', 'requester,viewer', '--key')).toContain(
        '/secrets/people/anna.seed',
      );
      await system.mustCompose(['cp', 'setup:/secrets/people/anna.seed', seedFile]);
      expect((await stat(seedFile)).mode & 0o777).toBe(0o600);
      expect(await system.container('nats')).toMatchObject({ Id: before.Id, RestartCount: before.RestartCount });
      expect(await system.mustCompose(['run', '--rm', '-T', 'setup'])).toBe('keys: as they were\n');
    });

    it('asks for runs from her own machine, in her own name, and is refused what she may not do', async () => {
      const servers = await system.published('nats', 4222);
      const env = { ORRERY_NATS_URL: `nats://${servers}`, ORRERY_NATS_SEED_FILE: seedFile };
      const asked = await orrery(['submit', '-f', '-', '--wait', '--json'], { input: named('of-anna'), env });
      expect({ asked }).toMatchObject({ asked: { code: 0 } });
      const { runId, requestedBy } = JSON.parse(asked.stdout) as { runId: string; requestedBy: string };
      expect(requestedBy).toBe('anna');
      const { stdout } = await system.cli(['verify', runId, '--json']);
      expect(JSON.parse(stdout)).toMatchObject({ runs: [{ proofs: { signed: 1, vouched: 0 } }] });
      expect(await orrery(['devices', 'hold', 'web-1'], { env })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('operator'),
      });
    });

    it('has a token that is told once, and is worth what she may do', async () => {
      const { stdout } = await system.cli(['tokens', 'issue', 'anna', '--label', 'laptop']);
      annasToken = stdout.trim();
      const me = await system.http('GET', '/v1/me', { token: annasToken });
      expect(await me.json()).toMatchObject({ actor: { kind: 'person', id: 'anna' }, roles: ['requester', 'viewer'] });
    });

    it('is out at once when she is revoked: the open connection, the key, its file, the token', async () => {
      const nc = await dial();
      const { RestartCount } = await system.container('nats');
      expect(await people('revoke', 'anna', '--reason', 'left')).toContain('anna is revoked');
      await nc.closed();
      await expect(dial()).rejects.toThrow();
      expect((await system.http('GET', '/v1/me', { token: annasToken })).status).toBe(401);
      expect(await system.compose(['cp', 'setup:/secrets/people/anna.seed', seedFile])).not.toMatchObject({ code: 0 });
      expect(await system.container('nats')).toMatchObject({ RestartCount });
    });
  });

  it('is well, says the doctor, also after all of this', async () => {
    const { stdout } = await system.compose(['run', '--rm', '-T', 'doctor', '--json']);
    const { findings } = JSON.parse(stdout) as { findings: { area: string; state: string; what: string }[] };
    expect(findings.filter(({ state }) => state === 'bad')).toEqual([]);
    const well = findings.filter(({ state }) => state === 'ok').map(({ area }) => area);
    expect(well).toEqual(expect.arrayContaining(['nats', 'streams', 'durables', 'devices', 'walls']));
  });

  it('changes nothing when it is done again', async () => {
    const before = await system.containers();
    const config = await system.secret('nats/nats.conf');
    await system.mustCompose(['up', '--detach', '--wait']);
    const after = await system.containers();
    for (const [name, { Id }] of before) expect({ name, Id: after.get(name)?.Id }).toEqual({ name, Id });
    expect(await system.secret('nats/nats.conf')).toBe(config);
    expect(await system.adminToken()).toBe(token);
  });

  it('has steps of setting up that can be repeated, and find nothing to do', async () => {
    const again = (step: string): Promise<string> => system.mustCompose(['run', '--rm', '-T', step]);
    expect(await again('setup')).toBe('keys: as they were\n');
    expect(await again('setup-nats')).toBe('nats.conf: as it was read\n');
    expect(await again('setup-streams')).toBe('streams: as they have to be\n');
    expect(await again('setup-devices')).toBe('device web-1: known\ndevice db-1: known\n');
  });

  it('has its runs, keys and devices again after "down" and "up"', async () => {
    const before = await system.runIds();
    expect(before.length).toBeGreaterThan(10);
    await system.mustCompose(['down']);
    await system.mustCompose(['up', '--detach', '--wait']);
    expect(await system.runIds()).toEqual(before);
    expect(await system.untilEnd(await submit(named('after-down')), token)).toMatchObject({ outcome: 'succeeded' });
    const verified = await system.cli(['verify', '--all']);
    expect(verified.code).toBe(0);
    expect(verified.stdout).toContain(`\n${before.length + 1} runs verified\n`);
  });
});
