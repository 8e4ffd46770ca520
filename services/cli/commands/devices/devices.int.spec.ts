import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { serveQueries } from '#libs/messaging';
import { ANYBODY, notAsked, startTestBus, type TestBus } from '#libs/testing';
import type { AgentProfile } from '#proto';
import type { Terminal } from '../../terminal/index.js';
import { runProgram } from '../../run-program.js';
import { FakeRegistry } from '../../testing/fake-registry.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';

const RUN_ID = '01jd0000000000000000000000';
const NOW = '2026-11-20T12:00:00.000Z';
const busy = { load1: 2.5, memoryFreeMb: 1, diskFreeMb: 1, gpus: [], at: NOW };

let bus: TestBus;
let registry: FakeRegistry;
/** What is offered by this installation. */
let offer: string;

beforeAll(async () => {
  offer = await mkdtemp(join(tmpdir(), 'orrery-offer-'));
  bus = await startTestBus();
  registry = await FakeRegistry.start(await bus.as('registry'));
});
afterEach(() => registry.forget());
afterAll(async () => {
  await registry.stop();
  await bus.stop();
  await rm(offer, { recursive: true, force: true });
});

async function orrery(
  words: readonly string[],
  seedFile = bus.seedFile('cli'),
  place: Partial<Terminal> = {},
  more: NodeJS.ProcessEnv = { ORRERY_DEVICE_OFFER: offer },
) {
  const terminal = fakeTerminal(place);
  const env = { ORRERY_NATS_URL: bus.server.url, ORRERY_NATS_SEED_FILE: seedFile, ...more };
  const exitCode = await runProgram(words, surroundings(terminal, env));
  return { exitCode, out: terminal.outLines, err: terminal.errLines };
}

describe('orrery devices', () => {
  it('take-over says who has a screen, and hand-back that agents have it again', async () => {
    const first = await orrery(['devices', 'take-over', 'web-1', '--reason', 'a dialog']);
    expect(first.out).toEqual(['web-1 is yours: what agents want of its screen waits']);
    const again = await orrery(['devices', 'take-over', 'web-1', '--json']);
    expect(JSON.parse(again.out.join('\n'))).toMatchObject({ changed: false, taken: { reason: 'a dialog' } });
    expect((await orrery(['devices', 'take-over', 'web-1'])).out).toEqual([
      expect.stringMatching(/^web-1 was taken over already by .*a dialog/u),
    ]);
    expect((await orrery(['devices', 'hand-back', 'web-1'])).out).toEqual([
      'web-1 is handed back: agents look again before they act',
    ]);
    expect((await orrery(['devices', 'hand-back', 'web-1'])).out).toEqual(['web-1 was not taken over']);
    expect(await orrery(['devices', 'take-over', 'web-9'])).toMatchObject({
      out: [],
      err: ['orrery: There is no device "web-9"; see: orrery devices'],
    });
  });

  it('hold says what has changed, and the list says by whom and why', async () => {
    expect(await orrery(['devices', 'hold', 'web-1', '--reason', 'new disks'])).toEqual({
      exitCode: 0,
      out: ['web-1 is held: nothing new starts there'],
      err: [],
    });
    expect((await orrery(['devices', 'hold', 'web-1', 'db-1'])).out).toEqual([
      'web-1 was held already',
      'db-1 is held: nothing new starts there',
    ]);
    const { out } = await orrery(['devices']);
    expect(out.map((line) => line.split('\t')[6])).toEqual(['by cli', 'by cli: new disks']);
    const listed = JSON.parse((await orrery(['devices', '--json'])).out.join('')) as { devices: AgentProfile[] };
    expect(listed.devices[1]).toMatchObject({ id: 'web-1', held: { by: { kind: 'person', id: 'cli' } } });
  });

  it('says how busy each one is, what makes its wall, and who is revoked', async () => {
    const wall = { kind: 'bwrap', views: ['host-processes'] };
    registry.profiles.set('db-1', { metrics: busy, resources: { cpuCount: 4, memoryMb: 1 }, wall });
    registry.profiles.set('web-1', { revoked: { by: { kind: 'person', id: 'anna' }, reason: 'lost', revokedAt: NOW } });
    const { out } = await orrery(['devices']);
    const cells = out.map((line) => line.split('\t'));
    expect(cells.map((row) => [row[0], row[1], row[5], row[8]])).toEqual([
      ['db-1', 'connected', 'bwrap', '2.50/4'],
      ['web-1', 'REVOKED', '-', '-'],
    ]);
  });

  it('says since when one is away, what it works on, and which client is another one than is offered', async () => {
    const file = { file: 'install.sh', sha256: 'a'.repeat(64), bytes: 1 };
    await writeFile(join(offer, 'offer.json'), JSON.stringify({ release: '0.1.0-new', script: file, archives: {} }));
    registry.profiles.set('db-1', { client: '0.1.0', metadata: { rack: 'r7' } });
    registry.profiles.set('web-1', { client: '0.1.0-old', status: 'lost', lastSeenAt: '2026-11-20T08:30:00.000Z' });
    const task = { deviceId: 'db-1', runId: RUN_ID, taskId: 't', name: 'Vacuum', startedAt: NOW };
    const logging = await serveQueries(
      await bus.as('logging'),
      'logging',
      { ...notAsked('logging'), 'at-work': async () => ({ tasks: [task, { ...task, taskId: 'u', name: 'Look' }] }) },
      { authority: ANYBODY },
    );
    const place = { isTerminal: true, columns: 80 };
    const { out, err } = await orrery(['devices'], undefined, place);
    const wide = await orrery(['devices', '-o', 'wide'], undefined, place);
    await logging.stop();
    expect(out).toEqual([
      'DEVICE  STATUS     SEEN     TASK       CLIENT      OS     HOST',
      'db-1    connected  now      Vacuum +1  0.1.0       linux  db-1.example.org',
      'web-1   lost       3 h ago  -          *0.1.0-old  linux  web-1.example.org',
    ]);
    expect(err).toEqual(['* another client than this system offers (0.1.0-new). There: orrery-device upgrade']);
    expect(wide.out[0]).toMatch(/CAPABILITIES.*METADATA/u);
    expect(wide.out[1]).toContain('rack=r7');
  });

  it('which client is another one is told by what the gateways offer, and not told where nobody knows', async () => {
    const file = { file: 'install.sh', sha256: 'a'.repeat(64), bytes: 1 };
    registry.profiles.set('db-1', { client: '0.1.0-old' });
    let offers: object | null = { release: '0.2.0-new', script: file, archives: {} };
    const gateway = createServer(({ url }, response) => {
      const text = offers !== null && url === '/device/offer.json' ? JSON.stringify(offers) : '';
      response.writeHead(text === '' ? 404 : 200, { 'Content-Length': text.length }).end(text);
    });
    gateway.listen(0, '127.0.0.1').unref();
    await once(gateway, 'listening');
    const ORRERY_AIP_URL = `ws://127.0.0.1:${(gateway.address() as AddressInfo).port}/ws`;
    const offered = async (more: NodeJS.ProcessEnv): Promise<unknown> => {
      const { out } = await orrery(['devices', '--json'], undefined, {}, more);
      const said = JSON.parse(out.join('')) as { offered: string | null; devices: { clientIsOffered?: boolean }[] };
      return [said.offered, said.devices[0]?.clientIsOffered];
    };
    expect(await offered({ ORRERY_AIP_URL })).toEqual(['0.2.0-new', false]);
    offers = { ...offers, release: '0.1.0-old' };
    expect(await offered({ ORRERY_AIP_URL })).toEqual(['0.1.0-old', true]);
    offers = null;
    expect(await offered({ ORRERY_AIP_URL })).toEqual([null, undefined]);
    gateway.close();
    gateway.closeAllConnections();
    expect(await offered({ ORRERY_AIP_URL })).toEqual([null, undefined]);
    expect(await offered({})).toEqual([null, undefined]);
  });

  it('release says who is still held with the whole fleet, and who is held alone', async () => {
    await orrery(['devices', 'hold', '--all', '--reason', 'fire']);
    await orrery(['devices', 'hold', 'web-1']);
    expect(await orrery(['devices', 'release', 'db-1'])).toEqual({
      exitCode: 0,
      out: ['db-1 was not held'],
      err: ['db-1 is still held with the whole fleet by cli: fire'],
    });
    expect(await orrery(['devices', 'release', '--all'])).toEqual({
      exitCode: 0,
      out: ['the whole fleet is released'],
      err: ['web-1 is still held alone by cli'],
    });
    expect(await orrery(['devices', 'release', 'web-1'])).toEqual({ exitCode: 0, out: ['web-1 is released'], err: [] });
  });

  it('workspaces lists those of runs as the device says', async () => {
    const served = await serveQueries(
      await bus.as('device-agent'),
      'device-agent',
      {
        ...notAsked('device-agent'),
        workspaces: async () => ({
          workspaces: [{ runId: RUN_ID, bytes: 4096, files: 2, usedAt: '2026-11-20T10:00:00.000Z', kept: true }],
          more: 1,
        }),
      },
      { authority: ANYBODY },
    );
    const listed = await orrery(['devices', 'workspaces', 'web-1']);
    const json = await orrery(['devices', 'workspaces', 'web-1', '--json']);
    await served.stop();
    expect(listed).toEqual({
      exitCode: 0,
      out: [`${RUN_ID}\t4096\t2\t2 h ago\tyes`],
      err: ['1 more are on the device.'],
    });
    expect(JSON.parse(json.out.join(''))).toMatchObject({ device: 'web-1', workspaces: [{ kept: true }], more: 1 });
  });

  it('hold and release print one JSON document', async () => {
    const json = async (...words: string[]): Promise<unknown> =>
      JSON.parse((await orrery(['devices', ...words, '--json'])).out.join('')) as unknown;
    expect(await json('hold', 'web-1', 'web-1')).toEqual({
      changes: [{ device: 'web-1', changed: true }],
      held: ['web-1'],
    });
    expect(await json('hold', '--all')).toEqual({
      changes: [{ device: null, changed: true }],
      held: ['db-1', 'web-1'],
    });
    expect(await json('release', '--all')).toEqual({ changes: [{ device: null, changed: true }], held: ['web-1'] });
  });

  it.each([
    [['hold'], 'orrery: Name the devices to hold, or say --all for the whole fleet.'],
    [['release', 'web-1', '--all'], 'orrery: Name the devices to release, or say --all for the whole fleet.'],
    [['hold', 'web-1', 'web-2', 'x\u001By'], 'orrery: There is no device "web-2", "x\\u001by"; see: orrery devices'],
  ])('%j holds nothing', async (words, sentence) => {
    expect(await orrery(['devices', ...words])).toEqual({ exitCode: 3, out: [], err: [sentence] });
    expect(registry.holds.size).toBe(0);
  });

  it('hold says what is wrong with the clocks', async () => {
    registry.aheadMs = 60 * 60 * 1_000;
    expect(await orrery(['devices', 'hold', 'web-1'])).toEqual({
      exitCode: 1,
      out: [],
      err: ['orrery: The proof of the sender is 3600 s old; it is good for 300 s.'],
    });
    expect(registry.holds.size).toBe(0);
  });

  it('hold needs a key to sign with', async () => {
    const { exitCode, err } = await orrery(['devices', 'hold', 'web-1'], '');
    expect([exitCode, err.join('\n')]).toEqual([3, expect.stringMatching(/signed with your key of the bus/u)]);
  });
});
