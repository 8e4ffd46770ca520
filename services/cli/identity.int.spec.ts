import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openFleetLog, sealCommit } from '#libs/event-log';
import { startTestBus, type TestBus } from '#libs/testing';
import { GENESIS_HASH, type AgentProfile, type DeviceOffer, type FleetEvent } from '#proto';
import { runProgram } from './run-program.js';
import { FakeRegistry, JOIN_TOKEN, STATIC_TOKEN } from './testing/fake-registry.js';
import { fakeTerminal, surroundings } from './testing/fake-terminal.js';

const NOW = '2026-11-20T12:00:00.000Z';
const SAID = '2026-11-20 12:00:00Z';
const AIP = 'ws://127.0.0.1:5000/ws';

let bus: TestBus;
let registry: FakeRegistry;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-cli-'));
  bus = await startTestBus();
  registry = await FakeRegistry.start(await bus.as('registry'));
  const endpoints = { nats: bus.server.url, postgres: 'x', console: 'x', aip: AIP, health: {} };
  await writeFile(join(directory, 'endpoints.json'), JSON.stringify(endpoints));
});
afterEach(() => registry.forget());
afterAll(async () => {
  await registry.stop();
  await bus.stop();
  await rm(directory, { recursive: true, force: true });
});

/** What is said where nobody has said how devices reach the system. */
const NO_ADDRESS = [
  'That is for a machine that has the client. For lines that bring it along, say under which address devices',
  'reach this system: --url wss://orrery.example.org/ws, or ORRERY_AIP_URL for all that are enrolled from now on.',
];

async function orrery(words: readonly string[], home = directory, more: NodeJS.ProcessEnv = {}) {
  const terminal = fakeTerminal();
  const env = {
    ...more,
    ORRERY_HOME: home,
    ORRERY_NATS_URL: bus.server.url,
    ORRERY_NATS_SEED_FILE: bus.seedFile('cli'),
  };
  const exitCode = await runProgram(words, surroundings(terminal, env));
  return { exitCode, out: terminal.outLines, err: terminal.errLines };
}
const json = async (...words: string[]): Promise<unknown> =>
  JSON.parse((await orrery([...words, '--json'])).out.join('')) as unknown;

describe('orrery devices enroll', () => {
  it('prints one command to run on the device, and until when', async () => {
    expect(await orrery(['devices', 'enroll', '--id', 'web-9', '--tags', 'web,eu'])).toEqual({
      exitCode: 0,
      out: [`printf %s '${JOIN_TOKEN}' | orrery-device join --url ${AIP}`],
      err: ['Device web-9 is enrolled. Run this there within 15 minutes; its token works once:', ...NO_ADDRESS],
    });
    const admin = { tags: ['web', 'eu'], capabilities: [] };
    expect(registry.asked).toEqual([{ deviceId: 'web-9', admin, credential: 'join' }]);
  });

  it('leaves what was granted as it is when nothing is said of it', async () => {
    await orrery(['devices', 'enroll', '--id', 'web-9']);
    expect(registry.asked).toEqual([{ deviceId: 'web-9', credential: 'join' }]);
  });

  it.each<[string, Partial<AgentProfile>]>([
    ['that has a key', { credential: 'key' }],
    ['that was revoked', { revoked: { by: { kind: 'person', id: 'anna' }, reason: '', revokedAt: NOW } }],
  ])('prints a command that works for a device %s, too', async (_, known) => {
    registry.profiles.set('web-1', known);
    expect(await orrery(['devices', 'enroll', '--id', 'web-1'])).toEqual({
      exitCode: 0,
      out: [`printf %s '${JOIN_TOKEN}' | orrery-device join --url ${AIP} --token-file /dev/stdin`],
      err: [
        'Device web-1 may join with a new key. Run this there within 15 minutes; its token works once:',
        ...NO_ADDRESS,
      ],
    });
  });

  it('writes the token into a file of its own instead', async () => {
    const file = join(directory, 'web 9.token');
    expect(await orrery(['devices', 'enroll', '--token-file', file, '--url', 'wss://orrery.example.org/ws'])).toEqual({
      exitCode: 0,
      out: [`orrery-device join --url wss://orrery.example.org/ws --token-file '${file}'`],
      err: [
        `Device device-1 is enrolled, its token is in ${file}. Take the file there, and run this within 15 minutes; its token works once:`,
      ],
    });
    expect(await readFile(file, 'utf8')).toBe(`${JOIN_TOKEN}\n`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const again = await orrery(['devices', 'enroll', '--token-file', file]);
    expect([again.exitCode, again.err]).toEqual([
      1,
      [`orrery: The device is enrolled, but its token cannot be written to ${file}; enrol it again.`],
    ]);
  });

  it('prints one JSON document', async () => {
    expect(await json('devices', 'enroll', '--id', 'web-9')).toEqual({
      deviceId: 'web-9',
      token: JOIN_TOKEN,
      expiresAt: '2026-11-20T12:15:00.000Z',
      url: AIP,
      command: `printf %s '${JOIN_TOKEN}' | orrery-device join --url ${AIP}`,
    });
    expect(await json('devices', 'enroll', '--foreign')).toEqual({
      deviceId: 'device-1',
      token: STATIC_TOKEN,
      url: `${AIP}?token=<token>`,
    });
  });

  it('makes a static token for a foreign client, and says what that means', async () => {
    const { exitCode, out, err } = await orrery(['devices', 'enroll', '--id', 'ufo-1', '--foreign']);
    expect([exitCode, out]).toEqual([0, [STATIC_TOKEN]]);
    expect(registry.asked).toEqual([{ deviceId: 'ufo-1', credential: 'token' }]);
    expect(err[0]).toBe('Device ufo-1 is enrolled; the static token above is not shown again. The client connects to');
    expect(err[1]).toBe(`  ${AIP}?token=<token>`);
    expect(err.slice(2).join(' ')).toMatch(/never expires.*logs.*revoked.*leave out --foreign/u);
    expect(err.join(' ')).not.toContain(STATIC_TOKEN);
  });

  it('says where the address has to be put when no system runs here', async () => {
    const { out } = await orrery(['devices', 'enroll'], join(directory, 'none'));
    expect(out).toEqual([`printf %s '${JOIN_TOKEN}' | orrery-device join --url ws://<gateway>:5000/ws`]);
  });

  describe('with an address under which devices reach the system', () => {
    const offered = async () => {
      const { offer } = (await json('devices', 'archive')) as { offer: DeviceOffer };
      return offer;
    };
    const enrol = async (...words: string[]) => {
      const { exitCode, out, err } = await orrery(['devices', 'enroll', '--id', 'web-9', ...words], directory, {
        ORRERY_AIP_URL: 'ws://127.0.0.1:9/ws',
      });
      return { exitCode, block: out.join('\n'), err };
    };

    it('prints lines that any shell takes, with the token where neither a process list nor an address shows it', async () => {
      const { exitCode, block, err } = await enrol('--dir', '/srv/orrery');
      expect(exitCode).toBe(0);
      const [before = '', after] = block.split(JOIN_TOKEN);
      expect(before).toMatch(
        /^ \(set -eu;.*\nsh "\$d\/script" ws:\/\/127\.0\.0\.1:9\/ws --dir \/srv\/orrery <<'TOKEN'\n$/su,
      );
      expect(after).toBe('\nTOKEN\n)');
      const { script } = await offered();
      expect(before).toContain(`u=http://127.0.0.1:9/device/${script.file}\n`);
      expect(before).toContain(`echo "${script.sha256}  $d/script" | sha256sum -c -`);
      for (const shell of ['sh', 'bash']) expect(spawnSync(shell, ['-n'], { input: block }).status).toBe(0);
      expect(err.join(' ')).toMatch(/^Device web-9 is enrolled\. .*within 15 minutes.*ORRERY_BIND=0\.0\.0\.0/su);
    });

    it('brings the authority of the gateway along', async () => {
      const file = join(directory, 'ca.pem');
      await writeFile(file, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
      const { block } = await enrol('--ca-file', file, '--url', 'wss://h/ws');
      expect(block).toContain("<<'PEM'\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\nPEM\n");
      expect(block).toContain('curl -fsS --cacert "$d/ca.pem"');
      expect(block).toContain('sh "$d/script" wss://h/ws --ca-file "$d/ca.pem" <<');
      await writeFile(file, '-----BEGIN CERTIFICATE-----\nPEM\nrm -rf /\n-----END CERTIFICATE-----\n');
      expect((await enrol('--ca-file', file)).exitCode).toBe(3);
    });

    it.each(['relative', '/srv/$(reboot)', '/a b'])(
      'takes no directory that a shell could take for more: %s',
      async (dir) => {
        expect(await enrol('--dir', dir)).toMatchObject({ exitCode: 3, block: '' });
      },
    );

    it('prints one JSON document with the same lines', async () => {
      const { block } = await enrol('--json');
      expect(JSON.parse(block)).toMatchObject({
        token: JOIN_TOKEN,
        url: 'ws://127.0.0.1:9/ws',
        block: expect.stringContaining("<<'TOKEN'"),
        release: expect.stringMatching(/^0\.1\.0-[0-9a-f]{12}$/u),
      });
    });
  });

  it.each([
    [['--id', 'a b'], 'orrery: --id: a device id must be 1 to 64 characters out of A-Z, a-z, 0-9, "_" and "-"'],
    [['--url', 'http://x/ws'], 'orrery: --url must be a ws:// or wss:// address such as wss://orrery.example.org/ws'],
    [
      ['--url', 'ws://x/ws?token=abc'],
      'orrery: --url must be an address only: no user, no password, nothing behind "?"',
    ],
    [['--tags', 'x'.repeat(65)], expect.stringMatching(/^orrery: --tags\[0\]: /u)],
  ])('%j enrols nobody', async (words, sentence) => {
    expect(await orrery(['devices', 'enroll', ...words])).toEqual({ exitCode: 3, out: [], err: [sentence] });
    expect(registry.asked).toEqual([]);
  });
});

describe('orrery devices revoke', () => {
  it('says what has changed, and who did it is signed', async () => {
    expect(await orrery(['devices', 'revoke', 'web-1', '--reason', 'stolen'])).toEqual({
      exitCode: 0,
      out: ['web-1 is revoked: its credentials count no more'],
      err: [],
    });
    expect([...registry.revoked]).toEqual([['web-1', 'cli: stolen']]);
    expect(await json('devices', 'revoke', 'web-1', 'db-1')).toEqual({
      changes: [
        { id: 'web-1', changed: false },
        { id: 'db-1', changed: true },
      ],
    });
  });

  it('revokes nobody when one of them is not there', async () => {
    expect(await orrery(['devices', 'revoke', 'web-1', 'x\u001By'])).toEqual({
      exitCode: 3,
      out: [],
      err: ['orrery: There is no device "x\\u001by"; see: orrery devices'],
    });
    expect(registry.revoked.size).toBe(0);
  });
});

describe('orrery clients', () => {
  const listed = (clientId: string) => ({ clientId, role: 'constellation' as const, enrolledAt: NOW });

  it('lists them with what they may use', async () => {
    expect((await orrery(['clients'])).err[0]).toMatch(/^No client of another system is enrolled yet/u);
    const revoked = { by: { kind: 'person' as const, id: 'anna' }, reason: 'left\u001B[2J', revokedAt: NOW };
    registry.clients.push(
      { ...listed('planner-1'), targets: ['web-1', 'db-1'], revoked: null },
      { ...listed('planner-2'), targets: null, revoked },
    );
    expect((await orrery(['clients'])).out).toEqual([
      `planner-1\tweb-1 db-1\t${SAID}\t-`,
      `planner-2\tevery device\t${SAID}\tby anna: left`,
    ]);
    expect(await json('clients')).toMatchObject({ clients: [{ id: 'planner-1' }, { id: 'planner-2', revoked }] });
  });

  it('enrolls one for some devices, and says what its token means', async () => {
    const { exitCode, out, err } = await orrery(['clients', 'enroll', '--id', 'planner-1', '--devices', 'web-1,db-1']);
    expect([exitCode, out]).toEqual([0, [STATIC_TOKEN]]);
    expect(registry.asked).toEqual([{ clientId: 'planner-1', targets: ['web-1', 'db-1'] }]);
    expect(err.slice(0, 2)).toEqual([
      'Client planner-1 is enrolled; the static token above is not shown again. The client connects to',
      `  ${AIP}?token=<token>`,
    ]);
  });

  it('enrolls one for every device', async () => {
    const file = join(directory, 'client.token');
    expect(await json('clients', 'enroll', '--token-file', file)).toEqual({
      clientId: 'client-1',
      tokenFile: file,
      url: `${AIP}?token=<token>`,
    });
    expect(await readFile(file, 'utf8')).toBe(`${STATIC_TOKEN}\n`);
    expect(registry.asked).toEqual([{ targets: null }]);
  });

  it('enrolls nobody for a device that is not there', async () => {
    expect((await orrery(['clients', 'enroll', '--devices', 'web-1,web-2'])).err).toEqual([
      'orrery: --devices: there is no device "web-2"; see: orrery devices',
    ]);
    expect(registry.asked).toEqual([]);
  });

  it('revokes them, and no device by its name', async () => {
    registry.clients.push({ ...listed('planner-1'), targets: null, revoked: null });
    expect((await orrery(['clients', 'revoke', 'planner-1'])).out).toEqual([
      'planner-1 is revoked: its credentials count no more',
    ]);
    expect((await orrery(['clients', 'revoke', 'web-1'])).err).toEqual([
      'orrery: There is no client "web-1"; see: orrery clients',
    ]);
    expect([...registry.revoked.keys()]).toEqual(['planner-1']);
  });
});

describe('orrery devices show', () => {
  const telemetry = {
    platform: 'linux',
    osVersion: 'Debian 12\u001B[31m',
    hostname: 'db-1.example.org',
    arch: 'x64',
    cpuCount: 4,
    memoryMb: 8_192,
    capabilities: ['cli', 'gpu'],
    tools: [{ name: 'EXEC_CLI', description: 'runs a \u001B]0;x\u0007command', readOnly: false }],
    metadata: { uptime: 3 },
  };
  const session = { sessionId: 's1', gateway: 'aip-gateway', journalId: 'j1', connectedAt: NOW };
  const facts: FleetEvent[] = [
    {
      type: 'DEVICE_ENROLLED',
      data: {
        admin: { tags: ['db'], capabilities: [], tasksMax: 2 },
        manifest: { agent: 'LinuxAgent', capabilities: ['shell'] },
        credentialHash: GENESIS_HASH,
        enrolledAt: NOW,
      },
    },
    { type: 'DEVICE_CONNECTED', data: { session, telemetry } },
  ];

  beforeAll(async () => {
    const log = openFleetLog(await bus.as('registry'));
    const events = facts.map((fact, index) => ({
      id: `event.${index}`,
      sequence: index + 1,
      schemaVersion: 1,
      ...fact,
    }));
    const by = { service: 'registry', instance: 'a' };
    const draft = {
      commit: '01JD0000000000000000000000',
      number: 1,
      at: NOW,
      by,
      causes: [],
      deviceId: 'db-1',
      events,
    };
    await log.append('db-1', sealCommit(draft, GENESIS_HASH), 0);
  });
  const metrics = {
    load1: 2.5,
    memoryFreeMb: 1_000,
    diskFreeMb: 10_000,
    gpus: [{ name: 'A100', memoryMb: 40_000, memoryFreeMb: 20_000, utilisation: 0.5 }],
    at: '2026-11-20T11:59:48.000Z',
  };
  const known = () =>
    registry.profiles.set('db-1', {
      credential: 'key',
      metrics,
      session,
      tags: ['db'],
      tasksMax: 2,
      resources: { cpuCount: 4, memoryMb: 8_192 },
      tools: [{ name: 'EXEC_CLI', description: '', readOnly: false }],
    });

  it('says what is known, and which source said it', async () => {
    known();
    expect((await orrery(['devices', 'show', 'db-1'])).out).toEqual([
      'db-1  connected',
      '  credential     a key of its own',
      `  session        aip-gateway, connected ${SAID}, journal j1`,
      '  client         unknown: it does not say',
      '  agent          LinuxAgent, up to 2 tasks at once',
      '  machine        linux x64 db-1.example.org',
      '  resources      4 processors, 8192 MB',
      '  capabilities   cli',
      '  tags           db',
      '  wall           unknown: its client does not say',
      '  metrics        load 2.50 on 4 processors, 1000 MB memory free, 10000 MB disk free; 12 s ago',
      '                 A100: 20000 of 40000 MB free, 50 % used',
      '  profile',
      '    agent                LinuxAgent  [service, 2026-11-20 12:00:00Z]',
      '    arch                 x64  [device, 2026-11-20 12:00:00Z]',
      '    cpu.count            4  [device, 2026-11-20 12:00:00Z]',
      '    disk.free_gb         9  [device, 2026-11-20 11:59:48Z]',
      '    gpu.count            1  [device, 2026-11-20 11:59:48Z]',
      '    gpu.memory_gb        39  [device, 2026-11-20 11:59:48Z]',
      '    gpu.memory_total_gb  39  [device, 2026-11-20 11:59:48Z]',
      '    gpu.name             A100  [device, 2026-11-20 11:59:48Z]',
      '    hostname             db-1.example.org  [device, 2026-11-20 12:00:00Z]',
      '    memory.gb            8  [device, 2026-11-20 12:00:00Z]',
      '    os                   linux  [device, 2026-11-20 12:00:00Z]',
      'from the administrator, who wins',
      '                 tags: db; tasks: up to 2',
      'from the manifest of its kind',
      '                 agent: LinuxAgent; capabilities: shell',
      'from the device itself',
      '                 system: linux Debian 12; host: db-1.example.org; machine: x64 4 processors 8192 MB; capabilities: cli gpu; more: uptime',
      '1 tool',
      '  EXEC_CLI  runs a command',
    ]);
  });

  it('says that it is revoked, held, has not joined, and says nothing', async () => {
    registry.holds.set('db-1', { by: { kind: 'person', id: 'bert' }, reason: 'disks', heldAt: NOW });
    registry.profiles.set('db-1', {
      credential: null,
      status: 'offline',
      revoked: { by: { kind: 'person', id: 'anna' }, reason: 'lost\u001B[2J', revokedAt: NOW },
    });
    const { out } = await orrery(['devices', 'show', 'db-1']);
    expect(out.slice(0, 5)).toEqual([
      'db-1  REVOKED',
      `  revoked        by anna: lost, ${SAID}`,
      `  held           by bert: disks, ${SAID}`,
      '  credential     none: revoked',
      `  session        none since it was enrolled, ${SAID}`,
    ]);
    expect(out).toContain('  metrics        none');
    expect(out.at(-1)).toBe('no tools');
  });

  it('prints one JSON document', async () => {
    known();
    expect(await json('devices', 'show', 'db-1')).toMatchObject({
      device: { id: 'db-1', credential: 'key', metrics },
      sources: {
        admin: { tags: ['db'] },
        manifest: { capabilities: ['shell'] },
        telemetry: { hostname: 'db-1.example.org' },
      },
    });
  });

  it('of a device that is not there is refused', async () => {
    expect(await orrery(['devices', 'show', 'x\u001By'])).toEqual({
      exitCode: 3,
      out: [],
      err: ['orrery: There is no device "x\\u001by"; see: orrery devices'],
    });
  });
});
