import { describe, expect, it } from '@jest/globals';
import type { Edit, WaitingFor } from '#proto';
import { editsText, editText, stopText, triggersText, violationsText, wakerText } from './event-text.js';

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
      'builds plan: 1 tasks, 1 lines',
      { tool: 'build_constellation', constellation: { name: 'plan', tasks: [task], lines: [line] }, clear: true },
    ],
    [
      'adds to the constellation plan: 1 tasks, 0 lines',
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
