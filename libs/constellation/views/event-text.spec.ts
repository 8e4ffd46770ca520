import { describe, expect, it } from '@jest/globals';
import type { Edit, WaitingFor } from '#proto';
import {
  callText,
  decisionText,
  editsText,
  editText,
  stopText,
  triggersText,
  usageText,
  violationsText,
  wakerText,
} from './event-text.js';

const task = {
  id: 'd',
  name: 'Disk',
  description: '',
  tips: [],
  target: { device: 'web-1' },
  command: { tool: 'EXEC_CLI', arguments: {} },
};
const line = { id: 'l1', from: 'a', to: 'd', type: 'unconditional' as const };

describe('editText', () => {
  const cases: [string, Edit][] = [
    ['adds task d', { tool: 'add_task', task }],
    ['removes task d', { tool: 'remove_task', taskId: 'd' }],
    [
      'changes task d: name = Disk 2, priority = 5, command removed',
      { tool: 'update_task', taskId: 'd', change: { name: 'Disk 2', priority: 5, command: null } },
    ],
    [
      'changes task d: target = {"device":"web-2"}, description',
      { tool: 'update_task', taskId: 'd', change: { target: { device: 'web-2' }, description: 'x'.repeat(81) } },
    ],
    ['adds line l1 from a to d (unconditional)', { tool: 'add_dependency', line }],
    [
      'adds line l1 from a to d (conditional: result.exit_code == 0)',
      { tool: 'add_dependency', line: { ...line, type: 'conditional', condition: 'result.exit_code == 0' } },
    ],
    ['removes line l1', { tool: 'remove_dependency', lineId: 'l1' }],
    [
      'changes line l1: type = success-only',
      { tool: 'update_dependency', lineId: 'l1', change: { type: 'success-only' } },
    ],
    [
      'builds plan: 1 task, 1 line',
      { tool: 'build_constellation', constellation: { name: 'plan', tasks: [task], lines: [line] }, clear: true },
    ],
    [
      'adds to the constellation plan: 1 task, 0 lines',
      { tool: 'build_constellation', constellation: { name: 'plan', tasks: [task], lines: [] }, clear: false },
    ],
  ];
  it.each(cases)('%s', (text, edit) => expect(editText(edit)).toBe(text));

  it('says of a batch what it does, or that it does nothing', () => {
    const removals = Array.from({ length: 10 }, (_, index): Edit => ({ tool: 'remove_task', taskId: `t${index}` }));
    expect(editsText([])).toBe('changes nothing');
    expect(editsText(removals.slice(0, 2))).toBe('removes task t0; removes task t1');
    expect(editsText(removals)).toMatch(/removes task t7; 2 more$/u);
  });
});

describe('what rounds and stops are about', () => {
  it('names triggers', () =>
    expect(triggersText([{ kind: 'goal' }, { kind: 'task', taskId: 'a', attempt: 2 }, { kind: 'end-of-plan' }])).toBe(
      'the goal, a attempt 2, the end of the plan',
    ));

  it('gives the first violation and counts the others', () => {
    const violation = { code: 'NO_DEVICE' as const, path: 'edits[0].task.target', message: 'no device' };
    expect(violationsText([violation])).toBe('NO_DEVICE edits[0].task.target: no device');
    expect(violationsText([violation, violation, violation])).toMatch(/no device; 2 more$/u);
  });

  it('says who stopped it and why', () => {
    expect(stopText({ reason: 'timeout' })).toBe('timeout');
    const by = { kind: 'person' as const, id: 'anna' };
    expect(stopText({ reason: 'cancelled', by, note: 'wrong device' })).toBe('cancelled by anna: wrong device');
  });

  it.each([
    ['attempt', 'the end of an attempt'],
    ['proposal', 'a proposal'],
    ['fleet', 'a change of the fleet'],
    ['timer', 'the clock'],
    ['operator', 'an operator'],
  ] as const)('says what wakes a run: %s', (wokenBy, text) => {
    const waiting: WaitingFor = { reason: 'device', detail: '', wokenBy, wakesAt: null };
    expect(wakerText(waiting)).toBe(text);
    expect(wakerText({ ...waiting, wakesAt: '2026-01-01T00:00:00.000Z' })).toBe(
      `${text}, at the latest 2026-01-01T00:00:00.000Z`,
    );
  });
});

describe('what persons and agents say', () => {
  const anna = { kind: 'person', id: 'anna' } as const;
  const command = { tool: 'EXEC_CLI', arguments: { command: 'rm /srv/x' } };

  it('is told with the exact command', () => {
    expect(callText(command)).toBe('EXEC_CLI rm /srv/x');
    expect(callText({ ...command, arguments: { command: 'df', timeout: 5 } })).toBe('EXEC_CLI df {"timeout":5}');
    expect(callText({ tool: 'SYS_INFO', arguments: { info_type: 'disk' } })).toBe('SYS_INFO {"info_type":"disk"}');
    expect(callText({ tool: 'SYS_INFO', arguments: {} })).toBe('SYS_INFO');
  });

  it.each([
    ['approved by anna', { decision: 'approved', by: anna }],
    [
      'approved by anna, the same until 12:00: ok',
      { decision: 'approved', by: anna, grant: { until: '12:00' }, note: 'ok' },
    ],
    ['approved by anna, as r.a.1.1.0 allows', { decision: 'approved', by: anna, grantOf: 'r.a.1.1.0' }],
    ['edited by anna, as EXEC_CLI rm /srv/x', { decision: 'edited', by: anna, command }],
    ['answered by anna: the second', { decision: 'answered', by: anna, answer: 'the second' }],
    [
      'answered by anna: the second; ask less',
      { decision: 'answered', by: anna, answer: 'the second', note: 'ask less' },
    ],
  ])('is %s', (text, said) => expect(decisionText(said)).toBe(text));

  it('names of a budget what it bounds', () => {
    expect(usageText({ llmCalls: 3, costUsd: 0.5 })).toBe('3 calls of a model, 0.5 USD');
    expect(usageText({})).toBe('no bound');
  });
});
