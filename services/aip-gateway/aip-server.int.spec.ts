import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Kvm } from '@nats-io/kv';
import { connect, errors, type NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { connectWs, HandshakeRefused } from '#libs/aip';
import { provision } from '#libs/messaging';
import { Metrics, systemClock } from '#libs/platform';
import { FakeDevice, startTestNats, type FakeDeviceOptions, type TestNats } from '#libs/testing';
import { AIP_CLOSE, commandIdOf, DeviceAnswer, Presence, subjects } from '#proto';
import type { DeviceRequest, RunCommandRequest } from '#proto';
import { AipServer } from './aip-server.gateway.js';
import { gatewayMetrics } from './gateway-metrics.adapter.js';
import { PresenceBook } from './presence.client.js';

/** Tokens are `token-<device>`; everything else is nobody's. */
const authenticate = async (token: string) => (token.startsWith('token-') ? token.slice(6) : null);

interface Gateway {
  readonly server: AipServer;
  readonly url: string;
  readonly nc: NatsConnection;
  readonly metrics: Metrics;
}

let nats: TestNats;
let caller: NatsConnection;
const gateways: Gateway[] = [];
const devices: FakeDevice[] = [];

beforeAll(async () => {
  nats = await startTestNats();
  caller = await connect({ servers: nats.url });
  await provision(caller);
});
afterEach(async () => {
  for (const device of devices.splice(0)) device.cut();
  for (const { server, nc } of gateways.splice(0)) {
    await server.stop();
    await nc.drain();
  }
});
afterAll(async () => {
  await caller.close();
  await nats.stop();
});

async function gateway(
  overrides: { answerWithinMs?: number; authenticate?: typeof authenticate } = {},
): Promise<Gateway> {
  const nc = await connect({ servers: nats.url });
  const metrics = new Metrics('aip-gateway');
  const instance = `gateway-${gateways.length}`;
  const { answerWithinMs = 5_000 } = overrides;
  const around = { nc, clock: systemClock, logger: pino({ level: 'silent' }), instance, answerWithinMs };
  const server = new AipServer(
    { port: 0, bind: '127.0.0.1', origins: ['https://console.example'], connectionsMax: 100 },
    { ...around, book: await PresenceBook.open(nc), metrics: gatewayMetrics(metrics) },
    overrides.authenticate ?? authenticate,
  );
  const made = { server, nc, metrics, url: `ws://127.0.0.1:${await server.start()}/ws` };
  gateways.push(made);
  return made;
}

async function device(
  { url }: Gateway,
  deviceId: string,
  options: Partial<FakeDeviceOptions> = {},
): Promise<FakeDevice> {
  const made = await FakeDevice.connect({ url, deviceId, token: `token-${deviceId}`, ...options });
  devices.push(made);
  return made;
}

/** A request as the device-agent makes it, for the session that the device has now. */
function run(to: FakeDevice, task: string, change: Partial<RunCommandRequest> = {}): RunCommandRequest {
  const attempt = { runId: 'run-1', taskId: task, attempt: 1 };
  return {
    kind: 'run',
    commandId: commandIdOf(attempt),
    attempt,
    deviceId: to.deviceId,
    sessionId: to.sessionId ?? 'none',
    journalId: to.journalId,
    command: { tool: 'EXEC_CLI', arguments: { command: 'true' } },
    priority: 0,
    notAfter: '2099-01-01T00:00:00.000Z',
    ...change,
  };
}

/** As the device-agent does: nobody there yet is no answer. */
async function ask(request: DeviceRequest): Promise<DeviceAnswer> {
  for (;;) {
    try {
      const body = JSON.stringify(request);
      const answer = await caller.request(subjects.deviceCommand(request.deviceId), body, { timeout: 8_000 });
      return DeviceAnswer.parse(answer.json());
    } catch (error) {
      if (!(error instanceof errors.RequestError && error.isNoResponders())) throw error;
    }
  }
}

async function presenceOf(deviceId: string): Promise<Presence | null> {
  const entry = await (await new Kvm(caller).open('PRESENCE')).get(deviceId);
  return entry?.operation === 'PUT' ? Presence.parse(entry.json()) : null;
}

const NEVER = (): void => undefined;

describe('the handshake', () => {
  const refusal = async (url: string, headers: Record<string, string> = {}): Promise<unknown> =>
    connectWs({ url, headers, clock: systemClock }).catch((error: unknown) => error);

  it('refuses before the upgrade: no token, a wrong one, a page of a foreign site, another path', async () => {
    const { url, metrics } = await gateway();
    const good = { Authorization: 'Bearer token-h1' };
    expect(await refusal(url)).toEqual(new HandshakeRefused(401));
    expect(await refusal(`${url}?token=wrong`)).toMatchObject({ status: 401 });
    expect(await refusal(url, { Authorization: 'Bearer wrong' })).toMatchObject({ status: 401 });
    expect(await refusal(url, { ...good, Origin: 'https://evil.example' })).toMatchObject({ status: 403 });
    expect(await refusal(`${url}/other`, good)).toMatchObject({ status: 404 });
    expect(await metrics.registry.metrics()).toContain('orrery_aip_handshakes_refused_total{status="401"');
  });

  it('says 503 and lets nobody in while the registry does not answer', async () => {
    const { url } = await gateway({ authenticate: () => Promise.reject(new Error('no responders')) });
    expect(await refusal(`${url}?token=token-h1`)).toMatchObject({ status: 503 });
  });

  it('gives one device no more than four sockets that say nothing', async () => {
    const { url } = await gateway();
    const dial = () => FakeDevice.dial({ url, deviceId: 'h2', token: 'token-h2' });
    for (let count = 0; count < 4; count++) devices.push(await dial());
    await expect(dial()).rejects.toMatchObject({ status: 429 });
  });
});

describe('REGISTER', () => {
  it('writes PRESENCE before it is confirmed', async () => {
    const registered = await device(await gateway(), 'r1');
    expect(await presenceOf('r1')).toMatchObject({
      deviceId: 'r1',
      sessionId: registered.sessionId,
      gateway: 'gateway-0',
      journalId: 'journal-r1',
      telemetry: { platform: 'linux', tools: [{ name: 'EXEC_CLI' }, { name: 'SYS_INFO' }] },
    });
  });

  it('refuses a device that calls itself by the name of another', async () => {
    const { url } = await gateway();
    const liar = await FakeDevice.dial({ url, deviceId: 'victim', token: 'token-r2' });
    liar.register();
    expect(await liar.closed).toMatchObject({ code: AIP_CLOSE.policy });
    expect(liar.received).toMatchObject([{ type: 'error' }]);
    expect(await presenceOf('victim')).toBeNull();
  });

  it.each([
    ['a frame that is not JSON', '{"type":'],
    ['a heartbeat', '{"type":"heartbeat","status":"ok"}'],
    ['a bottomless frame', '['.repeat(50_000)],
  ])('answers %s before it with ERROR and closes: no socket stays half open', async (_, frame) => {
    const { url } = await gateway();
    const early = await FakeDevice.dial({ url, deviceId: 'r3', token: 'token-r3' });
    early.raw(frame);
    expect(await early.closed).toMatchObject({ code: AIP_CLOSE.protocolError });
    expect(early.received).toMatchObject([{ type: 'error', status: 'error' }]);
  });

  it('closes a socket whose frame is larger than allowed', async () => {
    const large = await device(await gateway(), 'r4');
    large.raw(JSON.stringify({ type: 'heartbeat', status: 'ok', padding: 'x'.repeat(1024 * 1024) }));
    expect(await large.closed).toMatchObject({ code: 1009 });
  });

  it('gives the key back when the device leaves', async () => {
    const leaving = await device(await gateway(), 'r5');
    await leaving.close();
    const kv = await new Kvm(caller).open('PRESENCE');
    for await (const entry of await kv.watch({ key: 'r5' })) if (entry.operation === 'DEL') break;
    expect(await presenceOf('r5')).toBeNull();
  });
});

describe('a command', () => {
  it('goes to the device and comes back with its outcome', async () => {
    const runner = await device(await gateway(), 'c1');
    const request = run(runner, 'a');
    expect(await ask(request)).toMatchObject({
      state: 'finished',
      outcome: { state: 'COMPLETED', result: { echo: { command: 'true' } } },
    });
    expect(runner.commands).toMatchObject([
      {
        session_id: runner.sessionId,
        actions: [{ tool_name: 'EXEC_CLI', parameters: { command: 'true' } }],
        orrery: { command_id: request.commandId, attempt: request.attempt },
      },
    ]);
  });

  it('is sent once, however often and at the same time it is asked for', async () => {
    const runner = await device(await gateway(), 'c2', { onCommand: NEVER });
    const request = run(runner, 'a');
    const answers = Promise.all([ask(request), ask(request), ask(request)]);
    const command = await runner.untilCommand(request.commandId);
    runner.started(command);
    runner.finish(command, { result: 'once' });
    for (const answer of await answers) expect(answer).toMatchObject({ outcome: { result: 'once' } });
    expect(await ask(request)).toMatchObject({ outcome: { result: 'once' } });
    expect(runner.commands).toHaveLength(1);
  });

  it('is refused under a known id with other content', async () => {
    const runner = await device(await gateway(), 'c3');
    await ask(run(runner, 'a'));
    const other = run(runner, 'a', { command: { tool: 'EXEC_CLI', arguments: { command: 'false' } } });
    expect(await ask(other)).toMatchObject({ state: 'refused', code: 'COMMAND_CONFLICT' });
  });

  it('is answered with `running` in time, and with the outcome when it is asked for again', async () => {
    const runner = await device(await gateway({ answerWithinMs: 50 }), 'c4', { onCommand: NEVER });
    const request = run(runner, 'a');
    expect(await ask(request)).toEqual({ state: 'running' });
    runner.report(request.commandId, { result: 'late' });
    expect(
      await until(
        () => ask(request),
        ({ state }) => state === 'finished',
      ),
    ).toMatchObject({ outcome: { result: 'late' } });
  });

  it('is refused when nobody may start it any more, or when the device has no such tool', async () => {
    const runner = await device(await gateway(), 'c5');
    expect(await ask(run(runner, 'a', { notAfter: '2001-01-01T00:00:00.000Z' }))).toMatchObject({ code: 'EXPIRED' });
    const unknown = await ask(run(runner, 'b', { command: { tool: 'FORMAT_DISK', arguments: {} } }));
    expect(unknown).toMatchObject({ code: 'UNKNOWN_TOOL', message: expect.stringContaining('EXEC_CLI, SYS_INFO') });
    expect(runner.commands).toEqual([]);
  });

  it('is not even looked at when it is no request', async () => {
    await device(await gateway(), 'c6');
    const answer = await caller.request(subjects.deviceCommand('c6'), '{"kind":"run"}');
    expect(answer.json()).toMatchObject({ state: 'refused', code: 'INVALID_REQUEST' });
  });

  it('is stopped at the device when it runs, and CANCELLED when it waits', async () => {
    const runner = await device(await gateway(), 'c7', { onCommand: NEVER, journalId: 'j' });
    const running = Array.from({ length: 8 }, (_, index) => run(runner, `t${index}`));
    const waiting = run(runner, 'waiting');
    const answers = [...running, waiting].map(ask);
    await until(
      async () => runner.commands.length,
      (count) => count === 8,
    );
    expect(await ask({ kind: 'stop', attempt: waiting.attempt, deviceId: 'c7' })).toEqual({ state: 'done' });
    expect(await answers.at(-1)).toMatchObject({ state: 'finished', outcome: { state: 'CANCELLED' } });
    const [first] = running;
    if (first === undefined) throw new Error('no command');
    await ask({ kind: 'stop', attempt: first.attempt, deviceId: 'c7' });
    await runner.until((frame) => frame.type === 'stop_attempt' && frame.orrery.attempt.taskId === 't0');
    runner.report(first.commandId, { state: 'CANCELLED' });
    expect(await answers[0]).toMatchObject({ outcome: { state: 'CANCELLED' } });
    for (const { commandId } of running.slice(1)) runner.report(commandId);
    await Promise.all(answers);
  });

  it('is forgotten, and the journal told so, when its result is stored', async () => {
    const runner = await device(await gateway(), 'c8');
    const request = run(runner, 'a');
    await ask(request);
    expect(await ask({ kind: 'stored', commandId: request.commandId, deviceId: 'c8' })).toEqual({ state: 'done' });
    await runner.until((frame) => frame.type === 'result_stored' && frame.orrery.command_id === request.commandId);
  });
});

describe('a connection that breaks', () => {
  it('leaves `running` behind, and the journal delivers to the repeat after the reconnect', async () => {
    const gate = await gateway();
    const before = await device(gate, 'b1', { onCommand: NEVER });
    const request = run(before, 'a');
    const answer = ask(request);
    await before.untilCommand(request.commandId);
    before.cut();
    expect(await answer).toEqual({ state: 'running' });

    const after = await device(gate, 'b1', { onCommand: NEVER });
    expect(after.sessionId).not.toBe(before.sessionId);
    after.report(request.commandId, { result: 'from the journal' });
    expect(await ask(request)).toMatchObject({ outcome: { result: 'from the journal' } });
  });

  it('leads to the same id once more at a device with the same journal, even past its time, because only the journal knows', async () => {
    const gate = await gateway();
    const before = await device(gate, 'b2', { onCommand: NEVER });
    const request = run(before, 'a', { notAfter: '2001-01-01T00:00:00.000Z' });
    before.cut();
    const after = await device(gate, 'b2', { onCommand: NEVER });
    const answer = ask(request);
    const again = await after.untilCommand(request.commandId);
    expect(again.orrery?.not_after_ms).toBe(0);
    after.finish(again, { result: 'stored result' });
    expect(await answer).toMatchObject({ outcome: { result: 'stored result' } });
  });

  it('is OUTCOME_UNKNOWN for a device that has lost its journal', async () => {
    const gate = await gateway();
    const before = await device(gate, 'b3', { journalId: 'old' });
    const request = run(before, 'a');
    before.cut();
    const after = await device(gate, 'b3', { journalId: 'new' });
    expect(await ask(request)).toMatchObject({ state: 'refused', code: 'OUTCOME_UNKNOWN' });
    expect(after.commands).toEqual([]);
  });
});

describe('two connections of one device', () => {
  it('on one gateway: the newest has the session, the older one is closed', async () => {
    const gate = await gateway();
    const older = await device(gate, 't1');
    const newer = await device(gate, 't1');
    expect(await older.closed).toMatchObject({ code: AIP_CLOSE.replaced });
    expect(await presenceOf('t1')).toMatchObject({ sessionId: newer.sessionId });
    expect(await ask(run(newer, 'a'))).toMatchObject({ state: 'finished' });
    expect(older.commands).toEqual([]);
  });

  it('on two gateways: the older one sees that PRESENCE has changed', async () => {
    const [first, second] = [await gateway(), await gateway()];
    const older = await device(first, 't2');
    const newer = await device(second, 't2');
    expect(await older.closed).toMatchObject({ code: AIP_CLOSE.replaced });
    expect(await presenceOf('t2')).toMatchObject({ sessionId: newer.sessionId, gateway: 'gateway-1' });
    expect(await ask(run(newer, 'a'))).toMatchObject({ state: 'finished' });
  });
});

describe('PRESENCE that vanishes', () => {
  it('is written again for the same session while the socket lives', async () => {
    const survivor = await device(await gateway(), 'p1');
    const kv = await new Kvm(caller).open('PRESENCE');
    const changes = await kv.watch({ key: 'p1' });
    await kv.delete('p1');
    let deleted = false;
    for await (const { operation } of changes) {
      deleted ||= operation === 'DEL';
      if (deleted && operation === 'PUT') break;
    }
    expect(await presenceOf('p1')).toMatchObject({ sessionId: survivor.sessionId });
    expect(await ask(run(survivor, 'a'))).toMatchObject({ state: 'finished' });
  });
});

describe('a foreign client', () => {
  const foreign = (gate: Gateway, deviceId: string, options: Partial<FakeDeviceOptions> = {}) =>
    device({ ...gate, url: `${gate.url}?token=token-${deviceId}` }, deviceId, { journalId: null, ...options });
  const present = (deviceId: string) =>
    until(
      () => presenceOf(deviceId),
      (presence) => presence !== null,
    ).then((presence) => presence?.sessionId ?? '');

  it('is asked for its tools before it is shown to anybody', async () => {
    const client = await foreign(await gateway(), 'f1', { tools: ['execute_command'] });
    await present('f1');
    expect(await presenceOf('f1')).toMatchObject({
      journalId: null,
      telemetry: { tools: [{ name: 'execute_command' }] },
    });
    expect(client.received.map(({ type }) => type)).toEqual(['heartbeat', 'command']);
  });

  it('gets one command after the other, without our fields', async () => {
    const client = await foreign(await gateway(), 'f2', { onCommand: NEVER });
    const sessionId = await present('f2');
    const requests = ['a', 'b'].map((task) => run(client, task, { sessionId }));
    const answers = requests.map(ask);
    for (const [index, { commandId }] of requests.entries()) {
      const command = await client.untilCommand(commandId);
      expect(command.orrery).toBeUndefined();
      expect(client.commands).toHaveLength(index + 1);
      client.finish(command, { result: { success: index === 0, error: 'Blocked.' } });
    }
    expect(await Promise.all(answers)).toMatchObject([
      { outcome: { state: 'COMPLETED' } },
      { outcome: { state: 'FAILED', error: { message: 'Blocked.' } } },
    ]);
  });

  it('never gets a command twice: what it was doing when it left is unknown for ever', async () => {
    const gate = await gateway();
    const before = await foreign(gate, 'f3', { onCommand: NEVER });
    const request = run(before, 'a', { sessionId: await present('f3') });
    const answer = ask(request);
    await before.untilCommand(request.commandId);
    await before.close();
    expect(await answer).toMatchObject({ state: 'finished', outcome: { state: 'OUTCOME_UNKNOWN' } });

    const after = await foreign(gate, 'f3');
    await until(
      () => presenceOf('f3'),
      (presence) => presence !== null && presence.sessionId !== request.sessionId,
    );
    expect(await ask(request)).toMatchObject({ state: 'refused', code: 'OUTCOME_UNKNOWN' });
    expect(after.commands).toEqual([]);
  });
});

describe('the gateway that stops', () => {
  it('sends its devices away and gives their keys back', async () => {
    const { server, url } = await gateway();
    const guest = await FakeDevice.connect({ url, deviceId: 's1', token: 'token-s1' });
    await server.stop();
    expect(await guest.closed).toMatchObject({ code: AIP_CLOSE.goingAway });
    expect(await presenceOf('s1')).toBeNull();
  });
});

/** Asks again until the answer passes; the test's own time limit ends it. */
async function until<T>(read: () => Promise<T>, passes: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (passes(value)) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
