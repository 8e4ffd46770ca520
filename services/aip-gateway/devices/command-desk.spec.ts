import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { Metrics } from '#libs/platform';
import { AIP_LIMITS } from '#proto';
import type { CommandOutcome, DeviceAnswer, DeviceRequest, ServerMessage } from '#proto';
import { CommandDesk } from './command-desk.consumer.js';
import { gatewayMetrics } from '../connection/gateway-metrics.adapter.js';
import { NO_INJECTION } from './parameter-injection.js';

const NOW_MS = 1_000_000;
const NOT_AFTER_MS = NOW_MS + 60_000;
const ANSWER_WITHIN_MS = 10_000;
const attempt = { runId: 'r', taskId: 'a', attempt: 1 };
const ASKED = { deviceId: 'd', sessionId: 's1', journalId: 'j1' };

const DONE: CommandOutcome = { state: 'COMPLETED', result: null, error: null, startedAt: null, durationMs: 1 };

function request(taskId = 'a', notAfterMs = NOT_AFTER_MS): DeviceRequest {
  return {
    kind: 'run',
    ...ASKED,
    commandId: `r.${taskId}.1.0.0`,
    attempt: { ...attempt, taskId },
    command: { tool: 'T', arguments: {} },
    priority: 0,
    notAfter: new Date(notAfterMs).toISOString(),
  };
}

beforeEach(() => {
  jest.useFakeTimers({ now: NOW_MS, doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  jest.clearAllTimers();
});
afterEach(() => void jest.useRealTimers());

/** A desk on a bus and on a link that are in the test's hands. */
function opened() {
  const presence = { holds: true };
  const screen: { taken: boolean; handedBackAt: string | null } = { taken: false, handedBackAt: null };
  const sent: ServerMessage[] = [];
  let receive: (error: null, message: Msg) => void = () => undefined;
  const nc = {
    info: undefined,
    flush: async () => undefined,
    subscribe: (_: string, { callback }: { callback: typeof receive }) => {
      receive = callback;
      return { unsubscribe: () => undefined };
    },
  } as unknown as NatsConnection;
  const machine = { platform: '', osVersion: '', hostname: '', arch: '', cpuCount: 1, memoryMb: 1 };
  const telemetry = { ...machine, capabilities: [], tools: [], metadata: {} };
  const desk = new CommandDesk({
    nc,
    clock: { now: () => Date.now() },
    logger: pino({ level: 'silent' }),
    metrics: gatewayMetrics(new Metrics('aip-gateway')),
    answerWithinMs: ANSWER_WITHIN_MS,
    link: { say: (message) => void sent.push(message), congested: false },
    deviceId: 'd',
    sessionId: 's1',
    client: { revision: 2, journalId: 'j1', telemetry, takesBytes: false, toolsKnown: false },
    slots: 1,
    holds: async () => presence.holds,
    screen: async () => screen,
    injection: NO_INJECTION,
  });
  void desk.open();
  /** The answers that a request has got; they may still come. */
  const ask = (asked: DeviceRequest): DeviceAnswer[] => {
    const answers: DeviceAnswer[] = [];
    const respond = (text: string) => void answers.push(JSON.parse(text));
    receive(null, { reply: '_INBOX_test.1', data: Buffer.from('{}'), json: () => asked, respond } as unknown as Msg);
    return answers;
  };
  return { desk, ask, presence, screen, sent };
}

const settled = (): Promise<unknown> => jest.advanceTimersByTimeAsync(0);

describe('a session that counts no more', () => {
  it('does not call a command too late that the newer session may have sent', async () => {
    const { ask, presence } = opened();
    const answers = ask(request('a', NOW_MS - 1));
    await settled();
    expect(answers).toMatchObject([{ state: 'refused', code: 'EXPIRED' }]);
    presence.holds = false;
    const more = ask(request('b', NOW_MS - 1));
    await settled();
    expect(more).toEqual([]);
  });

  it.each([
    ['counts', true],
    ['counts no more', false],
  ])('says of what it keeps back that it was never sent only when it %s', async (_, holds) => {
    const { desk, ask, presence } = opened();
    ask(request('a'));
    const [late, stopped] = [ask(request('b')), ask(request('c'))];
    presence.holds = holds;
    ask({ kind: 'stop', attempt: { ...attempt, taskId: 'c' }, deviceId: 'd' });
    desk.tick(NOT_AFTER_MS);
    await settled();
    expect(late).toMatchObject(holds ? [{ code: 'EXPIRED' }] : []);
    expect(stopped).toMatchObject(holds ? [{ outcome: { state: 'CANCELLED' } }] : []);
  });

  it('tells its device to stop, and leaves it to the newer one to say so', async () => {
    const { ask, presence, sent } = opened();
    presence.holds = false;
    const answers = ask({ kind: 'stop', attempt, deviceId: 'd' });
    await settled();
    expect(sent).toMatchObject([{ type: 'stop_attempt' }]);
    expect(answers).toEqual([]);
  });
});

describe('a screen', () => {
  const on = { agent: 'AppAgent', application: 'mousepad', window: 'notes', snapshot: 'c1.1' };
  const click = (taskId: string): DeviceRequest => ({
    ...(request(taskId) as Extract<DeviceRequest, { kind: 'run' }>),
    command: { tool: 'click_input', arguments: {}, on },
  });

  it('gets no command while a person has it, and its caller asks again', async () => {
    const { desk, ask, screen, sent } = opened();
    screen.taken = true;
    const [clicked, other] = [ask(click('a')), ask(request('b'))];
    await settled();
    expect([clicked, other]).toEqual([[], []]);
    expect(sent).toMatchObject([{ orrery: { command_id: 'r.b.1.0.0' } }]);
    desk.tick(NOW_MS + 1_000);
    expect(clicked).toEqual([{ state: 'queued' }]);
  });

  it('has its attempt look again after it was handed back', async () => {
    const { ask, screen, sent } = opened();
    screen.handedBackAt = new Date(NOW_MS).toISOString();
    const clicked = ask(click('a'));
    await settled();
    expect(clicked).toMatchObject([{ state: 'finished', outcome: { error: { code: 'WINDOW_CHANGED' } } }]);
    expect(sent).toEqual([]);
  });

  it('takes a look for one when it has ended well, and not when it was let through', async () => {
    const { desk, ask, screen, sent } = opened();
    screen.handedBackAt = new Date(NOW_MS).toISOString();
    const list = (index: number): DeviceRequest => ({
      ...(request() as Extract<DeviceRequest, { kind: 'run' }>),
      commandId: `r.a.1.1.${index}`,
      command: { tool: 'get_app_window_controls_target_info', arguments: {}, on: { ...on, snapshot: '' } },
    });
    ask(list(0));
    await settled();
    desk.finished('r.a.1.1.0', { ...DONE, state: 'FAILED' }, 0);
    const early = ask(click('a'));
    await settled();
    expect(early).toMatchObject([{ state: 'finished', outcome: { error: { code: 'WINDOW_CHANGED' } } }]);
    ask(list(1));
    await settled();
    desk.finished('r.a.1.1.1', DONE, 0);
    ask(click('a'));
    await settled();
    expect(sent.filter(({ type }) => type === 'command')).toMatchObject([
      { orrery: { command_id: 'r.a.1.1.0' } },
      { orrery: { command_id: 'r.a.1.1.1' } },
      { orrery: { command_id: 'r.a.1.0.0' } },
    ]);
  });

  it('keeps nothing that could be sent after a person came', async () => {
    const { desk, ask, screen, sent } = opened();
    ask(request('b'));
    const clicked = ask(click('a'));
    await settled();
    screen.taken = true;
    desk.finished('r.b.1.0.0', DONE, 0);
    await settled();
    expect(clicked).toEqual([{ state: 'queued' }]);
    expect(sent).toMatchObject([{ type: 'command' }]);
  });

  it('does not keep a stopped attempt waiting', async () => {
    const { ask, screen } = opened();
    screen.taken = true;
    ask({ kind: 'stop', attempt, deviceId: 'd' });
    const clicked = ask(click('a'));
    await settled();
    expect(clicked).toMatchObject([{ outcome: { state: 'CANCELLED' } }]);
  });
});

describe('the end of a desk', () => {
  it('is told to everybody who waits, also to who found no room, and leaves no timer behind', async () => {
    const { desk, ask } = opened();
    for (let task = 0; task < AIP_LIMITS.commandsMax; task++) ask(request(`t${task}`));
    const more = ask(request('more'));
    expect(more).toEqual([]);
    desk.close();
    expect(more).toEqual([{ state: 'queued' }]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
