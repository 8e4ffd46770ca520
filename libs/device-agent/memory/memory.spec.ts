import { describe, expect, it } from '@jest/globals';
import type { AttemptEvent, CommandCall } from '#proto';
import { Blackboard } from './blackboard.js';
import { foldMemory, Memory } from './memory.js';
import { step } from '../prompter/given.testing.js';

const HASH = 'a'.repeat(64);
const DF: CommandCall = { tool: 'EXEC_CLI', arguments: { command: 'df -h' } };
const RM: CommandCall = { tool: 'EXEC_CLI', arguments: { command: 'rm -r /tmp/x' } };
const idOf = (number: number, index = 0): string => `r-1.t-1.1.${number}.${index}`;
const EXPIRES = '2026-03-01T08:00:00.000Z';
const person = { kind: 'person', id: 'jane' } as const;

const planned = (number: number, more: object = {}): AttemptEvent => ({
  type: 'STEP_PLANNED',
  data: {
    step: number,
    agent: 'LinuxAgent',
    calls: [],
    templates: [],
    reply: {},
    status: 'CONTINUE',
    observation: `seen ${number}`,
    thought: `thought ${number}`,
    plan: ['go on'],
    comment: '',
    notes: [`note ${number}`],
    ...more,
  },
});
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

describe('Memory', () => {
  it('is not changed by what is added to it', () => {
    const first = Memory.empty.add(step(1));
    const second = first.add(step(2));
    expect([Memory.empty, first, second].map(({ items }) => items.length)).toEqual([0, 1, 2]);
  });

  it('keeps the later item of a step, and the order of the steps', () => {
    const memory = Memory.empty
      .add(step(1))
      .add(step(2))
      .add(step(2, { status: 'FINISH' }));
    expect(memory.items.map(({ status }) => status)).toEqual(['CONTINUE', 'FINISH']);
    expect(() => memory.add(step(1))).toThrow(/in the order of the steps/u);
  });
});

describe('foldMemory', () => {
  it('remembers what was said and what came of each command', () => {
    const events = [planned(1), judged(1, DF, 'allow'), finished(1, DF), planned(2, { reply: { subtask: 'a part' } })];
    const ended = { kind: 'finished' as const, state: 'COMPLETED' as const, result: { value: 'out' }, message: null };
    const said = (number: number) => ({ observation: `seen ${number}`, thought: `thought ${number}`, plan: ['go on'] });
    expect(foldMemory(events).items).toEqual([
      step(1, { ...said(1), notes: ['note 1'], calls: [{ index: 0, command: DF, ended }] }),
      step(2, { ...said(2), notes: ['note 2'], subtask: 'a part' }),
    ]);
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
  ])('remembers a command that was refused by %s', (_, events, refusal) => {
    const [item] = foldMemory([planned(1), ...events]).items;
    expect(item?.calls).toEqual([{ index: 0, command: RM, ended: { kind: 'refused', ...refusal } }]);
  });

  it('remembers that there was no such tool', () => {
    const call: CommandCall = { tool: 'FLY', arguments: {} };
    const verdict = judged(1, call, 'deny');
    const events = [planned(1), { ...verdict, data: { ...verdict.data, rule: 'no-such-tool' } } as AttemptEvent];
    expect(foldMemory(events).items[0]?.calls[0]?.ended).toMatchObject({ by: 'policy', code: 'UNKNOWN_TOOL' });
  });

  it('remembers the command that ran instead of the one that was planned', () => {
    const events = [planned(1), judged(1, RM, 'approve'), asked(1, RM), decided(1, 'approved'), finished(1, DF)];
    expect(foldMemory(events).items[0]?.calls.map(({ command }) => command)).toEqual([DF]);
  });

  it('remembers answers, and that there was none', () => {
    const events = [
      planned(1),
      questioned(1, 'Which one?'),
      decided(1, 'answered', { answer: 'the first' }),
      planned(2),
      questioned(2, 'Sure?'),
      decided(2, 'expired', { note: 'nobody there' }),
    ];
    expect(foldMemory(events).items.map(({ answers }) => answers)).toEqual([
      [{ question: 'Which one?', text: 'the first', note: '' }],
      [{ question: 'Sure?', text: null, note: 'nobody there' }],
    ]);
  });

  it('leaves out commands that no model planned', () => {
    expect(foldMemory([finished(0, DF), planned(1), finished(2, DF)]).items.map(({ calls }) => calls)).toEqual([[]]);
  });

  it('remembers why a step came to nothing', () => {
    const error = { code: 'MODEL_REPLY_INVALID', message: 'no JSON' };
    const events: AttemptEvent[] = [{ type: 'STEP_FAILED', data: { step: 1, agent: 'LinuxAgent', calls: [], error } }];
    expect(foldMemory(events).items[0]?.problems).toEqual(['MODEL_REPLY_INVALID: no JSON']);
  });
});

describe('Blackboard', () => {
  it('holds a fact of an agent once, and is not changed by a post', () => {
    const board = Blackboard.of([{ agent: 'A', text: 'x' }]);
    const more = board.post({ agent: 'A', text: 'x' }).post({ agent: 'B', text: 'x' });
    expect(board.entries).toHaveLength(1);
    expect(more.entries).toEqual([
      { agent: 'A', text: 'x' },
      { agent: 'B', text: 'x' },
    ]);
  });
});
