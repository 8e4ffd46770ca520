import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownPort } from '#libs/testing';
import { AIP_LIMITS, type CommandId } from '#proto';
import { makeHome, startDevice, type DeviceHome, type DeviceProcess } from './testing/device-process.js';
import {
  startScriptedServer,
  type Registered,
  type ScriptedConnection,
  type ScriptedServer,
} from './testing/scripted-server.js';
import { childOf, isAlive, memoryOf, pidIn, until } from './testing/until.js';

let home: DeviceHome;
let server: ScriptedServer;
let cleanups: (() => Promise<unknown>)[] = [];
let tests = 0;
beforeEach(() => {
  tests++;
  cleanups = [];
});
afterEach(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

const ended = async (device: DeviceProcess): Promise<void> => {
  if (device.child.exitCode === null && device.child.signalCode === null) await device.kill('SIGKILL');
};
/** For a test that ends its device, or has one of its own kind. */
const alone = async (): Promise<void> => {
  home = await makeHome();
  server = await startScriptedServer();
  const [itsHome, itsServer] = [home, server];
  cleanups.push(
    () => itsHome.remove(),
    () => itsServer.stop(),
  );
};
const start = (...more: string[]): DeviceProcess => {
  const device = startDevice(home, server.url, more);
  cleanups.push(() => ended(device));
  return device;
};

/** A device goes through a list of addresses without a pause: so many connections can be cut, one after the other, and it comes at once. */
const ADDRESSES = 60;

/** The device of all tests that let it live. */
let lasting: { readonly home: DeviceHome; readonly server: ScriptedServer; readonly device: DeviceProcess } | undefined;
afterAll(async () => {
  await lasting?.device.kill('SIGKILL');
  await lasting?.server.stop();
  await lasting?.home.remove();
});

/** It, on a new connection, when it holds nothing any more of the tests before, and its jail is empty. */
async function joined(revision = 2): Promise<Registered> {
  if (lasting === undefined) {
    [home, server] = [await makeHome(), await startScriptedServer()];
    const urls = Array.from({ length: ADDRESSES }, (_, n) => new URL(`/ws/${n}`, server.url).href);
    lasting = { home, server, device: startDevice(home, urls.join(',')) };
  }
  ({ home, server } = lasting);
  for (const name of await readdir(home.jailDir).catch(() => [])) await rm(join(home.jailDir, name));
  for (;;) {
    server.cut();
    const { connection, held } = await server.registered();
    if (held.running.length + held.finished.length === 0) break;
    for (const id of held.finished) connection.stored(id);
    connection.send({ type: 'device_info_request', status: 'ok', request_id: 'taken' });
    await connection.next('device_info_response');
  }
  server.cut();
  return server.registered(revision);
}
/** A command's id on a device that has had others of that name. */
const named = (id: string): CommandId => `${id}-${tests}`;

const withConfig = async (yaml: string): Promise<string[]> => {
  const path = join(home.dir, 'config.yaml');
  await writeFile(path, yaml);
  return ['--config', path];
};
/** Leaves a mark, waits for the word to go on, and says so. */
const UNTIL_GO = 'echo x >> effects; until [ -e go ]; do sleep 0.02; done; echo done';
const go = (): Promise<void> => writeFile(join(home.jailDir, 'go'), '');
const marked = (times = 1): Promise<true> =>
  until(async () => ((await home.lines('effects')).length >= times ? true : undefined));
/** A command's round trip: whatever was sent before it has arrived as well. */
const settled = async (connection: ScriptedConnection, id: string): Promise<void> => {
  connection.command(id, 'EXEC_CLI', { command: 'true' });
  await connection.outcome(id);
};

describe('a device that lost its connection in the middle of a command', () => {
  it('says that it runs, and delivers its result once when it ends', async () => {
    const { connection, held: nothing } = await joined();
    expect(nothing).toEqual({ running: [], finished: [], frames: 1 });
    connection.command(named('c1'), 'EXEC_CLI', { command: UNTIL_GO });
    await marked();
    connection.cut();
    const { connection: second, held } = await server.registered();
    expect(held).toMatchObject({ running: [named('c1')], finished: [] });
    await go();
    expect(await second.outcome(named('c1'))).toMatchObject({ state: 'COMPLETED', result: { stdout: 'done\n' } });
    await settled(second, named('c2'));
    expect(second.count('command_results')).toBe(0);
    expect(second.wrong).toEqual([]);
    expect(await home.lines('effects')).toHaveLength(1);
  });

  it('delivers what ended meanwhile, once, and only when the server is ready for it', async () => {
    const { connection } = await joined();
    connection.command(named('c1'), 'EXEC_CLI', { command: UNTIL_GO });
    connection.command(named('c2'), 'EXEC_CLI', { command: 'echo two' });
    expect(await connection.outcome(named('c2'))).toMatchObject({ state: 'COMPLETED' });
    connection.stored(named('c2'));
    await settled(connection, named('c3'));
    await marked();
    const { handshakes } = server;
    server.refuse(503);
    connection.cut();
    await go();
    await until(async () =>
      (await home.lines('effects')).length > 0 && server.handshakes > handshakes ? true : undefined,
    );
    server.refuse(101);
    // What was stored is nobody's business any more; what was not is announced and held back.
    const { connection: second, held } = await server.confirmed();
    expect(new Set([...held.running, ...held.finished])).toEqual(new Set([named('c1'), named('c3')]));
    second.send({ type: 'heartbeat', status: 'ok' });
    expect(second.count('command_results')).toBe(0);
    second.resumed();
    expect(await second.outcome(named('c1'))).toMatchObject({ state: 'COMPLETED', result: { stdout: 'done\n' } });
    expect(await second.outcome(named('c3'))).toMatchObject({ state: 'COMPLETED' });
    await settled(second, named('c4'));
    expect(second.count('command_results')).toBe(0);
    expect(await home.lines('effects')).toHaveLength(1);
  });

  it('and was killed then calls its outcome unknown, and runs it never again', async () => {
    await alone();
    const first = start();
    const { connection } = await server.registered();
    connection.command('c1', 'EXEC_CLI', { command: `echo $$ > pid; ${UNTIL_GO}` });
    const pid = await pidIn(join(home.jailDir, 'pid'));
    await first.kill('SIGKILL');
    await until(async () => ((await isAlive(pid)) ? undefined : true));
    start();
    const { connection: second, held } = await server.registered();
    expect(held).toMatchObject({ running: [], finished: ['c1'] });
    expect(await second.outcome('c1')).toMatchObject({ state: 'OUTCOME_UNKNOWN', error: { code: 'DEVICE_RESTARTED' } });
    second.command('c1', 'EXEC_CLI', { command: UNTIL_GO });
    expect(await second.outcome('c1')).toMatchObject({ state: 'OUTCOME_UNKNOWN' });
    expect(await home.lines('effects')).toHaveLength(1);
  });

  it('again and again, in every phase, runs it once all the same', async () => {
    const { connection } = await joined();
    connection.command(named('c1'), 'EXEC_CLI', { command: UNTIL_GO });
    await marked();
    connection.cut();
    const unconfirmed = await server.connection();
    await unconfirmed.next('register');
    unconfirmed.cut();
    const unresumed = await server.confirmed();
    expect(unresumed.held).toMatchObject({ running: [named('c1')] });
    unresumed.connection.cut();
    const { connection: asked } = await server.registered();
    asked.command(named('c1'), 'EXEC_CLI', { command: UNTIL_GO });
    expect(await asked.next('command_progress')).toMatchObject({
      orrery: { command_id: named('c1'), state: 'running' },
    });
    asked.cut();
    await go();
    const { connection: last, held } = await server.registered();
    expect([...held.running, ...held.finished]).toEqual([named('c1')]);
    expect(await last.outcome(named('c1'))).toMatchObject({ state: 'COMPLETED' });
    expect(await home.lines('effects')).toHaveLength(1);
  });

  it('puts no more results on the way than are acknowledged', async () => {
    const { connection } = await joined();
    const ids = Array.from({ length: 12 }, (_, n) => named(`c${n}`));
    const command = 'head -c 900000 /dev/zero | tr "\\0" x';
    for (const id of ids) connection.command(id, 'EXEC_CLI', { command });
    for (const id of ids) await connection.outcome(id);
    connection.cut();
    const { connection: second, held } = await server.confirmed();
    expect(new Set(held.finished)).toEqual(new Set(ids));
    second.acknowledging = false;
    second.resumed();
    await until(() => (second.received.resultBytes > 4 * 1024 * 1024 ? true : undefined));
    // Five of 0.9 MB are more than 4 MiB; the answer to a question shows that nothing is on the way behind them.
    second.sendWithoutAck({ type: 'device_info_request', status: 'ok', request_id: 'q1' });
    await second.next('device_info_response');
    expect(second.count('command_results')).toBe(5);
    second.acknowledging = true;
    for (const id of ids) await second.outcome(id);
  });
});

describe('onDisconnect: kill', () => {
  it('ends what is open when the connection is away for longer than the grace, in the journal first', async () => {
    await alone();
    const config = await withConfig('onDisconnect: kill\ndisconnectGraceMs: 100\ncommandsMax: 1\n');
    const first = start(...config);
    const { connection } = await server.registered();
    connection.command('c1', 'EXEC_CLI', { command: 'echo began; echo $$ > pid; sleep 600' });
    const pid = await pidIn(join(home.jailDir, 'pid'));
    connection.command('c2', 'EXEC_CLI', { command: 'echo x >> effects' });
    await connection.queued('c2');
    server.refuse(503);
    connection.cut();
    await until(async () => ((await isAlive(pid)) ? undefined : true));
    // The fact is on the disk: a client that is killed now tells the same.
    await until(() => (first.output().match(/result in the journal/g)?.length === 2 ? true : undefined));
    await first.kill('SIGKILL');
    server.refuse(101);
    start(...config);
    const { connection: second, held } = await server.registered();
    expect(new Set(held.finished)).toEqual(new Set(['c1', 'c2']));
    const ended = { state: 'CANCELLED', error: { code: 'DISCONNECTED', outcome: 'cancelled' } };
    expect(await second.outcome('c1')).toMatchObject({ ...ended, result: { stdout: 'began\n' } });
    expect(await second.outcome('c2')).toMatchObject({ ...ended, result: null });
    second.command('c2', 'EXEC_CLI', { command: 'echo x >> effects' });
    expect(await second.outcome('c2')).toMatchObject(ended);
    expect(await home.lines('effects')).toEqual([]);
  });

  it('lets everything go on when the connection is back in time', async () => {
    await alone();
    start(...(await withConfig('onDisconnect: kill\ndisconnectGraceMs: 60000\n')));
    const { connection } = await server.registered();
    connection.command('c1', 'EXEC_CLI', { command: UNTIL_GO });
    await marked();
    connection.cut();
    const { connection: second } = await server.registered();
    await go();
    expect(await second.outcome('c1')).toMatchObject({ state: 'COMPLETED' });
  });
});

describe('live output', () => {
  it('arrives in order while the command runs, each stream for itself', async () => {
    const { connection } = await joined();
    const step = (n: number): string => `echo "ä${n}"; echo "e${n}" >&2; until [ -e go${n} ]; do sleep 0.02; done`;
    connection.command(named('c1'), 'EXEC_CLI', { command: [1, 2, 3].map(step).join('; ') });
    const heard: { stream: string; offset: number; text: string }[] = [];
    for (const n of [1, 2, 3]) {
      for (let pieces = 0; pieces < 2; pieces++) {
        const { orrery } = await connection.next('command_output');
        expect(orrery.command_id).toBe(named('c1'));
        heard.push({ stream: orrery.stream, offset: orrery.offset, text: orrery.text });
      }
      expect(connection.count('command_results')).toBe(0);
      await writeFile(join(home.jailDir, `go${n}`), '');
    }
    const outcome = await connection.outcome(named('c1'));
    for (const stream of ['stdout', 'stderr']) {
      const pieces = heard.filter((piece) => piece.stream === stream);
      expect(outcome.result).toMatchObject({ [stream]: pieces.map(({ text }) => text).join('') });
      expect(pieces.map(({ offset }) => offset)).toEqual(stream === 'stdout' ? [0, 4, 8] : [0, 3, 6]);
    }
    expect(connection.wrong).toEqual([]);
  });

  it('is left out for who does not take it, whose results come whole, and 100 MB of it need no memory', async () => {
    await alone();
    const device = start();
    const { connection } = await server.registered();
    await settled(connection, 'c0');
    connection.acknowledging = false;
    const bytes = 100_000_000;
    const tools = await childOf(device.pid);
    const before = await Promise.all([device.pid, tools].map((pid) => memoryOf(pid, 'VmRSS')));
    connection.command('c1', 'EXEC_CLI', { command: `head -c ${bytes} /dev/zero | tr "\\0" x`, timeout: 60 });
    expect(await connection.outcome('c1')).toMatchObject({ state: 'COMPLETED', result: { stdout_bytes: bytes } });
    const most = await Promise.all([device.pid, tools].map((pid) => memoryOf(pid, 'VmHWM')));
    for (const [index, peak] of most.entries()) expect(peak - (before[index] ?? 0)).toBeLessThan(64 * 1024 ** 2);
    const texts = connection.waiting().flatMap((frame) => (frame.type === 'command_output' ? [frame.orrery.text] : []));
    expect(texts.join('').length).toBeLessThanOrEqual(AIP_LIMITS.outputUnackedBytesMax);
    expect(Math.max(0, ...texts.map((text) => text.length))).toBeLessThanOrEqual(AIP_LIMITS.outputChunkCharsMax);
  });

  it('is not sent to a server that does not know it', async () => {
    const { connection } = await joined(1);
    connection.command(named('c1'), 'EXEC_CLI', { command: 'echo one; sleep 0.3; echo two' });
    expect(await connection.outcome(named('c1'))).toMatchObject({ result: { stdout: 'one\ntwo\n' } });
    expect(connection.count('command_output')).toBe(0);
    expect(connection.wrong).toEqual([]);
  });
});

describe('a device', () => {
  it('says how its machine is doing, with the first heartbeat and when it is asked', async () => {
    const { connection } = await joined();
    const { orrery } = await connection.next('heartbeat');
    expect(orrery?.metrics).toEqual({
      load1: expect.any(Number),
      memoryFreeMb: expect.any(Number),
      diskFreeMb: expect.any(Number),
      gpus: expect.any(Array),
    });
    expect(orrery?.metrics.memoryFreeMb).toBeGreaterThan(0);
    expect(orrery?.metrics.diskFreeMb).toBeGreaterThan(0);
    connection.send({ type: 'device_info_request', status: 'ok', request_id: 'q1' });
    const info = await connection.next('device_info_response');
    expect(info).toMatchObject({ request_id: 'q1', result: { platform: 'linux', schema_version: '1.0' } });
    expect(info.orrery?.telemetry.tools.map(({ name }) => name)).toContain('EXEC_CLI');
  });

  it('works with a server of revision 1 as ever: no numbers, no RESUME, no metrics', async () => {
    const { connection } = await joined(1);
    connection.command(named('c1'), 'EXEC_CLI', { command: 'echo x >> effects' });
    await connection.outcome(named('c1'));
    connection.cut();
    const { connection: second } = await server.registered(1);
    expect(await second.outcome(named('c1'))).toMatchObject({ state: 'COMPLETED' });
    expect([second.count('resume'), second.count('heartbeat'), second.wrong]).toEqual([0, 0, []]);
  });

  it('goes to the second server when the first one is dead', async () => {
    await alone();
    // At a port that nobody else is given meanwhile.
    const device = startDevice(home, `ws://127.0.0.1:${await ownPort()}/ws,${server.url}`);
    cleanups.push(() => ended(device));
    const { connection } = await server.registered();
    connection.command('c1', 'EXEC_CLI', { command: 'echo here' });
    expect(await connection.outcome('c1')).toMatchObject({ result: { stdout: 'here\n' } });
  });

  it('leaves a server whose frames do not fit together, and comes back', async () => {
    const { connection } = await joined();
    connection.raw('{"type":"heartbeat","status":"ok","seq":7}');
    await until(() => (connection.closed ? true : undefined));
    expect(connection.closeCode).toBe(1002);
    await settled((await server.registered()).connection, named('c1'));
  });
});
