import { describe, expect, it } from '@jest/globals';
import { AIP_LIMITS } from '#proto';
import type { ClientMessage, ClientTelemetry, CommandOutcome } from '#proto';
import { openSession, step, type Session, type SessionEffect, type SessionInput } from './session.js';

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
const ours = message({
  ...BASE,
  type: 'register',
  metadata: { orrery: { revision: 1, journal_id: 'j1', telemetry: TELEMETRY } },
});
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

/** Folds the given inputs (all at 0 ms); `when` gives the effects of the last one. */
function given(...inputs: SessionInput[]) {
  const session = inputs.reduce<Session>((state, input) => step(state, input, 0)[0], openSession('web-1', 0));
  return {
    phase: session.phase,
    when: (input: SessionInput, nowMs = 0): { phase: string; effects: SessionEffect[] } => {
      const [next, effects] = step(session, input, nowMs);
      return { phase: next.phase, effects };
    },
  };
}

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
      ],
    });
  });

  it('of a later revision is answered with the one we speak', () => {
    const later = message({
      ...BASE,
      type: 'register',
      metadata: { orrery: { revision: 7, journal_id: 'j1', telemetry: TELEMETRY } },
    });
    expect(given().when(later).effects).toMatchObject([{ client: { revision: 1 } }]);
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
    expect(given(foreign, tools).when(claimed)).toEqual({ phase: 'READY', effects: [] });
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
