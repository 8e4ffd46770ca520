import { describe, expect, it } from '@jest/globals';
import { AIP_LIMITS } from '#proto';
import type { ClientMessage, ClientTelemetry, CommandOutcome, DeviceMetrics, Identity } from '#proto';
import { authorised, layered } from '../frames/middleware.js';
import { openSession, senderOf, type Session, type SessionEffect, type SessionInput } from './session-state.js';
import { step as bareStep } from './session.js';

const step = layered<Session, SessionInput, SessionEffect>(bareStep, authorised(senderOf));
const IDENTITY: Identity = { id: 'web-1', role: 'device', targets: null, expiresAt: null };

const TELEMETRY: ClientTelemetry = {
  platform: 'linux',
  osVersion: '',
  hostname: '',
  arch: '',
  cpuCount: 0,
  memoryMb: 0,
  capabilities: [],
  tools: [],
  metadata: {},
};
const BASE = { status: 'ok', client_type: 'device', client_id: 'web-1' } as const;
const message = (given: ClientMessage): SessionInput => ({ kind: 'message', message: given });
const registerOf = (revision: number) =>
  message({
    ...BASE,
    type: 'register',
    metadata: { orrery: { revision, journal_id: 'j1', telemetry: TELEMETRY } },
  });
const ours = registerOf(1);
const newest = registerOf(2);
const resume = (running: string[] = [], finished: string[] = [], more = false) =>
  message({ ...BASE, type: 'resume', orrery: { running, finished, more } });
const foreign = message({ ...BASE, type: 'register', metadata: { platform: 'linux' } });
const heartbeat = message({ ...BASE, type: 'heartbeat' });
const claimed: SessionInput = { kind: 'claimed', sessionId: 's1' };
const tick: SessionInput = { kind: 'tick' };
const tools = message({
  ...BASE,
  type: 'command_results',
  prev_response_id: 'list_tools',
  action_results: [{ status: 'success', result: [{ tool_name: 'execute_command' }] }],
});

/** Folds the given inputs (all at 0 ms) of a connection with that credential; `when` gives the effects of the last one. */
function opened(identity: Identity, ...inputs: SessionInput[]) {
  const session = inputs.reduce<Session>((state, input) => step(state, input, 0)[0], openSession(identity, 0));
  return {
    phase: session.phase,
    when: (input: SessionInput, nowMs = 0): { phase: string; effects: readonly SessionEffect[] } => {
      const [next, effects] = step(session, input, nowMs);
      return { phase: next.phase, effects };
    },
  };
}
const given = (...inputs: SessionInput[]) => opened(IDENTITY, ...inputs);

const error = (text: string) => ({ kind: 'send', message: expect.objectContaining({ type: 'error', error: text }) });
const closes = (code: number) => ({ kind: 'close', code, reason: expect.any(String) });
const ok = { kind: 'send', message: expect.objectContaining({ type: 'heartbeat', status: 'ok' }) };

describe('REGISTER of one of our devices', () => {
  it('is confirmed only when PRESENCE holds the session', () => {
    expect(given().when(ours).effects).toMatchObject([{ kind: 'claim', client: { revision: 1, journalId: 'j1' } }]);
    expect(given(ours).when(claimed)).toEqual({
      phase: 'READY',
      effects: [
        {
          kind: 'send',
          message: {
            type: 'heartbeat',
            status: 'ok',
            timestamp: '1970-01-01T00:00:00.000Z',
            response_id: 'answer-1',
            orrery: { revision: 1, session_id: 's1', server_time: '1970-01-01T00:00:00.000Z' },
          },
        },
        { kind: 'open' },
      ],
    });
  });

  it('of a later revision is answered with the one we speak', () => {
    expect(given().when(registerOf(7)).effects).toMatchObject([{ client: { revision: 2 } }]);
  });

  it('under the name of another device is refused', () =>
    expect(given().when(message({ ...BASE, type: 'register', client_id: 'web-2' }))).toEqual({
      phase: 'CLOSED',
      effects: [error('client_id does not match the credential of this connection'), closes(1008)],
    }));

  it('without a name is that of the device whose credential it is', () => {
    const nameless = message({
      status: 'ok',
      client_type: 'device',
      type: 'register',
      metadata: { orrery: { revision: 1, journal_id: 'j1', telemetry: TELEMETRY } },
    });
    expect(given().when(nameless).effects).toMatchObject([{ kind: 'claim' }]);
  });

  it('as a constellation is refused: the role comes from the credential', () =>
    expect(given().when(message({ ...BASE, type: 'register', client_type: 'constellation' }))).toEqual({
      phase: 'CLOSED',
      effects: [error('only device clients may register here'), closes(1008)],
    }));

  it('for the second time changes nothing', () =>
    expect(given(ours, claimed).when(ours)).toEqual({
      phase: 'READY',
      effects: [error('this connection is already registered')],
    }));

  it('that PRESENCE cannot take is sent away to try again', () =>
    expect(given(ours).when({ kind: 'claim-failed' })).toMatchObject({ phase: 'CLOSED', effects: [{}, closes(1013)] }));
});

describe('REGISTER of a foreign client', () => {
  it('is confirmed at once and followed by the question for its tools', () =>
    expect(given().when(foreign).effects).toMatchObject([
      ok,
      { message: { type: 'command', agent_name: 'LinuxAgent', actions: [{ tool_name: 'list_tools' }] } },
    ]));

  it('is shown to others once it has named its tools, and is told nothing more', () => {
    expect(given(foreign).when(tools).effects).toMatchObject([
      {
        kind: 'claim',
        client: { journalId: null, toolsKnown: true, telemetry: { tools: [{ name: 'execute_command' }] } },
      },
    ]);
    expect(given(foreign, tools).when(claimed)).toEqual({ phase: 'READY', effects: [{ kind: 'open' }] });
  });

  it('that never names its tools is used without knowing them', () => {
    expect(given(foreign).when(tick, AIP_LIMITS.listToolsMs - 1).effects).toEqual([]);
    expect(given(foreign).when(tick, AIP_LIMITS.listToolsMs).effects).toMatchObject([
      { kind: 'claim', client: { toolsKnown: false } },
    ]);
  });

  it('that names its tools twice is claimed once', () =>
    expect(given(foreign, tools, claimed).when(tools)).toEqual({ phase: 'READY', effects: [] }));
});

describe('a foreign client is asked for its tools again', () => {
  const ask = (wanted: boolean): SessionInput => ({ kind: 'ask-tools', wanted });
  const naming = (...names: string[]) =>
    message({
      ...BASE,
      type: 'command_results',
      prev_response_id: 'list_tools',
      action_results: [{ status: 'success', result: names.map((name) => ({ tool_name: name })) }],
    });
  const question = [{ kind: 'send', message: { actions: [{ tool_name: 'list_tools' }] } }];
  const none = naming();

  it('when somebody wants one that it has not named, at once and then no more often than every ten seconds', () => {
    expect(given(foreign, tools, claimed).when(ask(true)).effects).toMatchObject(question);
    const asked = given(foreign, tools, claimed, ask(true));
    expect(asked.when(ask(true), AIP_LIMITS.listToolsAgainMs - 1).effects).toEqual([]);
    expect(asked.when(ask(true), AIP_LIMITS.listToolsAgainMs).effects).toMatchObject(question);
  });

  it('every two minutes while it has named none, and not for that once it has', () => {
    const without = given(foreign, none, claimed);
    expect(without.when(ask(false), AIP_LIMITS.listToolsMissingMs - 1).effects).toEqual([]);
    expect(without.when(ask(false), AIP_LIMITS.listToolsMissingMs).effects).toMatchObject(question);
    expect(given(foreign, tools, claimed).when(ask(false), 10 * AIP_LIMITS.listToolsMissingMs).effects).toEqual([]);
    const found = given(foreign, none, claimed, ask(true), tools);
    expect(found.when(ask(false), 10 * AIP_LIMITS.listToolsMissingMs).effects).toEqual([]);
  });

  it('and what is new in its answer is passed on, once', () => {
    const named = [{ kind: 'telemetry', telemetry: { tools: [{ name: 'get_system_info' }] } }];
    const asked = given(foreign, tools, claimed, ask(true));
    expect(asked.when(naming('get_system_info')).effects).toMatchObject(named);
    expect(asked.when(tools).effects).toEqual([]); // nothing new
    const answered = given(foreign, tools, claimed, ask(true), naming('get_system_info'));
    expect(answered.when(tools).effects).toEqual([]); // nobody asked
  });

  it('and an answer that is no list takes nothing away', () => {
    const failed = message({
      ...BASE,
      type: 'command_results',
      prev_response_id: 'list_tools',
      action_results: [{ status: 'failure', error: 'no tool server', result: null }],
    });
    expect(given(foreign, tools, claimed, ask(true)).when(failed)).toEqual({ phase: 'READY', effects: [] });
  });

  it('and one that comes after the first question was given up is taken', () => {
    const late = opened(IDENTITY, foreign);
    expect(late.when(tick, AIP_LIMITS.listToolsMs).phase).toBe('CLAIMING');
    let session = step(openSession(IDENTITY, 0), foreign, 0)[0];
    for (const input of [tick, claimed]) session = step(session, input, AIP_LIMITS.listToolsMs)[0];
    expect(step(session, tools, AIP_LIMITS.listToolsMs + 1)[1]).toMatchObject([{ kind: 'telemetry' }]);
  });

  it('but one of our devices never is, nor a client that is not ready', () => {
    for (const inputs of [[ours, claimed], [newest, claimed, resume()], [foreign], [foreign, tools], []]) {
      expect(given(...inputs).when(ask(true), 10 * AIP_LIMITS.listToolsMissingMs).effects).toEqual([]);
    }
  });
});

describe('a device that does not register', () => {
  it('is closed in time', () => {
    expect(given().when(tick, AIP_LIMITS.registerWithinMs - 1).phase).toBe('AWAITING_REGISTER');
    expect(given().when(tick, AIP_LIMITS.registerWithinMs)).toEqual({
      phase: 'CLOSED',
      effects: [error('REGISTER did not come in time'), closes(1008)],
    });
  });

  it.each([
    ['sends something else first', heartbeat],
    ['sends what is no message', { kind: 'unreadable', error: 'not JSON' } as const],
  ])('is answered and closed when it %s', (_, input) =>
    expect(given().when(input)).toMatchObject({ phase: 'CLOSED', effects: [{ kind: 'send' }, closes(1002)] }),
  );
});

describe('a device of revision 2', () => {
  const ready = () => given(newest, claimed, resume());
  const metrics: DeviceMetrics = { load1: 1, memoryFreeMb: 2, diskFreeMb: 3, gpus: [] };

  it('is told its session and takes no command before it has said what its journal holds', () => {
    const { phase, effects } = given(newest).when(claimed);
    expect(phase).toBe('RESUMING');
    expect(effects).toMatchObject([
      {
        kind: 'send',
        message: { type: 'heartbeat', orrery: { revision: 2, session_id: 's1', credential_until: null } },
      },
    ]);
    expect(effects).toHaveLength(1);
    expect(given(newest, claimed).when({ kind: 'say', message: { type: 'resumed', status: 'ok' } }).effects).toEqual(
      [],
    );
  });

  it('says it in one RESUME or in several, and is ready with the last', () => {
    const device = given(newest, claimed, resume(['a'], [], true));
    expect(device.phase).toBe('RESUMING');
    expect(device.when(resume(['b'], ['c']))).toMatchObject({
      phase: 'READY',
      effects: [
        { kind: 'resume', running: ['b'], finished: ['c'] },
        { kind: 'send', message: { type: 'resumed', status: 'ok' } },
        { kind: 'open' },
      ],
    });
  });

  it('may not say it later, nor bring results before', () => {
    const outcome: CommandOutcome = { state: 'COMPLETED', result: 1, error: null, startedAt: null, durationMs: 1 };
    const results = message({ ...BASE, type: 'command_results', orrery: { command_id: 'c1', outcome } });
    expect(given(newest, claimed).when(results).effects).toEqual([error('RESUME comes first')]);
    expect(ready().when(resume()).effects).toEqual([error('RESUME comes once, before everything else')]);
  });

  it('that does not say it in time, or without an end, is sent away', () => {
    const device = given(newest, claimed);
    expect(device.when(tick, AIP_LIMITS.resumeWithinMs - 1).effects).toEqual([]);
    expect(device.when(tick, AIP_LIMITS.resumeWithinMs)).toEqual({
      phase: 'CLOSED',
      effects: [error('RESUME did not come in time'), closes(1008)],
    });
    const endless = given(newest, claimed, ...Array.from({ length: 63 }, () => resume([], [], true)));
    expect(endless.when(resume([], [], true))).toMatchObject({ phase: 'CLOSED', effects: [{}, closes(1008)] });
    const many = Array.from({ length: 1_000 }, (_, index) => `r.t${index}.1.0.0`);
    const crowded = given(newest, claimed, resume(many, [], true));
    expect(crowded.when(resume(many))).toMatchObject({ phase: 'CLOSED', effects: [{}, closes(1008)] });
  });

  it('tells how it is doing; it is heard every ten seconds, whatever it sends', () => {
    const told = message({ ...BASE, type: 'heartbeat', orrery: { metrics } });
    expect(ready().when(told).effects).toEqual([ok, { kind: 'metrics', metrics }]);
    const again = given(newest, claimed, resume(), told);
    expect(again.when(told, AIP_LIMITS.metricsEveryMs - 1).effects).toEqual([ok]);
    expect(again.when(told, AIP_LIMITS.metricsEveryMs).effects).toEqual([ok, { kind: 'metrics', metrics }]);
    expect(given(ours, claimed).when(told).effects).toEqual([ok]);
  });

  it('may say anew what it is', () => {
    const info = message({ ...BASE, type: 'device_info_response', orrery: { telemetry: TELEMETRY, metrics } });
    expect(ready().when(info).effects).toEqual([
      { kind: 'telemetry', telemetry: TELEMETRY },
      { kind: 'metrics', metrics },
    ]);
    expect(given(newest, claimed, resume(), info).when(info).effects).toEqual([]);
  });

  it('sends live output in pieces', () => {
    const output = (text: string) =>
      message({ ...BASE, type: 'command_output', orrery: { command_id: 'c1', stream: 'stdout', offset: 7, text } });
    expect(ready().when(output('x')).effects).toEqual([
      { kind: 'output', commandId: 'c1', piece: { stream: 'stdout', offset: 7, text: 'x' } },
    ]);
    expect(ready().when(output('x'.repeat(AIP_LIMITS.outputChunkCharsMax + 1))).effects).toEqual([
      error('a piece of output has at most 16384 characters'),
    ]);
  });

  it('speaks of files only when it is ready', () => {
    const transfer = { transfer_id: 't1', command_id: 'c1', sha256: 'a'.repeat(64) };
    const file = message({ ...BASE, type: 'file_request', orrery: transfer });
    expect(ready().when(file).effects).toEqual([
      { kind: 'file', message: expect.objectContaining({ orrery: transfer }) },
    ]);
    expect(given(newest, claimed).when(file).effects).toEqual([error('RESUME comes first')]);
    expect(given(ours, claimed).when(file).effects).toEqual([error('file_request needs revision 2')]);
  });

  it('is closed when its numbers do not fit, or when it takes nothing', () => {
    expect(ready().when({ kind: 'gap', error: 'frame 5 came' })).toEqual({
      phase: 'CLOSED',
      effects: [error('frame 5 came'), closes(1002)],
    });
    expect(ready().when({ kind: 'unacknowledged' })).toEqual({ phase: 'CLOSED', effects: [closes(4003)] });
  });
});

describe('a credential', () => {
  const AT_1000: Identity = { ...IDENTITY, expiresAt: new Date(1_000).toISOString() };
  const AT_2000: Identity = { ...IDENTITY, expiresAt: new Date(2_000).toISOString() };
  const renewal = message({ ...BASE, type: 'credential', orrery: { credential: 'secret' } });
  const identified = (identity: Identity | null): SessionInput => ({
    kind: 'identified',
    identity,
    error: 'not valid',
  });
  const ready = (...inputs: SessionInput[]) => opened(AT_1000, newest, claimed, resume(), ...inputs);

  it('ends the connection when it expires, whatever it is doing', () => {
    for (const device of [opened(AT_1000), opened(AT_1000, foreign), ready()]) {
      expect(device.when(tick, 999).phase).not.toBe('CLOSED');
      expect(device.when(tick, 1_000)).toEqual({ phase: 'CLOSED', effects: [closes(4002)] });
    }
  });

  it('is said with the confirmation', () =>
    expect(opened(AT_1000, newest).when(claimed).effects).toMatchObject([
      { message: { orrery: { credential_until: '1970-01-01T00:00:01.000Z' } } },
    ]));

  it('may be renewed without a new connection', () => {
    expect(ready().when(renewal).effects).toEqual([{ kind: 'identify', credential: 'secret' }]);
    expect(ready(renewal).when(identified(AT_2000)).effects).toMatchObject([
      { message: { type: 'heartbeat', orrery: { credential_until: '1970-01-01T00:00:02.000Z' } } },
    ]);
    const renewed = ready(renewal, identified(AT_2000));
    expect(renewed.when(tick, 1_999).phase).toBe('READY');
    expect(renewed.when(tick, 2_000).phase).toBe('CLOSED');
  });

  it.each([
    ['that is none', null, 'not valid'],
    ['of another device', { ...AT_2000, id: 'web-2' }, 'the credential is not that of this device'],
    ['of a client', { ...AT_2000, role: 'constellation' } as const, 'the credential is not that of this device'],
  ])('%s changes nothing', (_, identity, text) => {
    expect(ready(renewal).when(identified(identity)).effects).toEqual([error(text)]);
    expect(ready(renewal, identified(identity)).when(tick, 1_000).phase).toBe('CLOSED');
  });

  it('is looked at one after the other', () =>
    expect(ready(renewal).when(renewal).effects).toEqual([error('a credential is being checked already')]));

  it('is checked once in a second: the registry signs for everybody', () => {
    const again = ready(renewal, identified(AT_2000));
    const tooSoon = 'a credential was checked a moment ago, send it again later';
    expect(again.when(renewal, 999).effects).toEqual([error(tooSoon)]);
    expect(again.when(renewal, 1_000).effects).toEqual([{ kind: 'identify', credential: 'secret' }]);
  });

  it('that nobody asked about changes nothing', () =>
    expect(ready().when(identified(AT_2000))).toEqual({ phase: 'READY', effects: [] }));

  it('that is revoked ends the connection', () =>
    expect(ready().when({ kind: 'revoked' })).toEqual({ phase: 'CLOSED', effects: [closes(4001)] }));
});

describe('a registered device', () => {
  const ready = () => given(ours, claimed);
  const outcome: CommandOutcome = { state: 'COMPLETED', result: 1, error: null, startedAt: null, durationMs: null };
  const results = (change: object) => message({ ...BASE, type: 'command_results', ...change });

  it('gets an answer to every heartbeat, whatever role and name it carries', () => {
    expect(ready().when(heartbeat).effects).toEqual([ok]);
    const odd = message({ ...BASE, type: 'heartbeat', client_type: 'constellation', client_id: 'x' });
    expect(ready().when(odd).effects).toEqual([ok]);
  });

  it('keeps its connection after a frame that is no message', () =>
    expect(ready().when({ kind: 'unreadable', error: 'not JSON' })).toEqual({
      phase: 'READY',
      effects: [error('not JSON')],
    }));

  it('reports outcomes and progress', () => {
    expect(ready().when(results({ orrery: { command_id: 'c1', outcome } })).effects).toEqual([
      { kind: 'result', commandId: 'c1', outcome },
    ]);
    const progress = (state: 'queued' | 'running') =>
      message({ ...BASE, type: 'command_progress', orrery: { command_id: 'c1', state } });
    expect(ready().when(progress('running')).effects).toEqual([{ kind: 'started', commandId: 'c1' }]);
    expect(ready().when(progress('queued')).effects).toEqual([]);
  });

  it('may not report in the name of another', () =>
    expect(ready().when(results({ client_id: 'web-2', orrery: { command_id: 'c1', outcome } })).effects).toEqual([
      error('client_id does not match the registered connection'),
    ]));

  it('may not say that it is something else than it is', () =>
    expect(
      ready().when(results({ client_type: 'constellation', orrery: { command_id: 'c1', outcome } })).effects,
    ).toEqual([error('client_type does not match the registered connection')]));

  it('starts no tasks; who sends one is told so in the words that it waits for', () => {
    const task = message({ ...BASE, type: 'task', session_id: 's@1', request: 'do it' });
    const refused = { type: 'task_end', status: 'failed', session_id: 's@1', error: expect.any(String) };
    for (const device of [ready(), given(foreign), given(ours)]) {
      expect(device.when(task).effects).toEqual([{ kind: 'send', message: expect.objectContaining(refused) }]);
    }
    const forged = message({ ...BASE, type: 'task', client_id: 'web-2', session_id: 's@1' });
    expect(ready().when(forged).effects).toEqual([{ kind: 'send', message: expect.objectContaining(refused) }]);
  });

  it('asks for nothing about other devices', () =>
    expect(ready().when(message({ ...BASE, type: 'device_info_request', target_id: 'web-2' })).effects).toEqual([
      error('a device client may not send device_info_request'),
    ]));

  it('may acknowledge the end of a task, and nothing follows', () =>
    expect(ready().when(message({ ...BASE, type: 'task_end', client_id: null })).effects).toEqual([]));

  it('may not report before its registration is confirmed', () =>
    expect(given(ours).when(results({ orrery: { command_id: 'c1', outcome } })).effects).toEqual([
      error('the registration is not confirmed yet'),
    ]));

  it('is told when a result belongs to no command', () =>
    expect(ready().when(results({ action_results: [] })).effects).toEqual([
      error('command_results need prev_response_id'),
    ]));

  it('complains without being echoed, or two echoing ends would never stop', () =>
    expect(ready().when(message({ ...BASE, type: 'error', error: 'disk full' })).effects).toEqual([
      { kind: 'complaint', error: 'disk full' },
    ]));

  it('is closed when a newer connection has the session, and when the gateway stops', () => {
    expect(ready().when({ kind: 'replaced' })).toEqual({ phase: 'CLOSED', effects: [closes(4000)] });
    expect(ready().when({ kind: 'shutdown' })).toEqual({ phase: 'CLOSED', effects: [closes(1001)] });
  });

  it('that is gone has no effects any more', () => {
    const gone = given(ours, claimed, { kind: 'closed' });
    expect(gone.phase).toBe('CLOSED');
    expect(gone.when(heartbeat)).toEqual({ phase: 'CLOSED', effects: [] });
  });

  it('that is foreign cannot claim the fields of our devices', () => {
    const client = given(foreign, tools, claimed);
    const forged = results({ prev_response_id: 'c1', orrery: { command_id: 'c2', outcome }, action_results: [] });
    expect(client.when(forged).effects).toMatchObject([
      { kind: 'result', commandId: 'c1', outcome: { state: 'OUTCOME_UNKNOWN' } },
    ]);
  });
});
