import { describe, expect, it } from '@jest/globals';
import { AIP_CLOSE, AIP_LIMITS, ClientMessage, ServerMessage } from '#proto';
import type { CommandId, Json } from '#proto';
import type { Holdings, ServerFacts, ServerRequest } from './device-link.js';
import { linkedPair } from '../transport/linked-pair.js';
import { Sequence } from '../frames/sequence.js';
import { METRICS, TELEMETRY } from '../testing/client-messages.js';
import type { Transport } from '../transport/transport.js';
import { ServerConnection, type ConnectionEnd, type FrameFact } from './server-connection.js';
import { DeviceServerEndpoint } from '../session/device-server.js';

const base = { status: 'ok', client_type: 'device' } as const;
const REGISTER: ClientMessage = {
  type: 'register',
  ...base,
  metadata: { orrery: { revision: 2, journal_id: 'j1', telemetry: TELEMETRY } },
};
const result = (id: CommandId, text = ''): ClientMessage => ({
  type: 'command_results',
  ...base,
  orrery: {
    command_id: id,
    outcome: { state: 'COMPLETED', result: text, error: null, startedAt: null, durationMs: 1 },
  },
});
const output = (text: string): ClientMessage => ({
  type: 'command_output',
  ...base,
  orrery: { command_id: 'c1', stream: 'stdout', offset: 0, text },
});
const progress: ClientMessage = { type: 'command_progress', ...base, orrery: { command_id: 'c1', state: 'running' } };
const HEARTBEAT_MS = 20_000;

/** A device that holds what the test says. */
class HeldDevice {
  results: ClientMessage[] = [];
  held: Holdings = { running: [], finished: [] };
  readonly asked: { message: ServerRequest; server: ServerFacts | null }[] = [];
  readonly ready: ServerFacts[] = [];
  readonly gone: (ServerFacts | null)[] = [];

  readonly port = {
    register: () => REGISTER,
    holdings: () => this.held,
    nextResult: () => this.results.shift(),
    heartbeat: (): ClientMessage => ({ type: 'heartbeat', ...base, orrery: { metrics: METRICS } }),
    onReady: (server: ServerFacts) => void this.ready.push(server),
    onMessage: (message: ServerRequest, server: ServerFacts | null) => void this.asked.push({ message, server }),
    onDisconnected: (server: ServerFacts | null) => void this.gone.push(server),
  };
}

/** A device's connection on a wire that the test holds in its hands. */
function opened() {
  const wire = linkedPair();
  const device = new HeldDevice();
  const clock = { ms: 0, now: () => clock.ms };
  const ends: ConnectionEnd[] = [];
  const facts: FrameFact[] = [];
  // What a socket would be: slow as long as the test says so.
  const transport: Transport = { ...wire.left, congested: false };
  const slow = Object.assign(transport, { congested: false });
  let drained: (() => void) | undefined;
  const handle: Transport['handle'] = (given) => {
    drained = () => given.drained?.();
    wire.left.handle(given);
  };
  const connection = new ServerConnection({
    transport: Object.assign(slow, { handle }),
    device: device.port,
    clock,
    heartbeatMs: HEARTBEAT_MS,
    onFact: (fact) => facts.push(fact),
    onEnd: (end) => ends.push(end),
  });
  const inbox: ClientMessage[] = [];
  let sequence: Sequence | undefined;
  const wrong: unknown[] = [];
  wire.right.handle({
    frame: (text) => {
      const message = ClientMessage.parse(JSON.parse(text ?? ''));
      const judged = sequence?.take(message, clock.ms);
      if (judged !== undefined && judged.kind !== 'fresh') wrong.push(judged);
      inbox.push(message);
    },
    closed: () => undefined,
  });
  const say = (frame: { type: string; [key: string]: Json }): void => {
    wire.right.send(JSON.stringify(sequence === undefined ? frame : sequence.stamp(frame, clock.ms)));
    wire.deliver();
  };
  const confirm = (revision: number | null): void => {
    const orrery = { revision, session_id: 's1', server_time: '2026-11-20T00:00:00.000Z' };
    wire.right.send(JSON.stringify({ type: 'heartbeat', status: 'ok', ...(revision !== null && { orrery }) }));
    if (revision === 2) sequence = new Sequence();
    wire.deliver();
  };
  connection.start();
  wire.deliver();
  return {
    wire,
    device,
    clock,
    connection,
    ends,
    facts,
    wrong,
    say,
    confirm,
    resumed: () => {
      say({ type: 'resumed', status: 'ok' });
      wire.deliver();
    },
    congest: () => void (slow.congested = true),
    drain: () => {
      slow.congested = false;
      drained?.();
      wire.deliver();
    },
    types: () => {
      wire.deliver();
      return inbox.splice(0).map(({ type }) => type);
    },
    frames: () => {
      wire.deliver();
      return inbox.splice(0);
    },
    raw: (text: string) => {
      wire.right.send(text);
      wire.deliver();
    },
  };
}

/** One that is ready, with all that was said on the way there forgotten. */
function ready(revision: 1 | 2 | null, held?: Partial<HeldDevice>) {
  const link = opened();
  Object.assign(link.device, held);
  link.confirm(revision);
  if (revision === 2) link.resumed();
  link.frames();
  return link;
}

describe('a connection to a server of revision 2', () => {
  it('says REGISTER, RESUME with its journal, and only then results and how it is', () => {
    const link = opened();
    link.device.results = [result('f1')];
    link.device.held = { running: ['r1'], finished: ['f1'] };
    expect(link.types()).toEqual(['register']);
    link.connection.send(progress);
    link.connection.sendResults();
    link.confirm(2);
    const [resume, ...more] = link.frames();
    expect(more).toEqual([]);
    expect(resume).toMatchObject({ type: 'resume', seq: 1, ack: 0, orrery: { running: ['r1'], more: false } });
    expect(link.device.ready).toEqual([]);
    link.resumed();
    expect(link.frames().map(({ type, seq, ack }) => ({ type, seq, ack }))).toEqual([
      { type: 'command_progress', seq: 2, ack: 1 },
      { type: 'heartbeat', seq: 3, ack: 1 },
      { type: 'command_results', seq: 4, ack: 1 },
    ]);
    expect(link.device.ready).toMatchObject([{ revision: 2, sessionId: 's1' }]);
    expect(link.wrong).toEqual([]);
  });

  it('sends results as far as they are acknowledged, and never all that there are', () => {
    const megabyte = 'x'.repeat(1024 * 1024);
    const link = ready(2, { results: Array.from({ length: 64 }, (_, n) => result(`c${n}`, megabyte)) });
    // The first ones went out while the connection became ready.
    let sent = 64 - link.device.results.length;
    expect(sent).toBeLessThanOrEqual(5);
    link.connection.sendResults();
    expect(link.types()).toEqual([]);
    for (let rounds = 0; rounds < 64 && sent < 64; rounds++) {
      link.say({ type: 'ack', status: 'ok' });
      const came = link.types().length;
      expect(came).toBeLessThanOrEqual(5);
      sent += came;
    }
    expect(sent).toBe(64);
  });

  it('leaves live output out that is not taken, and counts none of it', () => {
    const link = ready(2);
    const piece = output('x'.repeat(AIP_LIMITS.outputChunkCharsMax));
    const taken = Array.from({ length: 40 }, () => link.connection.sendOutput(piece)).filter((sent) => sent).length;
    expect(taken).toBeGreaterThan(10);
    expect(taken * AIP_LIMITS.outputChunkCharsMax).toBeLessThanOrEqual(AIP_LIMITS.outputUnackedBytesMax);
    expect(link.types()).toHaveLength(taken);
    link.say({ type: 'ack', status: 'ok' });
    expect(link.connection.sendOutput(piece)).toBe(true);
    expect(link.types()).toEqual(['command_output']);
    expect(link.wrong).toEqual([]);
  });

  it('acknowledges many frames at once, and few a little later', () => {
    const link = ready(2);
    for (let n = 0; n < AIP_LIMITS.ackEveryFrames; n++) link.say({ type: 'heartbeat', status: 'ok' });
    expect(link.types()).toEqual(['ack']);
    link.say({ type: 'heartbeat', status: 'ok' });
    link.connection.tick();
    expect(link.types()).toEqual([]);
    link.clock.ms += AIP_LIMITS.ackAfterMs;
    link.connection.tick();
    expect(link.types()).toEqual(['ack']);
  });

  it('ignores a frame that came before, and counts one that nobody can read', () => {
    const link = ready(2);
    const stop = { type: 'stop_attempt', status: 'ok', orrery: { attempt: { runId: 'r', taskId: 't', attempt: 1 } } };
    link.raw(JSON.stringify({ ...stop, seq: 1, ack: 0 }));
    expect(link.device.asked).toEqual([]);
    link.raw('{"type":"from a later version","seq":2}');
    link.raw(JSON.stringify({ ...stop, seq: 3, ack: 0 }));
    expect(link.device.asked).toHaveLength(1);
    expect(link.facts).toMatchObject([{ fact: 'ignored' }]);
  });

  it.each([
    ['a gap', { seq: 9 }],
    ['a missing number', {}],
    ['an acknowledgement of what was never sent', { seq: 2, ack: 99 }],
  ])('is over with %s', (_, numbers) => {
    const link = ready(2);
    link.raw(JSON.stringify({ type: 'heartbeat', status: 'ok', ...numbers }));
    expect(link.ends).toMatchObject([{ code: AIP_CLOSE.protocolError }]);
    expect(link.device.gone).toMatchObject([{ revision: 2 }]);
  });

  it('is over when nothing is acknowledged for too long', () => {
    const link = ready(2);
    link.clock.ms += AIP_LIMITS.unackedMsMax;
    link.connection.tick();
    expect(link.ends).toMatchObject([{ code: AIP_CLOSE.unacknowledged, uptimeMs: AIP_LIMITS.unackedMsMax }]);
  });

  it('says how it is every 20 s', () => {
    const link = ready(2);
    link.clock.ms += HEARTBEAT_MS - 1;
    link.connection.tick();
    expect(link.types()).not.toContain('heartbeat');
    link.clock.ms += 1;
    link.connection.tick();
    expect(link.frames()).toMatchObject([{ type: 'heartbeat', orrery: { metrics: { load1: METRICS.load1 } } }]);
  });
});

describe.each([[1], [null]] as const)('a connection to a server of revision %s', (revision) => {
  it('has no numbers, no RESUME and no live output, and sends results at once', () => {
    const link = opened();
    link.device.results = [result('f1'), result('f2')];
    link.confirm(revision);
    link.connection.sendOutput(output('x'));
    link.connection.send(progress);
    const frames = link.frames();
    expect(frames.map(({ type }) => type)).toEqual([
      'register',
      'command_results',
      'command_results',
      'command_progress',
    ]);
    expect(frames.filter(({ seq, ack }) => seq !== undefined || ack !== undefined)).toEqual([]);
  });

  it('keeps what it has to say until a slow server takes it, in order, results last', () => {
    const link = ready(revision);
    link.congest();
    link.device.results = [result('f1')];
    link.connection.sendResults();
    link.connection.send(progress);
    link.connection.send({ type: 'error', ...base });
    expect(link.types()).toEqual([]);
    link.drain();
    expect(link.types()).toEqual(['command_progress', 'error', 'command_results']);
  });

  it('is given up when it takes next to nothing', () => {
    const link = ready(revision);
    link.congest();
    for (let n = 0; n < 5_000 && link.ends.length === 0; n++) link.connection.send(progress);
    expect(link.ends).toMatchObject([{ code: AIP_CLOSE.unacknowledged }]);
  });
});

describe('the end of a connection', () => {
  it('is told to the device once, with the server it was with', () => {
    const link = ready(1);
    link.clock.ms += 500;
    link.wire.cut();
    link.connection.send(progress);
    expect(link.device.gone).toMatchObject([{ revision: 1 }]);
    expect(link.ends).toEqual([{ code: 1006, reason: '', uptimeMs: 500 }]);
  });

  it('that was never confirmed has no uptime', () => {
    const link = opened();
    link.clock.ms += 60_000;
    link.wire.cut();
    expect(link.device.gone).toEqual([null]);
    expect(link.ends).toMatchObject([{ uptimeMs: 0 }]);
  });
});

describe('with our own server at the other end', () => {
  it('everything arrives where it belongs', () => {
    const wire = linkedPair();
    const device = new HeldDevice();
    const clock = { ms: 0, now: () => clock.ms };
    const seen: Json[] = [];
    const note =
      (what: string) =>
      (...more: unknown[]): void =>
        void seen.push(JSON.parse(JSON.stringify([what, ...more])) as Json);
    const server: DeviceServerEndpoint = new DeviceServerEndpoint({
      identity: { id: 'd1', role: 'device', targets: null, expiresAt: null },
      transport: wire.right,
      clock,
      port: {
        claim: () => server.input({ kind: 'claimed', sessionId: 's1' }),
        resume: note('resume'),
        open: note('open'),
        started: note('started'),
        result: ({ commandId }) => note('result')(commandId),
        output: ({ commandId, piece }) => note('output')(commandId, piece),
        metrics: ({ metrics }) => note('metrics')(metrics.load1),
        workspaces: note('workspaces'),
        telemetry: note('telemetry'),
        identify: note('identify'),
        drained: () => undefined,
        left: note('left'),
        closed: () => undefined,
      },
      watch: { log: note('log'), count: () => undefined, latency: () => undefined },
    });
    device.held = {
      running: Array.from({ length: AIP_LIMITS.commandsMax }, (_, n) => `r${n}`),
      finished: ['f1'],
    };
    device.results = [result('f1')];
    const ends: ConnectionEnd[] = [];
    const connection = new ServerConnection({
      transport: wire.left,
      device: device.port,
      clock,
      heartbeatMs: HEARTBEAT_MS,
      onFact: note('fact'),
      onEnd: (end) => ends.push(end),
    });
    connection.start();
    wire.deliver();
    connection.send(progress);
    connection.sendOutput(output('hello'));
    server.say(ServerMessage.parse({ type: 'result_stored', status: 'ok', orrery: { command_id: 'f1' } }));
    for (let ticks = 0; ticks < 590; ticks++) {
      clock.ms += 100;
      server.tick();
      connection.tick();
      wire.deliver();
    }
    expect(seen.map((line) => (Array.isArray(line) ? line[0] : line))).toEqual([
      'resume',
      'resume',
      'open',
      'metrics',
      'result',
      'started',
      'output',
      'metrics',
      'metrics',
    ]);
    expect(seen).toContainEqual(['output', 'c1', { stream: 'stdout', offset: 0, text: 'hello' }]);
    expect(device.asked.map(({ message }) => message.type)).toEqual(['result_stored']);
    expect(ends).toEqual([]);
  });
});
