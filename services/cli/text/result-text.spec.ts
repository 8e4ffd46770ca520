import { exitCodeIn } from '#libs/constellation';
import { expect, it } from '@jest/globals';
import { answerText, stderrOf } from './result-text.js';

it.each([
  ['an agent', 'Two disks\nare full.', 'Two disks\nare full.', '', undefined],
  ['a command', { stdout: 'out', stderr: 'err', exit_code: 1 }, 'out', 'err', 1],
  ['a tool', { data: [1] }, '{"data":[1]}', '', undefined],
  ['a tool with a list', [1], '[1]', '', undefined],
  ['nobody', null, 'null', '', undefined],
])('what %s answers is text', (_, value, text, stderr, exitCode) =>
  expect([answerText(value), stderrOf(value), exitCodeIn(value)]).toEqual([text, stderr, exitCode]),
);

it('JSON is laid out where there is room', () => expect(answerText([1], 2)).toBe('[\n  1\n]'));
