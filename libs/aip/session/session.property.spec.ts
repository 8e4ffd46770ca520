import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ClientMessage, Identity } from '#proto';
import { authorised, numberedFrames, layered } from '../frames/middleware.js';
import { objectionTo } from '../frames/permissions.js';
import { Sequence } from '../frames/sequence.js';
import {
  isNumbered,
  openSession,
  senderOf,
  type Session,
  type SessionEffect,
  type SessionInput,
} from './session-state.js';
import { step } from './session.js';
import { anyMessage, TELEMETRY } from '../testing/client-messages.js';

const SEED = 20_261_124;
const RUNS = 2_000;
const IDENTITY: Identity = { id: 'web-1', role: 'device', targets: null, expiresAt: new Date(60_000).toISOString() };

/** What may happen to a connection. `fault`: what is wrong with the number of a frame that should have one. */
type Act =
  | { readonly act: 'frame'; readonly message: ClientMessage; readonly fault: 'none' | 'gap' | 'again' | 'missing' }
  | { readonly act: 'input'; readonly input: SessionInput; readonly ms: number };

const frame = (message: ClientMessage): Act => ({ act: 'frame', message, fault: 'none' });
const input = (given: SessionInput): Act => ({ act: 'input', input: given, ms: 0 });
const BASE = { status: 'ok', client_type: 'device', client_id: 'web-1' } as const;
const register = (revision: number): Act =>
  frame({ ...BASE, type: 'register', metadata: { orrery: { revision, journal_id: 'j1', telemetry: TELEMETRY } } });
const claimed = input({ kind: 'claimed', sessionId: 's1' });
const resumed = frame({ ...BASE, type: 'resume', orrery: { running: [], finished: [], more: false } });

/** How far the connection has come before anything may happen: by chance alone few would come far. */
const BEGINNINGS: readonly (readonly Act[])[] = [
  [],
  [frame({ ...BASE, type: 'register' })],
  [frame({ ...BASE, type: 'register' }), input({ kind: 'tick' }), claimed],
  [register(1), claimed],
  [register(2)],
  [register(2), claimed],
  [register(2), claimed, resumed],
];

const faults = fc.oneof(
  { weight: 30, arbitrary: fc.constant('none' as const) },
  fc.constantFrom('gap' as const, 'again' as const, 'missing' as const),
);
const inputs: fc.Arbitrary<SessionInput> = fc.constantFrom<SessionInput[]>(
  { kind: 'unreadable', error: 'not JSON' },
  { kind: 'tick' },
  { kind: 'tick' },
  { kind: 'claimed', sessionId: 's2' },
  { kind: 'claim-failed' },
  { kind: 'identified', identity: IDENTITY, error: '' },
  { kind: 'identified', identity: null, error: 'not valid' },
  { kind: 'say', message: { type: 'result_stored', status: 'ok', orrery: { command_id: 'r.a.1.0.0' } } },
  { kind: 'replaced' },
  { kind: 'revoked' },
  { kind: 'shutdown' },
  { kind: 'closed' },
);
const acts: fc.Arbitrary<Act[]> = fc
  .tuple(
    fc.constantFrom(...BEGINNINGS),
    fc.array(
      fc.oneof(
        { weight: 5, arbitrary: fc.record({ act: fc.constant('frame' as const), message: anyMessage, fault: faults }) },
        {
          weight: 1,
          arbitrary: fc.record({
            act: fc.constant('input' as const),
            input: inputs,
            ms: fc.integer({ min: 0, max: 9_000 }),
          }),
        },
      ),
      { maxLength: 25 },
    ),
  )
  .map(([beginning, rest]) => [...beginning, ...rest]);

/** Plays a story against the protocol in its layers and keeps what goes over the wire. */
class Story {
  readonly effects: SessionEffect[] = [];
  readonly #sequence = new Sequence();
  readonly #step = layered<Session, SessionInput, SessionEffect>(
    step,
    numberedFrames({ sequence: this.#sequence, isNumbered }),
    authorised(senderOf),
  );
  session: Session = openSession(IDENTITY, 0);
  nowMs = 0;
  #clientSeq = 0;

  /** The effects of one input, and the session before it. */
  play(act: Act): { before: Session; effects: readonly SessionEffect[] } {
    const before = this.session;
    const given: SessionInput = act.act === 'input' ? act.input : { kind: 'message', message: this.#stamped(act) };
    if (act.act === 'input') {
      this.nowMs += act.ms;
      if (act.input.kind === 'unreadable' && isNumbered(before)) this.#clientSeq++;
    }
    const [after, effects] = this.#step(before, given, this.nowMs);
    this.session = after;
    this.effects.push(...effects);
    return { before, effects };
  }

  #stamped({ message, fault }: Extract<Act, { act: 'frame' }>): ClientMessage {
    if (!isNumbered(this.session) || fault === 'missing') return message;
    if (fault === 'gap') this.#clientSeq++;
    if (fault !== 'again' || this.#clientSeq === 0) this.#clientSeq++;
    return { ...message, seq: this.#clientSeq, ack: 0 };
  }
}

const isAnswer = (effect: SessionEffect): boolean =>
  effect.kind === 'send' && (effect.message.type === 'error' || effect.message.type === 'task_end');
const WORK = new Set(['started', 'result', 'output', 'metrics', 'telemetry', 'file']);

describe('whatever a device sends, in whatever order', () => {
  const check = (holds: (story: Story, history: readonly Act[]) => void): void =>
    fc.assert(
      fc.property(acts, (history) => holds(new Story(), history)),
      { seed: SEED, numRuns: RUNS },
    );

  it('every frame that is wrong gets an answer, unless it came before', () =>
    check((story, history) => {
      for (const act of history) {
        const { before, effects } = story.play(act);
        const sender = senderOf(before);
        if (sender === undefined) continue;
        const isRead = act.act === 'frame' && (act.fault === 'none' || !isNumbered(before));
        if (isRead && objectionTo(act.message, sender) !== null) expect(effects.some(isAnswer)).toBe(true);
        if (act.act === 'input' && act.input.kind === 'unreadable') expect(effects.some(isAnswer)).toBe(true);
        if (act.act !== 'frame' || !isNumbered(before)) continue;
        if (act.fault === 'gap' || act.fault === 'missing') {
          expect(effects.map(({ kind }) => kind)).toEqual(['send', 'close']);
          expect(effects[1]).toMatchObject({ code: 1002 });
        }
      }
    }));

  it('the connection is closed at most once, and nothing comes out of it afterwards', () =>
    check((story, history) => {
      for (const act of history) {
        const { before, effects } = story.play(act);
        if (before.phase === 'CLOSED') expect(effects).toEqual([]);
      }
      const closes = story.effects.filter(({ kind }) => kind === 'close');
      expect(closes.length).toBeLessThanOrEqual(1);
      if (closes.length === 1) expect(story.effects.at(-1)).toBe(closes[0]);
    }));

  it('work is spoken of when the session is ready, and its journal only once before', () =>
    check((story, history) => {
      for (const act of history) {
        const { before, effects } = story.play(act);
        for (const { kind } of effects) {
          if (WORK.has(kind)) expect(before.phase).toBe('READY');
          if (kind === 'resume') expect(before.phase).toBe('RESUMING');
          if (kind === 'open') expect(before.phase).toMatch(/^(?:RESUMING|CLAIMING)$/u);
        }
      }
      expect(story.effects.filter(({ kind }) => kind === 'open').length).toBeLessThanOrEqual(1);
      expect(story.effects.filter(({ kind }) => kind === 'claim').length).toBeLessThanOrEqual(1);
    }));

  it('frames are numbered without a hole from the confirmation on, and not before', () =>
    check((story, history) => {
      const numbers: (number | null | undefined)[] = [];
      for (const act of history) {
        const { before, effects } = story.play(act);
        for (const effect of effects) {
          if (effect.kind !== 'send') continue;
          if (isNumbered(before)) numbers.push(effect.message.seq);
          else expect(effect.message.seq).toBeUndefined();
        }
      }
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    }));

  it('the protocol without its layers throws nothing and trusts nobody', () =>
    fc.assert(
      fc.property(acts, (history) => {
        let session = openSession(IDENTITY, 0);
        for (const act of history) {
          const given: SessionInput = act.act === 'input' ? act.input : { kind: 'message', message: act.message };
          const before: Session['phase'] = session.phase;
          const [after, effects] = step(session, given, 0);
          session = after;
          for (const { kind } of effects) if (WORK.has(kind)) expect(before).toBe('READY');
        }
      }),
      { seed: SEED, numRuns: RUNS },
    ));
});
