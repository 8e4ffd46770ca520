import { describe, expect, it } from '@jest/globals';
import { AIP_LIMITS } from '#proto';
import type { ClientMessage, ServerMessage } from '#proto';
import {
  authorised,
  countedFrames,
  logged,
  numberedFrames,
  layered,
  type FrameEffect,
  type NumberedInput,
  type ProtocolEvent,
  type StepOf,
} from './middleware.js';
import { Sequence } from './sequence.js';

/** A protocol that says what it hears: `numbers` once it has heard a heartbeat. */
type State = 'plain' | 'numbers';
const heard: NumberedInput[] = [];
const echo: StepOf<State, NumberedInput, FrameEffect> = (state, input) => {
  heard.push(input);
  if (input.kind === 'denied' || input.kind === 'unreadable') return [state, [said(input.error)]];
  if (input.kind === 'gap') return [state, [said(input.error), { kind: 'close', code: 1002, reason: input.error }]];
  if (input.kind !== 'message') return [state, []];
  return ['numbers', [{ kind: 'send', message: { type: 'heartbeat', status: 'ok' } }]];
};
const said = (error: string): FrameEffect => ({ kind: 'send', message: { type: 'error', status: 'error', error } });
const heartbeat = (seq?: number, ack?: number): NumberedInput => ({
  kind: 'message',
  message: { type: 'heartbeat', status: 'ok', client_type: 'device', seq, ack },
});
const task: ClientMessage = { type: 'task', status: 'continue', client_type: 'device' };
const messages = (effects: readonly FrameEffect[]): ServerMessage[] =>
  effects.flatMap((effect) => (effect.kind === 'send' ? [effect.message] : []));

describe('layers', () => {
  it('see inputs from the outside in and effects from the inside out', () => {
    const order: string[] = [];
    const layer =
      (name: string) =>
      (next: StepOf<State, NumberedInput, FrameEffect>): StepOf<State, NumberedInput, FrameEffect> =>
      (state, input, nowMs) => {
        order.push(`${name} in`);
        const result = next(state, input, nowMs);
        order.push(`${name} out`);
        return result;
      };
    layered(echo, layer('outer'), layer('inner'))('plain', heartbeat(), 0);
    expect(order).toEqual(['outer in', 'inner in', 'inner out', 'outer out']);
  });
});

describe('authorised', () => {
  const sender = { role: 'device', identity: 'web-1', phase: 'AWAITING_REGISTER', revision: null } as const;

  it('turns what may not be sent into a refusal, with the reason', () => {
    heard.length = 0;
    layered(
      echo,
      authorised(() => sender),
    )('plain', { kind: 'message', message: task }, 0);
    expect(heard).toEqual([{ kind: 'denied', message: task, error: 'REGISTER comes first' }]);
  });

  it('leaves everything else alone', () => {
    heard.length = 0;
    const step = layered(
      echo,
      authorised<State, NumberedInput, FrameEffect>(() => ({ ...sender, phase: 'READY' })),
    );
    step('plain', heartbeat(), 0);
    step('plain', { kind: 'tick' }, 0);
    expect(heard.map(({ kind }) => kind)).toEqual(['message', 'tick']);
  });
});

describe('numbered', () => {
  const latencies: number[] = [];
  const make = () =>
    layered(
      echo,
      numberedFrames<State, NumberedInput, FrameEffect>({
        sequence: new Sequence(),
        isNumbered: (state) => state === 'numbers',
        latency: (ms) => latencies.push(ms),
      }),
    );

  it('begins after the step that turns it on: what that one says has no number', () => {
    const step = make();
    const [state, first] = step('plain', heartbeat(), 0);
    expect(messages(first)).toEqual([{ type: 'heartbeat', status: 'ok' }]);
    expect(messages(step(state, heartbeat(1), 0)[1])).toEqual([{ type: 'heartbeat', status: 'ok', seq: 1, ack: 1 }]);
  });

  it('hides what came before, ends what has a hole, and takes what cannot be read for the next', () => {
    const step = make();
    step('numbers', heartbeat(1), 0);
    expect(step('numbers', heartbeat(1), 0)).toEqual(['numbers', []]);
    expect(messages(step('numbers', { kind: 'unreadable', error: 'not JSON' }, 0)[1])).toMatchObject([{ ack: 2 }]);
    expect(step('numbers', heartbeat(4), 0)[1]).toMatchObject([
      { kind: 'send', message: { type: 'error', error: 'frame 4 came, 3 was expected' } },
      { kind: 'close', code: 1002 },
    ]);
  });

  it('acknowledges in time when nothing else is sent', () => {
    const quiet: StepOf<State, NumberedInput, FrameEffect> = (state) => [state, []];
    const layer = numberedFrames<State, NumberedInput, FrameEffect>({
      sequence: new Sequence(),
      isNumbered: () => true,
    });
    const step = layered(quiet, layer);
    expect(step('numbers', heartbeat(1), 0)[1]).toEqual([]);
    expect(step('numbers', { kind: 'tick' }, AIP_LIMITS.ackAfterMs - 1)[1]).toEqual([]);
    expect(messages(step('numbers', { kind: 'tick' }, AIP_LIMITS.ackAfterMs)[1])).toEqual([
      { type: 'ack', status: 'ok', seq: 1, ack: 1 },
    ]);
  });

  it('finds a peer that takes nothing, and tells how long the way is', () => {
    const step = make();
    step('numbers', heartbeat(1), 0);
    step('numbers', heartbeat(2, 1), 30);
    expect(latencies).toEqual([30]);
    heard.length = 0;
    step('numbers', { kind: 'tick' }, 30 + AIP_LIMITS.unackedMsMax);
    expect(heard).toEqual([{ kind: 'unacknowledged' }]);
  });
});

describe('logged and counted', () => {
  it('say what was refused and why it ended, and count what really went over the wire', () => {
    const events: ProtocolEvent[] = [];
    const counts: string[] = [];
    const step = layered(
      echo,
      logged<State, NumberedInput, FrameEffect>((event) => events.push(event)),
      countedFrames<State, NumberedInput, FrameEffect>((direction, type) => counts.push(`${direction} ${type}`)),
    );
    step('plain', heartbeat(), 0);
    step('plain', { kind: 'unreadable', error: 'not JSON' }, 0);
    step('plain', { kind: 'gap', error: 'a hole' }, 0);
    expect(events).toEqual([
      { kind: 'refused', type: 'unreadable', error: 'not JSON' },
      { kind: 'refused', type: 'gap', error: 'a hole' },
      { kind: 'sent-away', code: 1002, reason: 'a hole' },
    ]);
    expect(counts).toEqual(['in heartbeat', 'out heartbeat', 'in unreadable', 'out error', 'out error']);
  });
});
