import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
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

  it('fits the screen: spare columns go, then the widest is cut, and never what names a row', () => {
    const wide = [
      { title: 'ID', value: () => 'x'.repeat(26) },
      { title: 'SPARE', value: () => 'spare', spare: true },
      { title: 'ALSO', value: () => 'also', spare: true },
      { title: 'NAME', value: () => 'n'.repeat(40) },
      { title: 'WHAT', value: () => 'w'.repeat(12) },
    ];
    const at = (width: number): string[] =>
      renderTable([0], wide, { isTerminal: true, color: false, columns: width }).split('\n');
    const id = 'x'.repeat(26);
    expect(at(95)[1]).toBe(`${id}  spare  also  ${'n'.repeat(40)}  ${'w'.repeat(12)}`);
    expect(at(94)[1]).toBe(`${id}  spare  ${'n'.repeat(40)}  ${'w'.repeat(12)}`);
    expect(at(60)[1]).toBe(`${id}  ${'n'.repeat(17)}…  ${'w'.repeat(12)}`);
    expect(at(50)[1]).toBe(`${id}  ${'n'.repeat(9)}…  ${'w'.repeat(9)}…`);
    expect(at(20).slice(1)).toEqual([id, '    nnnnnn…  wwwwww…']);
    for (const width of [60, 80, 94, 95]) for (const line of at(width)) expect(line.length).toBeLessThanOrEqual(width);
  });

  it('gives a name that is too long for its column a line of its own, whole, and the other rows one line', () => {
    const names = ['db-1', `web.${'eu-'.repeat(18)}1`];
    const wide = [
      { title: 'DEVICE', value: (name: string) => name },
      { title: 'STATUS', value: () => 'connected', status: true },
      { title: 'TASK', value: () => 'disk' },
      { title: 'TAGS', value: () => 'web,eu', spare: true },
    ];
    expect(renderTable(names, wide, { isTerminal: true, color: false, columns: 80 }).split('\n')).toEqual([
      'DEVICE  STATUS     TASK  TAGS',
      'db-1    connected  disk  web,eu',
      names[1],
      '        connected  disk  web,eu',
    ]);
    expect(renderTable(names, wide, { isTerminal: true, color: false, columns: 120 }).split('\n')).toHaveLength(3);
  });

  it('does without columns that say nothing, before any other', () => {
    const said = [...columns, { title: 'NONE', value: () => '-' }, { title: 'SPARE', value: () => 'x', spare: true }];
    const head = (width: number) =>
      renderTable(rows, said, { isTerminal: true, color: false, columns: width }).split('\n')[0];
    expect([40, 30, 25].map(head)).toEqual([
      'ID        STATUS     NONE  SPARE',
      'ID        STATUS     SPARE',
      'ID        STATUS',
    ]);
  });

  it('fits 80 columns, whatever stands in it', () => {
    const wordy = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '-', 'é', '世', '\u001B[31m'), maxLength: 90 });
    const widthOf = (line: string): number => Array.from(line).length + line.split('世').length - 1;
    const heads = fc.array(
      fc.record({ title: fc.stringMatching(/^[A-Z]{1,12}$/u), spare: fc.boolean(), status: fc.boolean() }),
      {
        maxLength: 8,
      },
    );
    const lists = fc.array(fc.tuple(fc.stringMatching(/^[a-z]{1,80}$/u), ...Array.from({ length: 8 }, () => wordy)), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(heads, lists, (others, told) => {
        const all = [{ title: 'ID' }, ...others].map((head, at) => ({
          ...head,
          value: (row: string[]) => row[at] ?? '',
        }));
        const lines = renderTable(told, all, { isTerminal: true, color: false, columns: 80 }).split('\n');
        expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
        // A row has its name before it, or on a line above it.
        expect(lines.slice(1).flatMap((line) => /^[a-z]+/u.exec(line) ?? [])).toEqual(told.map(([id]) => id));
        expect(lines.length).toBeLessThanOrEqual(2 * told.length + 1);
      }),
    );
  });

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
