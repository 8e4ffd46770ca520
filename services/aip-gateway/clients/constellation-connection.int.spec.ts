import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { pino } from 'pino';
import { WebSocketServer } from 'ws';
import { ConstellationEndpoint, wsTransport } from '#libs/aip';
import { runIdOf } from '#libs/event-log';
import { Metrics, systemClock } from '#libs/platform';
import { connectDevice, introduce, startTestBus, type TestBus } from '#libs/testing';
import { BUCKETS, type Identity, type RunId } from '#proto';
import { ClientRuns } from './client-runs.client.js';
import { ConstellationConnection, type ClientServices } from './constellation-connection.gateway.js';
import { DeviceDirectory } from './device-directory.client.js';
import { gatewayMetrics } from '../connection/gateway-metrics.adapter.js';
import { OrchestratorStandIn, type StandInOptions } from '../testing/orchestrator-stand-in.js';

const TICK_MS = 20;
const GALAXY: Identity = { id: 'galaxy', role: 'constellation', targets: null, expiresAt: null };
const command = { tool: 'EXEC_CLI', arguments: { command: 'uname' } };

let bus: TestBus;
let services: ClientServices;
/** Of a gateway that does not wait long for somebody to take a task. */
let hasty: ClientServices;
const closing: (() => Promise<unknown>)[] = [];

/** The time, or the instant at which a test has stopped it. */
let stopped: number | undefined;
const CLOCK = { now: () => stopped ?? Date.now() };

beforeAll(async () => {
  bus = await startTestBus();
  const nc = await bus.as('admin');
  const seed = await introduce(nc, { kind: 'system', id: 'aip-gateway' });
  const logger = pino({ level: 'silent' });
  services = {
    runs: new ClientRuns({ nc, seed, clock: CLOCK, logger, submitMs: 60_000 }),
    directory: await DeviceDirectory.open(nc),
  };
  hasty = { ...services, runs: new ClientRuns({ nc, seed, clock: CLOCK, logger, submitMs: 1_500 }) };
  await connectDevice(nc, 'd1');
  // A gateway renews it every few seconds. Nobody does so here: it stays.
  const { bucket } = BUCKETS.PRESENCE;
  await (await jetstreamManager(nc)).streams.update(`KV_${bucket}`, { max_age: 0 });
  const session = { sessionId: 's', gateway: 'g', journalId: null, connectedAt: '2026-01-01T00:00:00.000Z' };
  const telemetry = { platform: 'linux', osVersion: '#1 SMP' };
  const presence = await new Kvm(nc).open(bucket);
  await presence.put('d1', JSON.stringify({ ...session, deviceId: 'd1', telemetry }));
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(() => bus.stop());

/** A socket server whose every connection is one of a constellation client; `connections` are those that are open. */
async function listen(
  identity = GALAXY,
  clients = services,
): Promise<{ url: string; connections: ConstellationConnection[]; http: Server }> {
  const connections: ConstellationConnection[] = [];
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  sockets.on('connection', (socket) => {
    const transport = wsTransport(socket, { clock: systemClock });
    const metrics = gatewayMetrics(new Metrics('aip-gateway'));
    const around = { clock: systemClock, logger: pino({ level: 'silent' }), metrics, clients };
    const connection = new ConstellationConnection(identity, transport, around, {
      ended: (ended) => void connections.splice(connections.indexOf(ended), 1),
    });
    connections.push(connection);
  });
  const ticking = setInterval(() => connections.forEach((one) => one.tick(systemClock.now())), TICK_MS);
  const { promise, resolve } = Promise.withResolvers<void>();
  http.listen(0, '127.0.0.1', resolve);
  await promise;
  closing.push(async () => {
    clearInterval(ticking);
    for (const socket of sockets.clients) socket.terminate();
    http.close();
  });
  return { url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}`, connections, http };
}

async function orchestrator(options: StandInOptions = {}): Promise<OrchestratorStandIn> {
  const standIn = await new OrchestratorStandIn(await bus.as('admin'), options).ready();
  closing.push(() => standIn.stop());
  return standIn;
}

async function connect(url: string, targetId = 'd1'): Promise<ConstellationEndpoint> {
  const endpoint = await ConstellationEndpoint.connect({
    url,
    targetId,
    clientId: `r@${targetId}`,
    credential: async () => 'token',
    clock: systemClock,
  });
  closing.push(() => endpoint.close());
  return endpoint;
}
const call = (sessionId: string, more: object = {}) => ({ sessionId, name: 'r/t', request: 'look', ...more });

/** A test that hits it hangs, it is not slow. */
const DEADLINE_MS = 100_000;

/** Asks until it is so. */
async function until<T>(read: () => T | undefined): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const value = read();
    if (value !== undefined) return value;
    if (performance.now() > deadline) throw new Error('it did not come');
    await sleep(5);
  }
}

describe('a task of a constellation client', () => {
  it('becomes a run of one task on its device, and ends with the result of the run', async () => {
    const { runs } = await orchestrator({ work: async () => ({ result: { stdout: 'Linux\n', exit_code: 0 } }) });
    const endpoint = await connect((await listen()).url);
    expect(await endpoint.task(call('s1', { command }))).toEqual({
      status: 'completed',
      result: [{ request: 'look', result: { stdout: 'Linux\n', exit_code: 0 } }],
      error: null,
    });
    expect(runs).toMatchObject([
      {
        task: { name: 'r_t', description: 'look', target: { device: 'd1' }, command },
        request: { options: { deadlineMs: 985_000 }, metadata: { aip: { client: 'galaxy', label: 'r@d1' } } },
      },
    ]);
  });

  it('fails with the reason of the run', async () => {
    await orchestrator({ work: async () => ({ error: 'exit code 3' }) });
    const endpoint = await connect((await listen()).url);
    expect(await endpoint.task(call('s1'))).toEqual({ status: 'failed', result: [], error: 'exit code 3' });
  });

  it('is refused with the words of the orchestrator, in the terms of the client', async () => {
    await orchestrator({
      answer: ({ requestId }) => ({
        requestId,
        error: {
          code: 'INVALID_REQUEST',
          message: 'no',
          issues: [{ path: 'constellation.tasks[0].command.tool', message: 'unknown tool' }],
        },
      }),
    });
    const endpoint = await connect((await listen()).url);
    expect(await endpoint.task(call('s1'))).toMatchObject({
      status: 'failed',
      error: 'metadata.orrery.command.tool: unknown tool',
    });
  });

  it('fails in time when there is no orchestrator', async () => {
    const endpoint = await connect((await listen(GALAXY, hasty)).url);
    expect(await endpoint.task(call('s1'))).toMatchObject({
      status: 'failed',
      // An answer that says that nobody is there may be late on a busy machine, too.
      error: expect.stringMatching(/^TRY_AGAIN: nobody (?:takes|has said)/u),
    });
  });

  it('that may have been taken although nobody said so is cancelled when it is given up', async () => {
    const standIn = await orchestrator({ answer: () => null });
    const endpoint = await connect((await listen(GALAXY, hasty)).url);
    expect(await endpoint.task(call('s1'))).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^TRY_AGAIN: nobody has said/u),
    });
    await until(() => standIn.cancels[0]);
  });

  it('is not taken while its client gives more than its share, over whatever connection', async () => {
    const standIn = await orchestrator();
    stopped = Date.now(); // or its share would grow again while it asks
    for (let count = 0; count < 2_000 && services.runs.mayGive('greedy'); count++);
    const endpoint = await connect((await listen({ ...GALAXY, id: 'greedy' })).url);
    expect(await endpoint.task(call('s1'))).toMatchObject({ error: expect.stringContaining('more tasks than') });
    expect(standIn.runs).toEqual([]);
    expect(services.runs.mayGive('galaxy')).toBe(true);
    stopped = undefined;
  });

  it('for a device that is not connected is no run', async () => {
    const { runs } = await orchestrator();
    const endpoint = await connect((await listen()).url);
    for (const targetId of ['d2', 'no such id!']) {
      expect(await endpoint.task(call(targetId, { targetId }))).toMatchObject({
        status: 'failed',
        error: `Target device '${targetId}' is not connected, or this client may not use it`,
      });
    }
    expect(runs).toEqual([]);
  });
});

// Cancels for the run of another test may still come: they are repeated until it is certain that there is none.
describe('a client that goes', () => {
  it('takes its runs with it, and nobody else its', async () => {
    const standIn = await orchestrator();
    const { url } = await listen();
    const [one, other] = [await connect(url), await connect(url)];
    void one.task(call('s1'));
    await until(() => standIn.runs[0]);
    const kept = other.task(call('s1'));
    const [first, second] = await until(() => (standIn.runs.length === 2 ? standIn.runs : undefined));
    await one.close();
    const cancel = await until(() => standIn.cancels.find(({ runId }) => runId === first?.runId));
    expect(cancel).toMatchObject({ reason: 'its client left' });
    expect(first?.signal.aborted).toBe(true);
    await standIn.finish(second?.runId ?? '', { result: 'mine' });
    expect(await kept).toMatchObject({ status: 'completed' });
    // A CANCEL whose answer is late comes again.
    const theirs = standIn.cancels.filter(({ runId }) => [first?.runId, second?.runId].includes(runId));
    expect(new Set(theirs.map(({ runId }) => runId))).toEqual(new Set([first?.runId]));
  });

  it('with more tasks than are cancelled at once leaves none of their runs', async () => {
    const TASKS = 70;
    const standIn = await orchestrator();
    const endpoint = await connect((await listen()).url);
    for (let count = 0; count < TASKS; count++) void endpoint.task(call(`s${count}`));
    await until(() => (standIn.runs.length === TASKS ? true : undefined));
    await endpoint.close();
    await until(() => (standIn.runs.every(({ signal }) => signal.aborted) ? true : undefined));
  });

  it('while its task is being submitted leaves no run behind', async () => {
    const answered = Promise.withResolvers<void>();
    let silent = true;
    const standIn = await orchestrator({
      answer: () => {
        answered.resolve();
        return silent ? null : undefined;
      },
    });
    const endpoint = await connect((await listen()).url);
    void endpoint.task(call('s1'));
    await answered.promise;
    await endpoint.close();
    silent = false;
    await until(() => standIn.cancels[0]);
  });

  it('with a task that is refused just then cancels nothing: there is no run to look for', async () => {
    const { url, connections } = await listen();
    const refused: RunId[] = [];
    const standIn = await orchestrator({
      answer: ({ requestId }) => {
        refused.push(runIdOf('default', requestId));
        connections[0]?.shutDown();
        return { error: { code: 'INVALID_REQUEST', message: 'no', issues: [] } };
      },
    });
    const endpoint = await connect(url);
    const [connection] = connections;
    expect(await endpoint.task(call('s1'))).toMatchObject({ status: 'failed' });
    await connection?.gone();
    expect([new Set(refused).size, standIn.runs]).toEqual([1, []]);
    expect(standIn.cancels.filter(({ runId }) => refused.includes(runId))).toEqual([]);
  });

  it('because the gateway stops is told, and its runs are cancelled before the gateway is gone', async () => {
    const standIn = await orchestrator();
    const { url, connections } = await listen();
    const endpoint = await connect(url);
    const ended = endpoint.task(call('s1'));
    const { runId } = await until(() => standIn.runs[0]);
    const [connection] = connections;
    connection?.shutDown();
    await connection?.gone();
    expect(await ended).toMatchObject({ status: 'failed', error: 'the gateway stops, and the task is cancelled' });
    expect(standIn.cancels.map((cancel) => cancel.runId)).toContain(runId);
    expect(await endpoint.closed).toMatchObject({ code: 1001 });
  });
});

describe('what is known of a device', () => {
  it('comes from its profile and from what it said itself', async () => {
    const endpoint = await connect((await listen()).url);
    expect(await endpoint.deviceInfo()).toMatchObject({
      device_id: 'd1',
      platform: 'linux',
      os_version: '#1 SMP',
      cpu_count: 2,
      memory_total_gb: 4,
      tools: ['EXEC_CLI', 'SYS_INFO', 'NOOP'],
    });
  });

  it('is not told to clients that may not use it', async () => {
    const endpoint = await connect((await listen({ ...GALAXY, targets: ['d1'] })).url);
    expect(await endpoint.deviceInfo('d1')).toMatchObject({ device_id: 'd1' });
    for (const deviceId of ['d2', 'nobody']) {
      expect(await endpoint.deviceInfo(deviceId)).toEqual({
        error: `nothing is known of a device '${deviceId}' that this client may use`,
      });
    }
  });
});
