import { describe, expect, it } from '@jest/globals';
import { Silence, SILENCE } from './silence.js';

const { quietMs, answerMs, sleptMs } = SILENCE;
const HOUR = 3_600_000;

describe('an open socket', () => {
  it('is asked only when it was quiet, once, and is fine when it answers', () => {
    const silence = new Silence(0);
    expect([quietMs - 1, quietMs, quietMs + 1].map((at) => silence.look(at))).toEqual(['fine', 'ask', 'fine']);
    silence.heard(quietMs + 2);
    expect([quietMs + answerMs, 2 * quietMs + 1, 2 * quietMs + 2].map((at) => silence.look(at))).toEqual([
      'fine',
      'fine',
      'ask',
    ]);
  });

  it('is lost when it does not answer', () => {
    const silence = new Silence(0);
    expect([quietMs, quietMs + answerMs - 1, quietMs + answerMs].map((at) => silence.look(at))).toEqual([
      'ask',
      'fine',
      'lost',
    ]);
  });

  it.each([sleptMs + 1, HOUR, -HOUR])('is in doubt when %i ms have passed at once, until it answers', (at) => {
    const silence = new Silence(0);
    expect(silence.look(at)).toBe('doubt');
    silence.heard(at + 5);
    expect([at + answerMs, at + quietMs + 5].map((one) => silence.look(one))).toEqual(['fine', 'ask']);
  });

  it('is lost when it does not answer after a sleep', () => {
    const silence = new Silence(0);
    expect([HOUR, HOUR + answerMs].map((at) => silence.look(at))).toEqual(['doubt', 'lost']);
  });
});
