import { describe, expect, it } from '@jest/globals';
import { AIP_LIMITS, ClientMessage } from '#proto';
import { CLIENT_WAITS_MS, constellationStep } from './constellation-session.js';
import { openConstellationSession } from './constellation-state.js';
import type {
  ConstellationEffect,
  ConstellationIdentity,
  ConstellationInput,
  ConstellationSession,
} from './constellation-state.js';

const ANY: ConstellationIdentity = { id: 'galaxy', targets: null, expiresAt: null };
const ONLY_D1: ConstellationIdentity = { ...ANY, targets: ['d1'] };

const message = (type: string, fields: object = {}): ConstellationInput => ({
  kind: 'message',
  message: ClientMessage.parse({
    type,
    status: 'ok',
    client_type: 'constellation',
    client_id: 'r@d1',
    ...fields,
  }),
});
const register = message('register');
const task = (sessionId: string | null, fields: object = {}) =>
  message('task', { session_id: sessionId, target_id: 'd1', request: 'do it', task_name: 'galaxy/r/t', ...fields });
const target = (sessionId: string | null, state: 'connected' | 'not-connected' | 'unknown' = 'connected') =>
  ({ kind: 'target', sessionId, state }) as const;
const accepted = (sessionId: string) => ({ kind: 'accepted', sessionId, runId: `run-${sessionId}` }) as const;
const ended = (sessionId: string) =>
  ({ kind: 'ended', sessionId, status: 'completed', result: { stdout: 'hi' }, error: null }) as const;
/** All that makes a TASK run. */
const running = (sessionId: string) => [task(sessionId), target(sessionId), accepted(sessionId)];

/** Folds the given inputs (all at 0 ms); `when` gives the effects of the last one. */
function given(inputs: readonly ConstellationInput[] = [], identity = ANY) {
  const session = inputs.reduce<ConstellationSession>(
    (state, input) => constellationStep(state, input, 0)[0],
    openConstellationSession(identity, 0),
  );
  return {
    phase: session.phase,
    when: (input: ConstellationInput, nowMs = 0): { phase: string; effects: readonly ConstellationEffect[] } => {
      const [next, effects] = constellationStep(session, input, nowMs);
      return { phase: next.phase, effects };
    },
  };
}

const sends = (fields: object) => ({ kind: 'send', message: expect.objectContaining(fields) });
const error = (text: string | RegExp) => sends({ type: 'error', error: expect.stringMatching(text) });
const fails = (sessionId: string, text: string | RegExp) =>
  sends({ type: 'task_end', status: 'failed', session_id: sessionId, error: expect.stringMatching(text), result: [] });
const ack = (sessionId: string) => sends({ type: 'heartbeat', status: 'ok', session_id: sessionId });
const closes = (code: number) => ({ kind: 'close', code, reason: expect.any(String) });

describe('REGISTER of a constellation client', () => {
  it('is confirmed at once when it names no device', () =>
    expect(given().when(register)).toEqual({
      phase: 'READY',
      effects: [
        {
          kind: 'send',
          message: {
            type: 'heartbeat',
            status: 'ok',
            timestamp: '1970-01-01T00:00:00.000Z',
            response_id: 'answer-1',
          },
        },
      ],
    }));

  it('with a device is confirmed when that one is connected', () => {
    const named = message('register', { target_id: 'd1' });
    expect(given().when(named)).toEqual({
      phase: 'CHECKING',
      effects: [{ kind: 'lookUp', sessionId: null, deviceId: 'd1' }],
    });
    expect(given([named]).when(target(null))).toEqual({ phase: 'READY', effects: [sends({ status: 'ok' })] });
  });

  it.each([
    ['is not connected', 'd1', 'not-connected'],
    ['is not one of its own', 'd2', 'connected'],
  ] as const)('with a device that %s is refused with the same words', (_, deviceId, state) =>
    expect(given([message('register', { target_id: deviceId })], ONLY_D1).when(target(null, state))).toEqual({
      phase: 'CLOSED',
      effects: [error(`^Target device '${deviceId}' is not connected, or this client may not use it$`), closes(1000)],
    }),
  );

  it('with a device of which nobody can say anything is sent away to try again', () =>
    expect(given([message('register', { target_id: 'd1' })]).when(target(null, 'unknown'))).toEqual({
      phase: 'CLOSED',
      effects: [error('try again'), closes(1013)],
    }));

  it('without a name is taken: its credential names it', () =>
    expect(given().when(message('register', { client_id: null })).phase).toBe('READY'));

  it('as a device is refused', () =>
    expect(given().when(message('register', { client_type: 'device' }))).toEqual({
      phase: 'CLOSED',
      effects: [error('client_type must be constellation'), closes(1008)],
    }));

  it('for the second time changes nothing', () =>
    expect(given([register, ...running('s1')]).when(register)).toEqual({
      phase: 'READY',
      effects: [error('already registered')],
    }));

  it('is waited for, but not for ever', () => {
    expect(given().when({ kind: 'tick' }, AIP_LIMITS.registerWithinMs - 1).effects).toEqual([]);
    expect(given().when({ kind: 'tick' }, AIP_LIMITS.registerWithinMs)).toMatchObject({
      phase: 'CLOSED',
      effects: [{}, closes(1008)],
    });
  });

  it('comes first: a TASK before it ends as failed, and so does the connection', () =>
    expect(given().when(task('s1'))).toEqual({
      phase: 'CLOSED',
      effects: [fails('s1', 'REGISTER comes first'), error('REGISTER comes first'), closes(1002)],
    }));

  it('comes first: anything else is answered and closed, in words that fit into a close frame', () => {
    expect(given().when(message('heartbeat'))).toMatchObject({ phase: 'CLOSED', effects: [{}, closes(1002)] });
    const unreadable = { kind: 'unreadable', error: 'ü'.repeat(500), taskSessionId: null } as const;
    const { effects } = given().when(unreadable);
    const [, close] = effects;
    expect(close?.kind === 'close' && Buffer.byteLength(close.reason)).toBeLessThanOrEqual(123);
  });

  it('that is not confirmed yet lets nothing through', () => {
    const checking = given([message('register', { target_id: 'd1' })]);
    expect(checking.when(task('s1')).effects).toEqual([error('not confirmed'), fails('s1', 'not confirmed')]);
    expect(checking.when(message('heartbeat')).effects).toEqual([error('not confirmed')]);
  });
});

describe('a TASK', () => {
  it('is looked up, submitted, acknowledged when it is a run, and followed', () => {
    expect(given([register]).when(task('s1')).effects).toEqual([{ kind: 'lookUp', sessionId: 's1', deviceId: 'd1' }]);
    expect(given([register, task('s1')]).when(target('s1')).effects).toEqual([
      {
        kind: 'submit',
        label: 'r@d1',
        task: { sessionId: 's1', deviceId: 'd1', name: 'galaxy_r_t', request: 'do it', command: null },
      },
    ]);
    expect(given([register, task('s1'), target('s1')]).when(accepted('s1')).effects).toEqual([
      ack('s1'),
      { kind: 'follow', sessionId: 's1', runId: 'run-s1' },
    ]);
  });

  it('ends with what was asked and what came of it', () => {
    expect(given([register, ...running('s1')]).when(ended('s1')).effects).toEqual([
      sends({
        type: 'task_end',
        status: 'completed',
        session_id: 's1',
        error: null,
        result: [{ request: 'do it', result: { stdout: 'hi' } }],
      }),
    ]);
    const failed = { kind: 'ended', sessionId: 's1', status: 'failed', result: 'half', error: 'no' } as const;
    expect(given([register, ...running('s1')]).when(failed).effects).toEqual([
      sends({ status: 'failed', error: 'no', result: [{ request: 'do it', result: 'half' }] }),
    ]);
  });

  it('does not end before it has begun', () => {
    expect(given([register, task('s1'), target('s1')]).when(ended('s1')).effects).toEqual([]);
    expect(given([register, task('s1')]).when(accepted('s1')).effects).toEqual([]);
    expect(given([register, ...running('s1')]).when(target('s1', 'not-connected')).effects).toEqual([]);
  });

  it('ends once', () => {
    const over = given([register, ...running('s1'), ended('s1')]);
    expect(over.when(ended('s1')).effects).toEqual([]);
    expect(over.when({ kind: 'refused', sessionId: 's1', error: 'no' }).effects).toEqual([]);
  });

  it('goes to the device of the registration when it names none', () => {
    const registered = [message('register', { target_id: 'd1' }), target(null)];
    expect(given(registered).when(task('s1', { target_id: null })).effects).toMatchObject([{ deviceId: 'd1' }]);
  });

  it('may carry the exact command instead of words', () => {
    const command = { tool: 'EXEC_CLI', arguments: { command: 'uname' } };
    const exact = task('s1', { request: null, metadata: { orrery: { command } } });
    expect(given([register, exact]).when(target('s1')).effects).toMatchObject([{ task: { command, request: '' } }]);
  });

  it('without a session id gets one, which its acknowledgement names', () => {
    const { effects } = given([register]).when(task(null));
    const [lookUp] = effects;
    const sessionId = lookUp?.kind === 'lookUp' ? (lookUp.sessionId ?? '') : '';
    expect(sessionId).not.toBe('');
    expect(given([register, task(null), target(sessionId)]).when(accepted(sessionId)).effects[0]).toEqual(
      ack(sessionId),
    );
    const [other] = given([register, task(null)]).when(task(null)).effects;
    expect(other?.kind === 'lookUp' && other.sessionId !== sessionId).toBe(true);
  });

  it.each([
    ['galaxy/run/task', 'galaxy_run_task'],
    ['../../etc/x', '_.._etc_x'],
    ['a b\n\u202e', 'a_b__'],
    ['', 's1'],
    [null, 's1'],
    ['...', 'task'],
  ])('named %j is called %j', (name, safe) => {
    const named = task('s1', { task_name: name });
    expect(given([register, named]).when(target('s1')).effects).toMatchObject([{ task: { name: safe } }]);
  });
});

describe('a TASK that is refused always gets its TASK_END', () => {
  it.each([
    ['as a device', { client_type: 'device' }, 'client_type does not match the registered connection'],
    ['as another client', { client_id: 'r@d2' }, 'client_id does not match the registered connection'],
    ['for no device', { target_id: null }, 'target_id is missing'],
  ])('sent %s, beside ERROR', (_, fields, text) =>
    expect(given([register]).when(task('s1', fields)).effects).toEqual([error(text), fails('s1', text)]),
  );

  it.each([
    ['without words', { request: null }, 'request is missing'],
    ['with empty words', { request: '' }, 'request is missing'],
    ['with too many words', { request: 'x'.repeat(20_001) }, 'at most 20000 characters'],
  ])('%s, without ERROR', (_, fields, text) =>
    expect(given([register]).when(task('s1', fields)).effects).toEqual([
      sends({ type: 'task_end', status: 'failed', session_id: 's1', error: expect.stringMatching(text) }),
    ]),
  );

  it.each([
    ['not connected', 'd1', 'not-connected'],
    ['not one of its own', 'd2', 'connected'],
    ['none at all', 'no such', 'not-connected'],
  ] as const)('for a device that is %s, in the same words', (_, deviceId, state) => {
    const text = `^Target device '${deviceId}' is not connected, or this client may not use it$`;
    const sent = task('s1', { target_id: deviceId });
    expect(given([register, sent], ONLY_D1).when(target('s1', state)).effects).toEqual([
      error(text),
      sends({ type: 'task_end', status: 'failed', session_id: 's1', error: expect.stringMatching(text) }),
    ]);
  });

  it('when nobody can say whether its device is there, or nobody takes requests', () => {
    expect(given([register, task('s1')]).when(target('s1', 'unknown')).effects).toMatchObject([
      { message: { type: 'task_end', status: 'failed', session_id: 's1' } },
    ]);
    const refused = { kind: 'refused', sessionId: 's1', error: 'try again' } as const;
    expect(given([register, task('s1'), target('s1')]).when(refused).effects).toMatchObject([
      { message: { type: 'task_end', status: 'failed', session_id: 's1', error: 'try again' } },
    ]);
  });

  it('when it is no readable message', () =>
    expect(given([register]).when({ kind: 'unreadable', error: 'bad', taskSessionId: 's1' }).effects).toEqual([
      error('bad'),
      fails('s1', 'bad'),
    ]));

  it('when too many are open', () => {
    const many = Array.from({ length: AIP_LIMITS.tasksOpenMax }, (_, index) => task(`s${index}`));
    expect(given([register, ...many]).when(task('one-more')).effects).toMatchObject([
      { message: { type: 'task_end', session_id: 'one-more', error: expect.stringContaining('256 tasks are open') } },
    ]);
    expect(given([register, ...many.slice(1)]).when(task('one-more')).effects).toMatchObject([{ kind: 'lookUp' }]);
  });

  it('when what is open asks for too much: a client may not fill the memory of the gateway', () => {
    const large = (bytes: number) => ({
      metadata: { orrery: { command: { tool: 'T', arguments: { text: 'x'.repeat(bytes) } } } },
    });
    const mib = 1_000 * 1_000;
    const many = Array.from({ length: 16 }, (_, index) => task(`s${index}`, large(mib)));
    expect(given([register, ...many]).when(task('one-more', large(mib))).effects).toEqual([
      fails('one-more', /have 16777216 characters together/u),
    ]);
    expect(given([register, ...many]).when(task('small')).effects).toMatchObject([{ kind: 'lookUp' }]);
    expect(given([register]).when(task('alone', large(2 * mib))).effects).toEqual([
      fails('alone', 'a task has at most 1048576 characters'),
    ]);
  });

  it('and may be sent again: nothing ran', () =>
    expect(given([register, task('s1'), target('s1', 'not-connected')]).when(task('s1')).effects).toMatchObject([
      { kind: 'lookUp', sessionId: 's1' },
    ]));
});

describe('a TASK that comes twice', () => {
  it.each([
    ['as a device', task('s1', { client_type: 'device' })],
    ['as no readable message', { kind: 'unreadable', error: 'bad', taskSessionId: 's1' }],
  ] as [string, ConstellationInput][])(
    'is told what is wrong when it comes %s; the open one keeps its own end',
    (_, input) => expect(given([register, ...running('s1')]).when(input).effects).toEqual([error('.')]),
  );

  it('is acknowledged again while it runs, and runs once', () => {
    expect(given([register, ...running('s1')]).when(task('s1')).effects).toEqual([ack('s1')]);
    expect(given([register, task('s1')]).when(task('s1')).effects).toEqual([]);
  });

  it('gets the very same TASK_END again when it has ended', () => {
    const before = given([register, ...running('s1')]).when(ended('s1')).effects;
    expect(given([register, ...running('s1'), ended('s1')]).when(task('s1'), 99).effects).toEqual(before);
  });

  it('with another content is told so; the open one keeps its own end', () => {
    const other = task('s1', { request: 'something else' });
    expect(given([register, ...running('s1')]).when(other).effects).toEqual([
      sends({ type: 'error', session_id: 's1', error: expect.stringMatching('in use for another task') }),
    ]);
    expect(given([register, ...running('s1'), ended('s1')]).when(other).effects).toEqual([
      error('has been used for another task'),
      fails('s1', 'has been used for another task'),
    ]);
  });

  it('is remembered for as many tasks as the limit says', () => {
    const many = Array.from({ length: AIP_LIMITS.tasksEndedMax + 1 }, (_, index) => `s${index}`);
    const over = given([register, ...many.flatMap((id) => [...running(id), ended(id)])]);
    expect(over.when(task('s0')).effects).toMatchObject([{ kind: 'lookUp' }]);
    expect(over.when(task('s1')).effects).toMatchObject([{ message: { type: 'task_end', session_id: 's1' } }]);
  });

  it('is remembered no longer than memory allows', () => {
    const large = (id: string): ConstellationInput => ({ ...ended(id), result: { stdout: 'x'.repeat(3_000_000) } });
    const over = given([register, ...['a', 'b', 'c'].flatMap((id) => [...running(id), large(id)])]);
    expect(over.when(task('a')).effects).toMatchObject([{ kind: 'lookUp' }]);
    expect(over.when(task('c')).effects).toMatchObject([{ message: { type: 'task_end', session_id: 'c' } }]);
  });
});

describe('a registered constellation client', () => {
  it('gets an answer to every heartbeat, whatever role and name it carries', () => {
    const heartbeat = message('heartbeat', { client_type: 'device', client_id: 'somebody' });
    expect(given([register]).when(heartbeat).effects).toEqual([sends({ type: 'heartbeat', status: 'ok' })]);
  });

  it('is told of a device what is known', () => {
    const question = message('device_info_request', { target_id: 'd1', request_id: 'q1' });
    expect(given([register]).when(question).effects).toEqual([{ kind: 'deviceInfo', requestId: 'q1', deviceId: 'd1' }]);
    const info = { kind: 'device-info', requestId: 'q1', deviceId: 'd1', info: { platform: 'linux' } } as const;
    expect(given([register, question]).when(info).effects).toEqual([
      sends({ type: 'device_info_response', status: 'ok', response_id: 'q1', result: { platform: 'linux' } }),
    ]);
  });

  it('learns nothing of a device that it may not use', () => {
    const answers = (deviceId: string, info: { platform: string } | null) =>
      given([register, message('device_info_request', { target_id: deviceId, request_id: 'q1' })], ONLY_D1).when({
        kind: 'device-info',
        requestId: 'q1',
        deviceId,
        info,
      }).effects;
    const unknown = JSON.stringify(answers('d9', null)).replaceAll('d9', 'X');
    expect(JSON.stringify(answers('d2', { platform: 'linux' })).replaceAll('d2', 'X')).toBe(unknown);
    expect(unknown).toContain('"result":{"error":');
  });

  it('asks for as many devices at once as the limit says', () => {
    const question = message('device_info_request', { target_id: 'd1', request_id: 'q1' });
    const asked = Array.from({ length: 16 }, () => question);
    expect(given([register, ...asked]).when(question).effects).toEqual([error('too many questions')]);
    const info = { kind: 'device-info', requestId: 'q1', deviceId: 'd1', info: null } as const;
    expect(given([register, ...asked, info]).when(question).effects).toMatchObject([{ kind: 'deviceInfo' }]);
  });

  it.each([
    ['as a device', { client_type: 'device', target_id: 'd1' }, 'client_type does not match'],
    ['as another client', { client_id: 'other', target_id: 'd1' }, 'client_id does not match'],
    ['for no device', {}, 'target_id is missing'],
  ])('asks in vain %s', (_, fields, text) =>
    expect(given([register]).when(message('device_info_request', fields)).effects).toEqual([error(text)]),
  );

  it.each([
    ['command_results', {}],
    ['device_info_response', {}],
    ['command_progress', { orrery: { command_id: 'c', state: 'running' } }],
    ['command_output', { orrery: { command_id: 'c', stream: 'stdout', offset: 0, text: '' } }],
    ['resume', { orrery: { running: [], finished: [], more: false } }],
    ['ack', {}],
    ['credential', { orrery: { credential: 'x' } }],
    ['file_end', { orrery: { transfer_id: 't' } }],
  ])('may not send %s', (type, fields) =>
    expect(given([register]).when(message(type, fields)).effects).toEqual([
      error(type === 'resume' ? '.' : `a constellation client may not send ${type}`),
    ]),
  );

  it('may acknowledge TASK_END and complain', () => {
    expect(given([register]).when(message('task_end', { session_id: 's1' })).effects).toEqual([]);
    expect(given([register]).when(message('error', { error: 'boom' })).effects).toEqual([
      { kind: 'complaint', error: 'boom' },
    ]);
  });

  it('keeps its connection after a frame that is no message', () =>
    expect(given([register]).when({ kind: 'unreadable', error: 'not JSON', taskSessionId: null })).toEqual({
      phase: 'READY',
      effects: [error('not JSON')],
    }));
});

describe('the end of a connection', () => {
  const open = [register, ...running('s1'), task('s2'), target('s2'), task('s3')];

  it('cancels the tasks that may have a run', () =>
    expect(given(open).when({ kind: 'closed' })).toEqual({
      phase: 'CLOSED',
      effects: [
        { kind: 'cancel', sessionId: 's1' },
        { kind: 'cancel', sessionId: 's2' },
      ],
    }));

  it.each([
    ['the gateway stops', { kind: 'shutdown' }, 1001],
    ['the credential is revoked', { kind: 'revoked' }, 4001],
  ] as const)('because %s tells every task', (text, input, code) =>
    expect(given(open).when(input)).toEqual({
      phase: 'CLOSED',
      effects: [
        fails('s1', text),
        fails('s2', text),
        fails('s3', text),
        { kind: 'cancel', sessionId: 's1' },
        { kind: 'cancel', sessionId: 's2' },
        closes(code),
      ],
    }),
  );

  it('comes when the credential expires', () => {
    const identity = { ...ANY, expiresAt: '1970-01-01T00:00:10.000Z' };
    expect(given([register], identity).when({ kind: 'tick' }, 9_999).effects).toEqual([]);
    expect(given([register], identity).when({ kind: 'tick' }, 10_000)).toMatchObject({
      phase: 'CLOSED',
      effects: [closes(4002)],
    });
  });

  it('leaves nothing to be said', () => {
    const closed = given([...open, { kind: 'closed' }]);
    for (const input of [ended('s1'), accepted('s2'), target('s3'), task('s4'), { kind: 'closed' } as const]) {
      expect(closed.when(input)).toEqual({ phase: 'CLOSED', effects: [] });
    }
  });
});

describe('a task whose end never comes', () => {
  it('is given up when its client does, and cancelled', () => {
    const waiting = given([register, ...running('s1')]);
    expect(waiting.when({ kind: 'tick' }, CLIENT_WAITS_MS - 1).effects).toEqual([]);
    expect(waiting.when({ kind: 'tick' }, CLIENT_WAITS_MS).effects).toEqual([
      fails('s1', 'its end is not known after 1000 s'),
      { kind: 'cancel', sessionId: 's1' },
    ]);
  });
});
