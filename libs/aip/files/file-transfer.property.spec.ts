import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openReceiver, receive, type Receiver, type ReceiverEffect, type ReceiverInput } from './file-receiver.js';
import {
  offerFile,
  stepSender,
  sendFile,
  type FileSender,
  type SenderEffect,
  type SenderInput,
} from './file-sender.js';
import type { FileFailure } from './file-transfer.js';

const SEED = 20_261_121;
const RUNS = 3_000;
const POLICY = { pieceBytes: 2, chunkBytes: 5, windowBytes: 16, quickMs: 15, idleMs: 1_000 };

const sumOf = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`not: ${what}`);
}

/** What is on its way; a cut connection loses all of it. */
type Frame =
  { readonly to: 'receiver'; readonly input: ReceiverInput } | { readonly to: 'sender'; readonly input: SenderInput };

/** Both ends of one transfer, the bytes on both sides, and the connection between them. */
class World {
  nowMs = 0;
  sender: FileSender;
  receiver: Receiver;
  readonly wire: Frame[] = [];
  readonly ends: { sender: (FileFailure | null)[]; receiver: (FileFailure | null)[] } = { sender: [], receiver: [] };
  reading: { offset: number; bytes: number } | undefined;
  connected = true;
  /** What the sink was given, and what of it is for good. */
  written: number[] = [];
  takenBytes = 0;
  ackedBytes = 0;
  committed: Uint8Array | undefined;
  committing = false;
  discarded = false;
  sentBytes = 0;
  knownAcked = 0;

  constructor(
    readonly content: Uint8Array,
    readonly kind: 'upload' | 'download',
  ) {
    this.receiver = openReceiver({ sha256: sumOf(content), bytes: content.length, policy: POLICY }, 0);
    if (kind === 'upload') {
      this.sender = offerFile({ bytes: content.length, policy: POLICY }, 0);
      this.wire.push({ to: 'sender', input: { kind: 'ready', have: false } });
      return;
    }
    const [sender, effects] = sendFile({ bytes: content.length, policy: POLICY }, 0);
    this.sender = sender;
    for (const effect of effects) this.fromSender(effect);
  }

  toSender(input: SenderInput): void {
    if (input.kind === 'ack') this.knownAcked = Math.max(this.knownAcked, input.bytes);
    const [sender, effects] = stepSender(this.sender, input, this.nowMs);
    this.sender = sender;
    for (const effect of effects) this.fromSender(effect);
  }

  toReceiver(input: ReceiverInput): void {
    const [receiver, effects] = receive(this.receiver, input, this.nowMs);
    this.receiver = receiver;
    for (const effect of effects) this.fromReceiver(effect);
  }

  fromSender(effect: SenderEffect): void {
    must(this.ends.sender.length === 0, 'the sender says nothing after its end');
    switch (effect.kind) {
      case 'read':
        must(this.reading === undefined, 'one piece is read at a time');
        this.reading = effect;
        return;
      case 'send-piece':
        this.sentBytes += effect.data.length;
        must(this.sentBytes - this.knownAcked <= POLICY.windowBytes, 'the sender keeps to the window');
        return this.carry({ to: 'receiver', input: { ...effect, kind: 'piece' } });
      case 'send-end':
        return this.carry({ to: 'receiver', input: { kind: 'end' } });
      case 'send-abort':
        return this.carry({ to: 'receiver', input: { kind: 'aborted', failure: effect.failure } });
      case 'ended':
        this.ends.sender.push(effect.failure);
    }
  }

  fromReceiver(effect: ReceiverEffect): void {
    must(this.ends.receiver.length === 0, 'the receiver says nothing after its end');
    switch (effect.kind) {
      case 'write':
        this.written.push(...effect.data);
        must(
          this.written.length - this.ackedBytes <= POLICY.windowBytes + POLICY.chunkBytes,
          'no more is unacknowledged than the window and one piece',
        );
        return;
      case 'send-ack':
        this.ackedBytes = effect.bytes;
        must(effect.bytes <= this.takenBytes, 'only what is taken is acknowledged');
        return this.carry({ to: 'sender', input: { kind: 'ack', bytes: effect.bytes } });
      case 'check':
        return this.toReceiver({ kind: 'checksum', sha256: sumOf(Uint8Array.from(this.written)) });
      case 'commit':
        this.committing = true;
        return;
      case 'discard':
        this.discarded = true;
        return;
      case 'send-stored':
        return this.carry({ to: 'sender', input: { kind: 'stored' } });
      case 'send-abort':
        return this.carry({ to: 'sender', input: { kind: 'aborted', failure: effect.failure } });
      case 'ended':
        this.ends.receiver.push(effect.failure);
    }
  }

  carry(frame: Frame): void {
    if (this.connected) this.wire.push(frame);
  }

  /** The next frame in one direction; each direction keeps its order. */
  deliver(to: Frame['to']): boolean {
    const index = this.wire.findIndex((frame) => frame.to === to);
    const [frame] = index < 0 ? [] : this.wire.splice(index, 1);
    if (frame?.to === 'receiver') {
      // A download's sender is not told that its file is stored.
      this.toReceiver(frame.input);
    } else if (frame?.to === 'sender' && !(this.kind === 'download' && frame.input.kind === 'stored')) {
      this.toSender(frame.input);
    }
    return frame !== undefined;
  }

  /** `most`: a source gives what it has at hand. */
  read(most = Infinity): boolean {
    if (this.reading === undefined) return false;
    const { offset, bytes } = this.reading;
    this.reading = undefined;
    this.toSender({ kind: 'piece', data: this.content.subarray(offset, offset + Math.min(bytes, most)) });
    return true;
  }

  take(bytes: number): boolean {
    const next = Math.min(this.written.length, this.takenBytes + bytes);
    if (next === this.takenBytes) return false;
    this.takenBytes = next;
    this.toReceiver({ kind: 'taken', bytes: next });
    return true;
  }

  commit(): boolean {
    if (!this.committing) return false;
    this.committing = false;
    if (!this.discarded) this.committed = Uint8Array.from(this.written);
    this.toReceiver({ kind: 'committed' });
    return true;
  }

  cut(): void {
    if (!this.connected) return;
    this.connected = false;
    this.wire.length = 0;
    this.toSender({ kind: 'closed' });
    this.toReceiver({ kind: 'closed' });
  }

  tick(ms: number): void {
    this.nowMs += ms;
    this.toSender({ kind: 'tick' });
    this.toReceiver({ kind: 'tick' });
  }

  /** Everything that can still happen by itself happens. */
  settle(): void {
    while (this.deliver('receiver') || this.deliver('sender') || this.read() || this.take(Infinity) || this.commit());
  }
}

type Op = (world: World) => unknown;

const named = (name: string, op: Op): [string, Op] => [name, op];

/** What happens on an honest connection, in any order and at any speed. */
const honest: fc.Arbitrary<[string, Op]> = fc.oneof(
  fc.constant(named('to receiver', (world) => world.deliver('receiver'))),
  fc.constant(named('to sender', (world) => world.deliver('sender'))),
  fc.constant(named('read', (world) => world.read())),
  fc.integer({ min: 1, max: 3 }).map((most) => named(`read ${most}`, (world) => world.read(most))),
  fc.integer({ min: 1, max: 9 }).map((bytes) => named(`take ${bytes}`, (world) => world.take(bytes))),
  fc.constant(named('commit', (world) => world.commit())),
  fc.integer({ min: 0, max: 10 }).map((ms) => named(`wait ${ms}`, (world) => world.tick(ms))),
);

const bytes = fc.uint8Array({ maxLength: 8 });
const at = fc.integer({ min: 0, max: 60 });
const failure: FileFailure = { code: 'CANCELLED', message: 'x' };

/** What an enemy or a broken disk does. */
const hostile: fc.Arbitrary<[string, Op]> = fc.oneof(
  fc
    .tuple(at, bytes)
    .map(([offset, data]) =>
      named(`piece ${offset}+${data.length}`, (world) => world.toReceiver({ kind: 'piece', offset, data })),
    ),
  bytes.map((data) =>
    named(`next piece with ${data.length} other bytes`, (world) =>
      world.toReceiver({ kind: 'piece', offset: world.written.length, data }),
    ),
  ),
  fc.constant(
    named('a piece twice', (world) => {
      const last = world.wire.find(({ to, input }) => to === 'receiver' && input.kind === 'piece');
      if (last !== undefined) world.carry(last);
    }),
  ),
  fc.constant(named('end', (world) => world.toReceiver({ kind: 'end' }))),
  at.map((upTo) => named(`ack ${upTo}`, (world) => world.toSender({ kind: 'ack', bytes: upTo }))),
  fc.constant(named('stored', (world) => world.toSender({ kind: 'stored' }))),
  fc.boolean().map((have) => named(`ready ${have}`, (world) => world.toSender({ kind: 'ready', have }))),
  fc.constant(named('receiver aborted', (world) => world.toReceiver({ kind: 'aborted', failure }))),
  fc.constant(named('sender aborted', (world) => world.toSender({ kind: 'aborted', failure }))),
  fc.constant(named('cancelled', (world) => world.toReceiver({ kind: 'cancelled', failure }))),
  fc.constant(named('sink fails', (world) => world.toReceiver({ kind: 'failed', failure }))),
  fc.constant(named('source fails', (world) => world.toSender({ kind: 'failed', failure }))),
  fc.constant(named('another source', (world) => world.content.fill(7, world.reading?.offset ?? 0))),
  fc.constant(named('cut', (world) => world.cut())),
  fc.constant(named('silence', (world) => world.tick(POLICY.idleMs))),
);

const content = fc.uint8Array({ maxLength: 50 });
const direction = fc.constantFrom('upload' as const, 'download' as const);

function endOf(world: World): void {
  world.settle();
  for (let ticks = 0; ticks < 3; ticks++) {
    world.tick(POLICY.idleMs);
    world.settle();
  }
}

describe('a transfer', () => {
  it('on an honest connection brings the file, at whatever speed each part works', () => {
    fc.assert(
      fc.property(content, direction, fc.array(honest, { maxLength: 80 }), (file, kind, ops) => {
        const world = new World(Uint8Array.from(file), kind);
        for (const [, op] of ops) op(world);
        world.settle();
        expect(world.ends).toEqual({ sender: [null], receiver: [null] });
        expect(world.committed).toEqual(Uint8Array.from(file));
        expect(world.discarded).toBe(false);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });

  it('ends on both sides whatever happens, and never leaves another content under the name', () => {
    fc.assert(
      fc.property(
        content,
        direction,
        fc.array(fc.oneof({ weight: 6, arbitrary: honest }, { weight: 1, arbitrary: hostile }), { maxLength: 80 }),
        (file, kind, ops) => {
          const world = new World(Uint8Array.from(file), kind);
          for (const [, op] of ops) op(world);
          endOf(world);
          expect(world.ends.sender).toHaveLength(1);
          expect(world.ends.receiver).toHaveLength(1);
          if (world.committed !== undefined) expect(world.committed).toEqual(Uint8Array.from(file));
          if (world.ends.receiver[0] === null) expect(world.committed).toBeDefined();
          if (world.ends.receiver[0] !== null) expect(world.discarded).toBe(true);
        },
      ),
      { seed: SEED, numRuns: RUNS },
    );
  });
});
