import { describe, expect, it } from '@jest/globals';
import type { AttemptEvent, CommandCall } from '#proto';
import { EMPTY_BOOK, recordFacts } from './book.js';
import { answerOutcome, callOutcome } from './recorded-outcomes.js';

const HASH = 'a'.repeat(64);
const DF: CommandCall = { tool: 'EXEC_CLI', arguments: { command: 'df -h' } };
const RM: CommandCall = { tool: 'EXEC_CLI', arguments: { command: 'rm -r /tmp/x' } };
const idOf = (number: number, index = 0): string => `r-1.t-1.1.${number}.${index}`;
const EXPIRES = '2026-03-01T08:00:00.000Z';
const person = { kind: 'person', id: 'jane' } as const;

const judged = (
  number: number,
  command: CommandCall,
  decision: 'allow' | 'approve' | 'deny',
  index = 0,
): AttemptEvent => ({
  type: 'COMMAND_JUDGED',
  data: {
    step: number,
    index,
    commandId: idOf(number, index),
    command,
    class: 'read',
    decision,
    rule: 'program.df',
    reasons: decision === 'deny' ? ['no such thing', 'here'] : [],
    grantable: false,
    origin: 'agent',
    policyHash: HASH,
  },
});
const finished = (number: number, command: CommandCall, more: object = {}): AttemptEvent => ({
  type: 'COMMAND_FINISHED',
  data: {
    commandId: idOf(number),
    deviceId: 'web-1',
    sessionId: 's-1',
    command,
    state: 'COMPLETED',
    result: { value: 'out' },
    error: null,
    startedAt: null,
    durationMs: null,
    ...more,
  },
});
const ask = { deviceId: 'web-1', agent: 'LinuxAgent', thought: '', plan: [] as string[], expiresAt: EXPIRES };
const asked = (number: number, command: CommandCall): AttemptEvent => ({
  type: 'ATTEMPT_ASKED',
  data: {
    ...ask,
    kind: 'approval',
    approvalId: idOf(number),
    step: number,
    command,
    class: 'destructive',
    rule: 'program.rm',
    reasons: [],
    policyHash: HASH,
    grantable: false,
  },
});
const questioned = (number: number, question: string): AttemptEvent => ({
  type: 'ATTEMPT_ASKED',
  data: { kind: 'question', ...ask, approvalId: idOf(number), step: number, question },
});
const decided = (
  number: number,
  decision: 'approved' | 'rejected' | 'expired' | 'answered',
  more = {},
): AttemptEvent => ({
  type: 'ATTEMPT_SIGNALLED',
  data: { signal: 'decision', approvalId: idOf(number), decision, by: person, ...more },
});

const recordOf = (events: readonly AttemptEvent[], number = 1) => {
  const record = recordFacts(EMPTY_BOOK, events).commands.get(idOf(number));
  if (record === undefined) throw new Error('nothing is recorded');
  return record;
};

describe('what is recorded of a command', () => {
  it('is what came of it', () => {
    const ended = { kind: 'finished' as const, state: 'COMPLETED' as const, result: { value: 'out' }, message: null };
    const called = { kind: 'called', step: 1, index: 0, command: DF, ended };
    expect(callOutcome(recordOf([judged(1, DF, 'allow'), finished(1, DF)]))).toEqual(called);
  });

  it.each([
    ['the policy', [judged(1, RM, 'deny')], { by: 'policy', code: 'POLICY_DENIED', message: 'no such thing; here' }],
    [
      'a person',
      [judged(1, RM, 'approve'), asked(1, RM), decided(1, 'rejected', { note: 'not now' })],
      { by: 'person', code: 'APPROVAL_REJECTED', message: 'not now' },
    ],
    [
      'nobody in time',
      [judged(1, RM, 'approve'), asked(1, RM), decided(1, 'expired')],
      { by: 'person', code: 'APPROVAL_EXPIRED', message: 'nobody decided in time, which is a no' },
    ],
    [
      'the device',
      [
        judged(1, RM, 'allow'),
        finished(1, RM, {
          state: 'FAILED',
          refused: true,
          result: null,
          error: { code: 'POLICY_DENIED', message: 'local rule', outcome: 'failed' },
        }),
      ],
      { by: 'device', code: 'POLICY_DENIED', message: 'local rule' },
    ],
  ])('is that it was refused by %s', (_, events, refusal) => {
    const ended = { kind: 'refused', ...refusal };
    expect(callOutcome(recordOf(events))).toMatchObject({ command: RM, ended });
  });

  it('is that there was no such tool', () => {
    const call: CommandCall = { tool: 'FLY', arguments: {} };
    const verdict = judged(1, call, 'deny');
    const events = [{ ...verdict, data: { ...verdict.data, rule: 'no-such-tool' } } as AttemptEvent];
    expect(callOutcome(recordOf(events))).toMatchObject({ ended: { by: 'policy', code: 'UNKNOWN_TOOL' } });
  });

  it('is the command that ran instead of the one that was planned', () => {
    const events = [judged(1, RM, 'approve'), asked(1, RM), decided(1, 'approved'), finished(1, DF)];
    expect(callOutcome(recordOf(events))).toMatchObject({ command: DF });
  });

  it('is an answer, or that there was none', () => {
    const events = [
      questioned(1, 'Which one?'),
      decided(1, 'answered', { answer: 'the first' }),
      questioned(2, 'Sure?'),
      decided(2, 'expired', { note: 'nobody there' }),
    ];
    expect(answerOutcome(recordOf(events))).toMatchObject({ text: 'the first', note: '' });
    expect(answerOutcome(recordOf(events, 2))).toMatchObject({ text: null, note: 'nobody there' });
  });
});
