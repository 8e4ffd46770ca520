import { describe, expect, it } from '@jest/globals';
import { exitCodeOfRun } from './exit-codes.js';
import { renderTable } from './table.js';
import { wantsColor } from './terminal.js';

const columns = [
  { title: 'ID', value: ({ id }: { id: string }) => id },
  { title: 'STATUS', value: ({ status }: { status: string }) => status, status: true },
];
const rows = [
  { id: 'a', status: 'FAILED' },
  { id: 'long-one', status: 'connected\u001B[2J' },
];

describe('renderTable', () => {
  it('gives a pipe one line per row, cells separated by tabs, without a head', () =>
    expect(renderTable(rows, columns, { isTerminal: false, color: false })).toBe('a\tFAILED\nlong-one\tconnected'));

  it('gives a person columns and a head', () =>
    expect(renderTable(rows, columns, { isTerminal: true, color: false }).split('\n')).toEqual([
      'ID        STATUS',
      'a         FAILED',
      'long-one  connected',
    ]));

  it('colours statuses where colours are wanted', () =>
    expect(renderTable(rows, columns, { isTerminal: true, color: true })).toContain('\u001B[31mFAILED\u001B[0m'));
});

describe('wantsColor', () => {
  it('is for terminals', () => expect([wantsColor({}, true), wantsColor({}, false)]).toEqual([true, false]));
  it('honours NO_COLOR above all', () => expect(wantsColor({ NO_COLOR: '1', FORCE_COLOR: '1' }, true)).toBe(false));
  it('takes an empty NO_COLOR as none', () => expect(wantsColor({ NO_COLOR: '' }, true)).toBe(true));
});

describe('exitCodeOfRun', () => {
  it.each([
    ['COMPLETED', 'succeeded', 0],
    ['COMPLETED', 'partially_failed', 2],
    ['FAILED', null, 2],
    ['CANCELLED', null, 2],
  ])('%s %s is %i', (status, outcome, code) => expect(exitCodeOfRun({ status, outcome })).toBe(code));
});
