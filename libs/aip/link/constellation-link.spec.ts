import { describe, expect, it } from '@jest/globals';
import { ServerMessage } from '#proto';
import { ConstellationLink } from './constellation-link.js';

const from = (type: string, fields: object = {}): ServerMessage =>
  ServerMessage.parse({ type, status: type === 'error' ? 'error' : 'ok', ...fields });
const confirmed = from('heartbeat');
const error = (fields: object = {}) => from('error', { error: 'no', ...fields });

const fresh = (): ConstellationLink => new ConstellationLink({ clientId: 'r@d1', targetId: 'd1' }, 0);
function ready(): ConstellationLink {
  const link = fresh();
  expect(link.take(confirmed, 0)).toEqual([{ kind: 'registered' }]);
  return link;
}
const call = (sessionId: string) => ({ sessionId, name: 't', request: 'do it' });
const lost = (why: string) => ({ status: 'unknown', result: null, error: why });

describe('the registration', () => {
  it('says who and for which device, and is confirmed by a heartbeat', () => {
    expect(fresh().register(0)).toEqual({
      type: 'register',
      status: 'ok',
      client_type: 'constellation',
      client_id: 'r@d1',
      target_id: 'd1',
      timestamp: '1970-01-01T00:00:00.000Z',
    });
    expect(ready().isReady).toBe(true);
  });

  it.each([
    ['an error', (link: ConstellationLink) => link.take(error(), 0), 'no'],
    ['silence', (link: ConstellationLink) => link.tick(30_000), 'the server did not answer REGISTER in time'],
    ['the end', (link: ConstellationLink) => link.close('gone'), 'gone'],
  ])('is refused by %s', (_, happens, why) => {
    const link = fresh();
    expect(link.tick(29_999)).toEqual([]);
    expect(happens(link)).toEqual([{ kind: 'refused', error: why }]);
    expect(link.isReady).toBe(false);
    expect(link.take(confirmed, 0)).toEqual([]);
  });
});

describe('a task', () => {
  it('is sent as UFO sends it, with the exact command when there is one', () => {
    const command = { tool: 'EXEC_CLI', arguments: { command: 'uname' } };
    expect(ready().task({ ...call('s1'), targetId: 'd2', command }, 0)).toMatchObject({
      type: 'task',
      status: 'continue',
      session_id: 's1',
      task_name: 't',
      request: 'do it',
      target_id: 'd2',
      metadata: { orrery: { command } },
    });
    expect(ready().task(call('s1'), 0)).not.toHaveProperty('metadata');
  });

  it('ends with its TASK_END, once, acknowledged or not', () => {
    const link = ready();
    link.task(call('s1'), 0);
    link.task(call('s2'), 0);
    expect(link.take(from('heartbeat', { session_id: 's2' }), 0)).toEqual([{ kind: 'acknowledged', sessionId: 's2' }]);
    const end = from('task_end', { status: 'completed', session_id: 's1', result: [1] });
    expect(link.take(end, 0)).toEqual([
      { kind: 'task-ended', sessionId: 's1', end: { status: 'completed', result: [1], error: null } },
    ]);
    expect(link.take(end, 0)).toEqual([]);
  });

  it('is not sent under the id of one that is open, nor when too many are', () => {
    const link = ready();
    link.task(call('s1'), 0);
    expect(link.task(call('s1'), 0)).toBeUndefined();
    for (let count = 1; count < 1_024; count++) link.task(call(`t${count}`), 0);
    expect(link.task(call('s2'), 0)).toBeUndefined();
    expect(link.deviceInfo('q', undefined, 0)).toBeUndefined();
  });

  it('is unknown when the connection ends, and when nobody answers', () => {
    const link = ready();
    link.task(call('s1'), 0);
    expect(link.tick(1_009_999)).toEqual([]);
    expect(link.tick(1_010_000)).toEqual([
      { kind: 'task-ended', sessionId: 's1', end: lost('the server did not answer in time') },
    ]);
    link.task(call('s2'), 0);
    expect(link.close('cut')).toEqual([{ kind: 'task-ended', sessionId: 's2', end: lost('cut') }]);
  });
});

describe('an ERROR', () => {
  const failed = (sessionId: string) => ({
    kind: 'task-ended',
    sessionId,
    end: { status: 'failed', result: null, error: 'no' },
  });

  it('of a server that sends no TASK_END ends the task that waits longest for an answer, after a moment', () => {
    const link = ready();
    for (const sessionId of ['s1', 's2', 's3']) link.task(call(sessionId), 0);
    link.take(from('heartbeat', { session_id: 's1' }), 0);
    expect(link.take(error(), 10)).toEqual([{ kind: 'complaint', error: 'no' }]);
    expect(link.tick(2_009)).toEqual([]);
    expect(link.tick(2_010)).toEqual([failed('s2')]);
    link.take(error(), 3_000);
    expect(link.tick(5_000)).toEqual([failed('s3')]);
  });

  it('that names its task is about that one; what comes after it counts more', () => {
    const link = ready();
    link.task(call('s1'), 0);
    link.task(call('s2'), 0);
    link.take(error({ session_id: 's2' }), 0);
    link.take(error({ session_id: 'nobody' }), 0);
    expect(link.take(from('task_end', { status: 'failed', session_id: 's2', error: 'because' }), 1)).toMatchObject([
      { sessionId: 's2', end: { error: 'because' } },
    ]);
    link.take(error({ session_id: 's1' }), 0);
    link.take(from('heartbeat', { session_id: 's1' }), 1);
    expect(link.tick(10_000)).toEqual([]);
  });

  it('is not taken for the answer to a heartbeat, on which nothing hangs', () => {
    const link = ready();
    link.heartbeat(0);
    link.task(call('s1'), 0);
    link.take(error(), 0);
    expect(link.tick(2_000)).toEqual([failed('s1')]);
    expect(link.take(from('heartbeat'), 0)).toEqual([]);
    expect(link.take(error(), 0)).toEqual([{ kind: 'complaint', error: 'no' }]);
    expect(link.tick(2_000_000)).toEqual([]);
  });
});

describe('a question for a device', () => {
  it('is answered under its own id', () => {
    const link = ready();
    expect(link.deviceInfo('q1', undefined, 0)).toMatchObject({ type: 'device_info_request', target_id: 'd1' });
    link.deviceInfo('q2', 'd2', 0);
    const answer = from('device_info_response', { response_id: 'q2', result: { platform: 'linux' } });
    expect(link.take(answer, 0)).toEqual([{ kind: 'device-info', requestId: 'q2', info: { platform: 'linux' } }]);
    expect(link.take(answer, 0)).toEqual([]);
  });

  it('fails when it is refused, when nobody answers, and when the connection ends', () => {
    const link = ready();
    link.deviceInfo('q1', undefined, 0);
    link.deviceInfo('q2', undefined, 0);
    link.task(call('s1'), 0);
    expect(link.take(error({ response_id: 'q2' }), 0)).toEqual([
      { kind: 'device-info-failed', requestId: 'q2', error: 'no' },
    ]);
    expect(link.tick(10_000)).toMatchObject([{ kind: 'device-info-failed', requestId: 'q1' }]);
    link.deviceInfo('q3', undefined, 0);
    expect(link.close('cut')).toMatchObject([{ kind: 'task-ended' }, { kind: 'device-info-failed', error: 'cut' }]);
  });
});

it('what a server sends on top is left alone', () => {
  expect(ready().take(from('command', { actions: [] }), 0)).toEqual([]);
});
