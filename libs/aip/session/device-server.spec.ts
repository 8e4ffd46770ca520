import { describe, expect, it } from '@jest/globals';
import { AIP_CLOSE, AIP_LIMITS } from '#proto';
import type { ClientMessage, Identity, ServerMessage } from '#proto';
import { linkedPair } from '../transport/linked-pair.js';
import { Sequence } from '../frames/sequence.js';
import { DONE, METRICS, TELEMETRY } from '../testing/client-messages.js';
import type { Closed } from '../transport/transport.js';
import { DeviceServerEndpoint, type DevicePort, type FilePort } from './device-server.js';

const IDENTITY: Identity = { id: 'web-1', role: 'device', targets: null, expiresAt: null };

type Draft = { readonly type: ClientMessage['type'] } & Record<string, unknown>;

/** Both ends of a connection without a network: the endpoint with a port that keeps what it was told, and a hand-driven device. */
class Rig {
  readonly calls: string[] = [];
  readonly told: unknown[] = [];
  readonly watched: string[] = [];
  readonly received: ServerMessage[] = [];
  readonly closed: Closed[] = [];
  readonly pair = linkedPair();
  readonly endpoint: DeviceServerEndpoint;
  readonly #sequence = new Sequence();
  #isNumbered = false;
  nowMs = 0;

  constructor(options: { files?: FilePort; claims?: boolean } = {}) {
    this.pair.right.handle({
      frame: (text) => {
        const message = JSON.parse(text ?? '') as ServerMessage;
        this.received.push(message);
        if (this.#isNumbered) this.#sequence.take(message, this.nowMs);
        if (message.type === 'heartbeat' && message.orrery?.revision === 2) this.#isNumbered = true;
      },
      closed: (why) => this.closed.push(why),
    });
    const call =
      (name: string) =>
      (...values: unknown[]): void => {
        this.calls.push(name);
        this.told.push(...values);
      };
    const port: DevicePort = {
      claim: () => {
        call('claim')();
        if (options.claims !== false) this.endpoint.input({ kind: 'claimed', sessionId: 's1' });
      },
      resume: call('resume'),
      open: call('open'),
      started: call('started'),
      result: call('result'),
      output: call('output'),
      metrics: call('metrics'),
      workspaces: call('workspaces'),
      telemetry: call('telemetry'),
      identify: call('identify'),
      drained: call('drained'),
      left: call('left'),
      closed: call('closed'),
      files: options.files,
    };
    const watch = {
      log: (event: { kind: string }) => this.watched.push(event.kind),
      count: (direction: string, type: string) => this.watched.push(`${direction} ${type}`),
      latency: (ms: number) => this.watched.push(`${ms} ms`),
    };
    const clock = { now: () => this.nowMs };
    this.endpoint = new DeviceServerEndpoint({ identity: IDENTITY, transport: this.pair.left, clock, port, watch });
  }

  send(draft: Draft): void {
    const message = { status: 'ok', ...draft };
    this.raw(JSON.stringify(this.#isNumbered ? this.#sequence.stamp(message, this.nowMs) : message));
  }

  raw(text: string): void {
    this.pair.right.send(text);
    this.pair.deliver();
  }

  register(revision = 2): this {
    this.send({ type: 'register', metadata: { orrery: { revision, journal_id: 'j1', telemetry: TELEMETRY } } });
    return this;
  }

  ready(): this {
    this.register();
    this.send({ type: 'resume', orrery: { running: [], finished: [], more: false } });
    return this;
  }

  tick(ms: number): void {
    this.nowMs += ms;
    this.endpoint.tick();
    this.pair.deliver();
  }

  get types(): string[] {
    return this.received.map(({ type }) => type);
  }
}

const recorder = (): FilePort & { readonly seen: string[] } => {
  const seen: string[] = [];
  return { seen, frame: ({ type }) => seen.push(type), closed: () => seen.push('closed') };
};

describe('the server’s end of a device connection', () => {
  it('brings a device in, and everything it says to whoever it is for', () => {
    const rig = new Rig().ready();
    expect(rig.types).toEqual(['heartbeat', 'resumed']);
    expect(rig.calls).toEqual(['claim', 'resume', 'open']);
    rig.send({ type: 'command_progress', orrery: { command_id: 'c1', state: 'running' } });
    rig.send({ type: 'command_output', orrery: { command_id: 'c1', stream: 'stderr', offset: 0, text: 'x' } });
    rig.send({ type: 'command_results', orrery: { command_id: 'c1', outcome: DONE } });
    rig.send({ type: 'heartbeat', orrery: { metrics: METRICS } });
    rig.send({ type: 'credential', orrery: { credential: 'x.y.z' } });
    expect(rig.calls.slice(3)).toEqual(['started', 'output', 'result', 'metrics', 'identify']);
    const result = rig.told.findIndex((value) => (value as { kind?: string }).kind === 'result');
    expect(rig.told[result + 1]).toBeGreaterThan(100); // the size of the frame with the result
  });

  it('answers questions later as well as at once', () => {
    const rig = new Rig({ claims: false }).register();
    expect([rig.types, rig.endpoint.phase]).toEqual([[], 'CLAIMING']);
    rig.endpoint.input({ kind: 'claimed', sessionId: 's1' });
    rig.pair.deliver();
    expect(rig.received).toMatchObject([{ orrery: { session_id: 's1' } }]);
  });

  it('sends frames of others with their numbers, to a device that is ready', () => {
    const rig = new Rig().register();
    const stored = { type: 'result_stored', status: 'ok', orrery: { command_id: 'c1' } } as const;
    rig.endpoint.say(stored);
    rig.send({ type: 'resume', orrery: { running: [], finished: [], more: false } });
    rig.endpoint.say(stored);
    rig.pair.deliver();
    expect(rig.received.slice(1)).toMatchObject([
      { type: 'resumed', seq: 1, ack: 1 },
      { ...stored, seq: 2, ack: 1 },
    ]);
  });

  it('acknowledges with the tick when it has nothing to say', () => {
    const rig = new Rig().ready();
    rig.send({ type: 'command_progress', orrery: { command_id: 'c1', state: 'running' } });
    rig.tick(AIP_LIMITS.ackAfterMs);
    expect(rig.received.at(-1)).toEqual({ type: 'ack', status: 'ok', seq: 2, ack: 2 });
  });

  it('sends a device away that acknowledges nothing', () => {
    const rig = new Rig().ready();
    rig.tick(AIP_LIMITS.unackedMsMax);
    expect(rig.closed).toMatchObject([{ code: AIP_CLOSE.unacknowledged }]);
  });

  it('reads one that sends too fast more slowly, and loses nothing', () => {
    const rig = new Rig().ready();
    const beats = AIP_LIMITS.framesBurst + 500;
    for (let count = 0; count < beats; count++) rig.send({ type: 'heartbeat' });
    const answered = (): number => rig.types.filter((type) => type === 'heartbeat').length - 1;
    expect(answered()).toBeLessThanOrEqual(AIP_LIMITS.framesBurst);
    expect(rig.endpoint.phase).toBe('READY');
    for (let ticks = 0; ticks < 1_000 && answered() < beats; ticks++) rig.tick(250);
    expect(answered()).toBe(beats);
  });

  it('lets nobody write a log full: of many complaints a few are heard', () => {
    const rig = new Rig().ready();
    for (let count = 0; count < 1_000; count++) rig.send({ type: 'error', error: 'x'.repeat(4_000) });
    expect(rig.watched.filter((what) => what === 'complaint')).toHaveLength(10);
  });

  it('says that it is over once, and closes the socket once', () => {
    const rig = new Rig().ready();
    rig.endpoint.input({ kind: 'replaced' });
    rig.endpoint.revoke();
    rig.endpoint.shutDown();
    rig.tick(60_000);
    expect(rig.closed).toMatchObject([{ code: AIP_CLOSE.replaced }]);
    expect(rig.calls.slice(3)).toEqual(['closed', 'left']);
    const cut = new Rig().ready();
    cut.pair.cut();
    expect(cut.calls.slice(3)).toEqual(['left', 'closed']);
  });

  it('keeps a connection whose frames cannot be read, and answers them', () => {
    const rig = new Rig().register(1);
    for (const text of ['{', '[]', 'null', '"x"', '{"type":"register"}', '{"type":"nothing","status":"ok"}'])
      rig.raw(text);
    expect(rig.types).toEqual(['heartbeat', ...Array.from({ length: 6 }, () => 'error')]);
    expect(rig.endpoint.phase).toBe('READY');
  });
});

describe('files', () => {
  const begin: Draft = {
    type: 'file_begin',
    orrery: { transfer_id: 't1', command_id: 'c1', sha256: 'a'.repeat(64), bytes: 1 },
  };

  it('go to their desk when the device is ready, and not before', () => {
    const files = recorder();
    const rig = new Rig({ files }).register();
    rig.send(begin);
    expect([files.seen, rig.types.at(-1)]).toEqual([[], 'error']);
    rig.send({ type: 'resume', orrery: { running: [], finished: [], more: false } });
    rig.send(begin);
    rig.pair.cut();
    expect(files.seen).toEqual(['file_begin', 'closed']);
  });

  it('are given up at once by a server without a desk; a word of that is not answered', () => {
    const rig = new Rig().ready();
    rig.send(begin);
    rig.send({ type: 'file_abort', orrery: { transfer_id: 't1', code: 'X', message: 'x' } });
    expect(rig.received.slice(2)).toMatchObject([
      { type: 'file_abort', orrery: { transfer_id: 't1', code: 'NO_FILES' } },
    ]);
  });
});
