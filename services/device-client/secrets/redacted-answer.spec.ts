import { describe, expect, it } from '@jest/globals';
import type { ToolAnswer, ToolOutput } from '#libs/mcp';
import { RedactedOutput, withoutSecrets } from './redacted-answer.js';
import { Redactor } from './redactor.js';

const redactor = new Redactor([['key', 'canary-4711']]);

describe('an answer', () => {
  it.each<[ToolAnswer, ToolAnswer]>([
    [
      { kind: 'answered', isError: false, value: { a: ['x canary-4711'] } },
      { kind: 'answered', isError: false, value: { a: ['x [secret:key]'] } },
    ],
    [
      { kind: 'cancelled', value: 'canary-4711' },
      { kind: 'cancelled', value: '[secret:key]' },
    ],
    [
      { kind: 'unavailable', reason: 'said canary-4711' },
      { kind: 'unavailable', reason: 'said [secret:key]' },
    ],
    [
      { kind: 'lost', reason: 'canary-4711' },
      { kind: 'lost', reason: '[secret:key]' },
    ],
    [{ kind: 'timed_out' }, { kind: 'timed_out' }],
  ])('says %j without the secret', (answer, expected) => expect(withoutSecrets(answer, redactor)).toEqual(expected));

  it('stays as it is where there are no secrets', () => {
    const answer: ToolAnswer = { kind: 'answered', isError: false, value: 'canary-4711' };
    expect(withoutSecrets(answer, undefined)).toBe(answer);
  });
});

describe('what a running call writes', () => {
  it('has no secret that its pieces cut, keeps its gaps, and is whole in the end', () => {
    const told: ToolOutput[] = [];
    const output = new RedactedOutput(redactor, (piece) => told.push(piece));
    output.push({ stream: 'stdout', offset: 0, text: 'a canary' });
    output.push({ stream: 'stderr', offset: 0, text: 'other' });
    output.push({ stream: 'stdout', offset: 8, text: '-4711 b can' });
    output.push({ stream: 'stdout', offset: 100, text: 'ary-4711 c' });
    output.push({ stream: 'stdout', offset: 110, text: 'canary' });
    output.end();
    expect(told).toEqual([
      { stream: 'stdout', offset: 0, text: 'a ' },
      { stream: 'stderr', offset: 0, text: 'other' },
      { stream: 'stdout', offset: 2, text: '[secret:key] b ' },
      { stream: 'stdout', offset: 17, text: 'can' },
      { stream: 'stdout', offset: 101, text: 'ary-4711 ' },
      { stream: 'stdout', offset: 110, text: 'c' },
      { stream: 'stdout', offset: 111, text: 'canary' },
    ]);
  });
});
