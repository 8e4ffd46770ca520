import { describe, expect, it } from '@jest/globals';
import { answered, cli, refused } from '../testing/drive.js';
import { isFailing, outcomeText, Repeats } from './repeats.js';

const call = (command: string) => ({ tool: 'EXEC_CLI', arguments: { command } });

describe('repetitions', () => {
  it('of a failure are told from the second in a row on, and hopeless after the third', () => {
    const repeats = new Repeats();
    const told = [1, 2, 3].map(() => [repeats.note(call('make'), 'no', true).length, repeats.hopeless(call('make'))]);
    expect(told).toEqual([
      [0, null],
      [1, null],
      [1, 3],
    ]);
    expect(repeats.hopeless(call('make test'))).toBeNull();
  });

  it('with something else in between may be tries to mend it: six of them', () => {
    const repeats = new Repeats();
    for (let n = 1; n <= 6; n++) {
      expect(repeats.hopeless(call('make'))).toBeNull();
      expect(repeats.note(call('make'), 'no', true)).toHaveLength(n < 3 ? 0 : 1);
      repeats.note(call(`sed -i ${n}`), 'ok', false);
    }
    expect(repeats.hopeless(call('make'))).toBe(6);
  });

  it('are none when the outcome is another one', () => {
    const repeats = new Repeats();
    for (let n = 0; n < 20; n++) expect(repeats.note(call('make'), `no ${n}`, true)).toEqual([]);
    expect(repeats.hopeless(call('make'))).toBeNull();
  });

  it('of a success may be a way to wait: eight in a row', () => {
    const repeats = new Repeats();
    for (let n = 1; n <= 8; n++) {
      expect(repeats.hopeless(call('ls'))).toBeNull();
      expect(repeats.note(call('ls'), 'empty', false)).toHaveLength(n < 4 ? 0 : 1);
    }
    expect(repeats.hopeless(call('ls'))).toBe(8);
  });

  it('are of the same arguments, in whatever order they stand', () => {
    const repeats = new Repeats();
    const one = { tool: 'T', arguments: { a: 1, b: [1, { c: null, d: 2 }] } };
    const same = { tool: 'T', arguments: { b: [1, { d: 2, c: null }], a: 1 } };
    repeats.note(one, 'no', true);
    expect(repeats.note(same, 'no', true)).toHaveLength(1);
    expect(repeats.note({ ...one, tool: 'U' }, 'no', true)).toEqual([]);
  });
});

describe('an outcome', () => {
  const timed = (timestamp: string, execution_time: number) =>
    answered({ stdout: 'x', stderr: '', exit_code: 0, timestamp, execution_time });

  it('is the same whenever it was and however long it took', () => {
    expect(outcomeText(timed('a', 1))).toBe(outcomeText(timed('b', 2)));
    expect(outcomeText(cli('x'))).not.toBe(outcomeText(cli('y')));
    expect(outcomeText(cli('x'))).not.toBe(outcomeText(cli('x', 1)));
  });

  it('of a refusal is who said no and with which code', () => {
    expect(outcomeText(refused('person', 'NO', 'today'))).toBe(outcomeText(refused('person', 'NO', 'tomorrow')));
    expect(outcomeText(refused('person', 'NO', ''))).not.toBe(outcomeText(refused('policy', 'NO', '')));
  });

  it.each([
    ['exit code 0', cli('x'), false],
    ['another exit code', cli('x', 3), true],
    ['an answer without one', answered([1]), false],
    ['no answer', answered(null), false],
    ['a refusal', refused('device', 'NO', ''), true],
    ['a timeout', { kind: 'finished', state: 'TIMED_OUT', result: null, message: null } as const, true],
  ])('%s fails: %#', (_, ended, failing) => {
    expect(isFailing(ended)).toBe(failing);
  });
});
