import { describe, expect, it } from '@jest/globals';
import {
  LIMITS,
  type Actor,
  type AttentionAbout,
  type AttentionCommit,
  type AttentionEvent,
  type KeptProof,
} from '#proto';
import { decideBefore, decideWord, evolveWords, type WordDecision, type WordOrder, type Words } from './words.js';

const ABOUT: AttentionAbout = { kind: 'failed', key: 'failed r1 2026-11-20T10:00:00.000Z', runId: 'r1' };
const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const person = (id: string): Actor => ({ kind: 'person', id });
const TAKE: WordOrder = { kind: 'take' };
const settle = (reason: string): WordOrder => ({ kind: 'settle', reason });
const proofOf = (id: string, order: WordOrder): KeptProof => ({
  key: `U${'A'.repeat(55)}`,
  at: '2026-11-20T12:00:00.000Z',
  signature: 'AAAA',
  subject: `orrery.v.logging.attention-${order.kind}`,
  body: { id, attentionId: '4kq7w2m9x0ab', ...(order.kind === 'settle' && { reason: order.reason }) },
});

/** An entry, and what people say to it one after the other. */
class Told {
  words: Words | undefined;
  decision: WordDecision | undefined;
  #number = 0;

  constructor(public about: AttentionAbout | undefined) {}

  when(who: string, order: WordOrder, id = `c${this.#number}`, proof = proofOf(id, order)): this {
    const ordered = { id, by: person(who), proof, now: NOW + this.#number };
    this.decision = decideBefore(this.words, order, ordered) ?? decideWord(this.about, order, ordered);
    if (this.decision.kind === 'accepted') this.#store(this.decision.events, id, proof);
    return this;
  }

  #store(events: readonly AttentionEvent[], id: string, proof: KeptProof): void {
    this.#number += 1;
    const commit = { attentionId: '4kq7w2m9x0ab', events, causes: [{ kind: 'request', id, proof }] };
    this.words = evolveWords(this.words, commit as unknown as AttentionCommit);
  }
}

describe('an entry', () => {
  it('is taken on by anna and settled by ben, and both are there', () => {
    const told = new Told(ABOUT).when('anna', TAKE);
    expect(told.words?.word).toMatchObject({ state: 'taken', by: person('anna'), changed: true });
    told.when('ben', settle('the disk was replaced'));
    expect(told.words).toMatchObject({ facts: 2, word: { state: 'settled', by: person('ben') } });
  });

  it('is taken over from whoever has it', () => {
    const told = new Told(ABOUT).when('anna', TAKE).when('ben', TAKE);
    expect(told.words?.word).toMatchObject({ by: person('ben'), from: person('anna') });
    expect(told.when('ben', TAKE).words?.word.from).toBeUndefined();
  });

  it('that is settled is nobody’s to take, and stays settled by the first', () => {
    const told = new Told(ABOUT).when('anna', settle('done'));
    expect(told.when('ben', TAKE).decision).toEqual({ kind: 'rejected', reason: 'SETTLED' });
    expect(told.when('ben', settle('done, too')).decision).toMatchObject({
      kind: 'answered',
      word: { by: person('anna'), changed: false },
    });
    expect(told.words?.facts).toBe(1);
  });

  it('gives the same answer to the same command, whatever came after it', () => {
    const told = new Told(ABOUT).when('anna', TAKE, 'first');
    const answer = told.words?.word;
    told.when('ben', TAKE).when('carl', settle('done'));
    expect(told.when('anna', TAKE, 'first').decision).toEqual({ kind: 'answered', word: answer });
    expect(told.words?.facts).toBe(3);
  });

  it('refuses another command under an id that was used', () => {
    const told = new Told(ABOUT).when('anna', TAKE, 'first');
    expect(told.when('anna', settle('x'), 'first').decision).toEqual({ kind: 'rejected', reason: 'ID_USED' });
  });

  it('that is not there is nobody’s to take or to settle; what was said to it is answered all the same', () => {
    for (const order of [TAKE, settle('x')]) {
      expect(new Told(undefined).when('anna', order).decision).toEqual({ kind: 'rejected', reason: 'GONE' });
    }
    const told = new Told(ABOUT).when('anna', TAKE, 'first');
    told.about = undefined;
    expect(told.when('anna', TAKE, 'first').decision?.kind).toBe('answered');
    expect(told.when('ben', settle('x')).decision).toEqual({ kind: 'rejected', reason: 'GONE' });
  });

  it('is not filled by who takes it again and again, and can be settled still', () => {
    const told = new Told(ABOUT);
    for (let times = 0; times < LIMITS.attentionFactsMax; times++) told.when('anna', TAKE);
    expect(told.when('anna', TAKE).decision).toEqual({ kind: 'rejected', reason: 'TOO_MANY' });
    expect(told.when('anna', settle('enough')).decision?.kind).toBe('accepted');
  });
});
