import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AIP_LIMITS, ServerMessage } from '#proto';
import { linkedPair } from '../transport/linked-pair.js';
import type { Closed } from '../transport/transport.js';
import { ConstellationServerEndpoint } from './constellation-server.js';

const IDENTITY = { id: 'galaxy', targets: null, expiresAt: null };

type Call =
  | { readonly kind: 'lookUp'; readonly sessionId: string | null }
  | { readonly kind: 'submit' | 'follow' | 'cancel'; readonly sessionId: string };
type Host = (call: Call, server: ConstellationServerEndpoint) => void;

/** A server on one end of a linked pair; the other end is a client that says what the test says. */
function linked(host: Host = () => undefined) {
  const pair = linkedPair();
  const clock = { ms: 0, now: (): number => clock.ms };
  const received: ServerMessage[] = [];
  const calls: Call[] = [];
  const ends: Closed[] = [];
  const state = { paused: false, closed: 0, left: 0 };
  const seen: string[] = [];
  const { left } = pair;
  const paused = (is: boolean): void => {
    state.paused = is;
    if (is) left.pause();
    else left.resume();
  };
  const call = (made: Call): void => {
    calls.push(made);
    host(made, server);
  };
  const server: ConstellationServerEndpoint = new ConstellationServerEndpoint({
    identity: IDENTITY,
    transport: { ...left, pause: () => paused(true), resume: () => paused(false) },
    clock,
    port: {
      lookUp: ({ sessionId }) => call({ kind: 'lookUp', sessionId }),
      submit: ({ task: { sessionId } }) => call({ kind: 'submit', sessionId }),
      follow: ({ sessionId }) => call({ kind: 'follow', sessionId }),
      cancel: ({ sessionId }) => call({ kind: 'cancel', sessionId }),
      deviceInfo: () => undefined,
      left: () => void state.left++,
      closed: () => void state.closed++,
    },
    watch: {
      log: (event) => void seen.push(`${event.kind} ${'type' in event ? event.type : ''}`.trim()),
      count: (direction, type) => void seen.push(`${direction} ${type}`),
    },
  });
  pair.right.handle({
    frame: (text) => void received.push(ServerMessage.parse(JSON.parse(text ?? ''))),
    closed: (why) => void ends.push(why),
  });
  const say = (frame: object | string): void => {
    const base = { status: 'ok', client_type: 'constellation' };
    pair.right.send(typeof frame === 'string' ? frame : JSON.stringify({ ...base, ...frame }));
    pair.deliver();
  };
  return { pair, clock, server, received, calls, ends, state, seen, say };
}

const task = (sessionId: string, request = 'do it') => ({
  type: 'task',
  session_id: sessionId,
  target_id: 'd1',
  request,
});

describe('the server of a constellation client', () => {
  it('carries a TASK from its frame to its end, also when everything is answered at once', () => {
    const { say, received, calls } = linked(({ kind, sessionId }, server) => {
      if (kind === 'lookUp') server.input({ kind: 'target', sessionId, state: 'connected' });
      else if (kind === 'submit') server.input({ kind: 'accepted', sessionId, runId: 'r1' });
      else if (kind === 'follow')
        server.input({ kind: 'ended', sessionId, status: 'completed', result: 'done', error: null });
    });
    say({ type: 'register' });
    say(task('s1'));
    expect(calls.map(({ kind }) => kind)).toEqual(['lookUp', 'submit', 'follow']);
    expect(received).toMatchObject([
      { type: 'heartbeat' },
      { type: 'heartbeat', session_id: 's1' },
      { type: 'task_end', session_id: 's1', result: [{ request: 'do it', result: 'done' }] },
    ]);
  });

  it('ends a TASK that is no message, under its own id', () => {
    const { say, received, seen } = linked();
    say({ type: 'register' });
    say({ ...task('s1'), metadata: { orrery: { command: { tool: 'not a name' } } } });
    expect(received.slice(1)).toMatchObject([
      { type: 'error' },
      { type: 'task_end', status: 'failed', session_id: 's1', error: expect.stringContaining('metadata.orrery') },
    ]);
    expect(seen.slice(2)).toEqual(['in unreadable', 'out error', 'out task_end', 'refused unreadable']);
  });

  it('cancels when the cable is cut, and says so once', () => {
    const { say, pair, server, calls, state } = linked((call, current) => {
      if (call.kind === 'lookUp') current.input({ kind: 'target', sessionId: call.sessionId, state: 'connected' });
    });
    say({ type: 'register' });
    say(task('s1'));
    pair.cut();
    expect(calls.at(-1)).toEqual({ kind: 'cancel', sessionId: 's1' });
    expect(state).toMatchObject({ closed: 1, left: 1 });
    expect(server.phase).toBe('CLOSED');
  });

  it('reads no faster than it may', () => {
    const { say, state, clock, server } = linked();
    say({ type: 'register' });
    for (let frames = 1; frames < AIP_LIMITS.framesBurst; frames++) say({ type: 'heartbeat' });
    expect(state.paused).toBe(false);
    say({ type: 'heartbeat' });
    expect(state.paused).toBe(true);
    server.tick();
    expect(state.paused).toBe(true);
    clock.ms = 1;
    server.tick();
    expect(state.paused).toBe(false);
  });

  it('sends away with a reason that fits into a close frame', () => {
    const { say, ends } = linked();
    say(JSON.stringify({ type: 'ж'.repeat(300) }));
    expect(ends).toMatchObject([{ code: 1002 }]);
    expect(Buffer.byteLength(ends[0]?.reason ?? '')).toBeLessThanOrEqual(123);
  });
});

describe('whatever is sent and however it is answered', () => {
  const SEED = 20_261_121;
  const id = fc.constantFrom('a', 'b', 'c');
  const action = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('task' as const), id, request: fc.constantFrom('x', 'y', '') }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('answer' as const), index: fc.nat(7), luck: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('frame' as const), text: fc.json() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('tick' as const), ms: fc.nat(200_000) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('bad task' as const), id }) },
  );
  const answer = (server: ConstellationServerEndpoint, { kind, sessionId }: Call, luck: number): void => {
    const state = (['not-connected', 'unknown', 'connected', 'connected'] as const)[luck] ?? 'connected';
    if (kind === 'lookUp') server.input({ kind: 'target', sessionId, state });
    else if (kind === 'submit' && luck === 0) server.input({ kind: 'refused', sessionId, error: 'no' });
    else if (kind === 'submit') server.input({ kind: 'accepted', sessionId, runId: 'r' });
    else if (kind === 'follow')
      server.input({ kind: 'ended', sessionId, status: 'completed', result: null, error: null });
  };

  it('every TASK has its TASK_END, and none runs twice', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const open: Call[] = [];
        const { say, pair, clock, server, received, calls } = linked((call) => {
          if (call.kind !== 'cancel') open.push(call);
        });
        say({ type: 'register' });
        const sent = new Set<string>();
        for (const step of actions) {
          if (step.do === 'task') {
            sent.add(step.id);
            say(task(step.id, step.request));
          } else if (step.do === 'bad task') {
            say({ ...task(step.id), request: 7 });
          } else if (step.do === 'answer') {
            const [call] = open.splice(step.index % Math.max(1, open.length), 1);
            if (call !== undefined) answer(server, call, step.luck);
          } else if (step.do === 'tick') {
            clock.ms += step.ms;
            server.tick();
          } else say(step.text);
        }
        for (let call = open.shift(); call !== undefined; call = open.shift()) answer(server, call, 3);
        pair.deliver();
        for (const sessionId of sent) {
          expect(received.some((frame) => frame.type === 'task_end' && frame.session_id === sessionId)).toBe(true);
          // What was followed is followed once, unless it was given up for its age.
          const times = (kind: Call['kind']): number =>
            calls.filter((call) => call.kind === kind && call.sessionId === sessionId).length;
          expect(times('follow')).toBeLessThanOrEqual(1 + times('cancel'));
        }
      }),
      { seed: SEED, numRuns: 1_000 },
    );
  });
});
