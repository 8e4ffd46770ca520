import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AIP_LIMITS } from '#proto';
import { Sequence, type Numberable } from './sequence.js';

const SEED = 20_261_123;
const HEARTBEAT: Numberable = { type: 'heartbeat' };
const ACK: Numberable = { type: 'ack' };
const frame = (seq: number, ack?: number): Numberable => ({ ...HEARTBEAT, seq, ack });

/** An end that has taken `count` frames, all at 0 ms. */
function having(count: number): Sequence {
  const end = new Sequence();
  for (let seq = 1; seq <= count; seq++) end.take(frame(seq), 0);
  return end;
}

describe('numbers', () => {
  it('begin with 1, and what was taken is said on whatever is sent', () => {
    const end = having(2);
    expect(end.stamp(HEARTBEAT, 0)).toEqual({ type: 'heartbeat', seq: 1, ack: 2 });
    expect(end.stamp(ACK, 0)).toEqual({ type: 'ack', seq: 2, ack: 2 });
  });

  it.each([
    ['the next', frame(3), { kind: 'fresh' }],
    ['one that came before', frame(2), { kind: 'duplicate' }],
    ['a later one', frame(5), { kind: 'gap', error: 'frame 5 came, 3 was expected' }],
    ['none', HEARTBEAT, { kind: 'gap', error: 'a frame without a number, 3 was expected' }],
    ['null, as some write none', { ...HEARTBEAT, seq: null }, { kind: 'gap', error: expect.any(String) }],
    [
      'one that acknowledges what was never sent',
      frame(3, 1),
      { kind: 'gap', error: 'frame 1 is acknowledged, 0 were sent' },
    ],
  ])('of a frame: %s', (_, given, judged) => expect(having(2).take(given, 0)).toEqual(judged));

  it('of a frame that cannot be read count as the next', () => {
    const end = having(2);
    end.skip(0);
    expect(end.take(frame(4), 0)).toEqual({ kind: 'fresh' });
    expect(end.stamp(HEARTBEAT, 0).ack).toBe(4);
  });

  it('that make a gap are not taken: the acknowledgement stays where it was', () => {
    const end = having(2);
    end.take(frame(4), 0);
    expect(end.stamp(HEARTBEAT, 0).ack).toBe(2);
  });
});

describe('an ack frame', () => {
  it('is due after so many frames', () => {
    expect(having(AIP_LIMITS.ackEveryFrames - 1).ackDue(0)).toBe(false);
    expect(having(AIP_LIMITS.ackEveryFrames).ackDue(0)).toBe(true);
  });

  it('is due some time after the first frame that nobody spoke of', () => {
    const end = having(1);
    end.take(frame(2), AIP_LIMITS.ackAfterMs - 1);
    expect(end.ackDue(AIP_LIMITS.ackAfterMs - 1)).toBe(false);
    expect(end.ackDue(AIP_LIMITS.ackAfterMs)).toBe(true);
  });

  it('is not due when anything else was sent meanwhile', () => {
    const end = having(AIP_LIMITS.ackEveryFrames);
    end.stamp(HEARTBEAT, 0);
    expect(end.ackDue(1_000_000)).toBe(false);
    end.take(frame(AIP_LIMITS.ackEveryFrames + 1), 1_000_000);
    expect(end.ackDue(1_000_000)).toBe(false);
  });

  it('is not answered with one, and waits for none: two quiet ends fall silent', () => {
    const [one, other] = [new Sequence(), new Sequence()];
    other.take(one.stamp(ACK, 0), 0);
    expect(other.ackDue(1_000_000)).toBe(false);
    expect(one.unackedTooLong(1_000_000)).toBe(false);
  });
});

describe('what is not acknowledged', () => {
  it('for too long is found, from the oldest frame on', () => {
    const end = new Sequence();
    end.stamp(HEARTBEAT, 1_000);
    end.stamp(HEARTBEAT, 2_000);
    expect(end.unackedTooLong(1_000 + AIP_LIMITS.unackedMsMax - 1)).toBe(false);
    expect(end.unackedTooLong(1_000 + AIP_LIMITS.unackedMsMax)).toBe(true);
    end.take(frame(1, 1), 3_000);
    expect(end.unackedTooLong(1_000 + AIP_LIMITS.unackedMsMax)).toBe(false);
    expect(end.unackedTooLong(2_000 + AIP_LIMITS.unackedMsMax)).toBe(true);
  });

  it('has a limit in frames as well', () => {
    const end = new Sequence();
    for (let count = 0; count < 65_536; count++) end.stamp(HEARTBEAT, 0);
    expect(end.unackedTooLong(0)).toBe(false);
    end.stamp(HEARTBEAT, 0);
    expect(end.unackedTooLong(0)).toBe(true);
  });

  it('is counted in bytes by class', () => {
    const end = new Sequence();
    end.stamp(HEARTBEAT, 0, { class: 'output', bytes: 10 });
    end.stamp(HEARTBEAT, 0);
    end.stamp(HEARTBEAT, 0, { class: 'output', bytes: 5 });
    expect([end.unackedBytes('output'), end.unackedBytes('file')]).toEqual([15, 0]);
    end.take(frame(1, 2), 0);
    expect(end.unackedBytes('output')).toBe(5);
    end.take(frame(2, 3), 0);
    expect(end.unackedBytes('output')).toBe(0);
  });

  it('gives the latency, of the newest frame that came through', () => {
    const end = new Sequence();
    expect(end.latencyMs).toBeNull();
    end.stamp(HEARTBEAT, 1_000);
    end.stamp(HEARTBEAT, 1_100);
    expect(end.take(frame(1, 2), 1_130)).toEqual({ kind: 'fresh', latencyMs: 30 });
    expect(end.latencyMs).toBe(30);
    // An older acknowledgement says nothing new.
    expect(end.take(frame(2, 1), 9_000)).toEqual({ kind: 'fresh' });
    expect(end.latencyMs).toBe(30);
  });
});

describe('two ends', () => {
  type Op = { readonly by: 'one' | 'other'; readonly ms: number; readonly bytes: number };
  const ops: fc.Arbitrary<Op[]> = fc.array(
    fc.record({
      by: fc.constantFrom('one' as const, 'other' as const),
      ms: fc.integer({ min: 0, max: 400 }),
      bytes: fc.nat(100),
    }),
    { maxLength: 120 },
  );

  it('that say what is due understand each other, whatever they send and when', () =>
    fc.assert(
      fc.property(ops, (history) => {
        const ends = { one: new Sequence(), other: new Sequence() };
        const peer = { one: ends.other, other: ends.one };
        let nowMs = 0;
        const send = (by: 'one' | 'other', message: Numberable, bytes = 0): void => {
          const cargo = bytes > 0 ? { class: 'output', bytes } : undefined;
          expect(peer[by].take(ends[by].stamp(message, nowMs, cargo), nowMs)).toMatchObject({ kind: 'fresh' });
        };
        const sayWhatIsDue = (): void => {
          for (const by of ['one', 'other'] as const) if (ends[by].ackDue(nowMs)) send(by, ACK);
        };
        for (const { by, ms, bytes } of history) {
          nowMs += ms;
          send(by, HEARTBEAT, bytes);
          sayWhatIsDue();
        }
        nowMs += AIP_LIMITS.ackAfterMs;
        sayWhatIsDue();
        for (const end of [ends.one, ends.other]) {
          expect(end.ackDue(nowMs + 1_000_000)).toBe(false);
          expect(end.unackedTooLong(nowMs + 1_000_000)).toBe(false);
          expect(end.unackedBytes('output')).toBe(0);
        }
      }),
      { seed: SEED, numRuns: 500 },
    ));
});
