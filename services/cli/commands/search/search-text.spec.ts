import { describe, expect, it } from '@jest/globals';
import type { FoundCommand } from '#proto';
import { endText, foundLines, nothingText } from './search-text.js';
import { searchedWords } from './searched-words.js';

const FOUND: FoundCommand = {
  commandId: 'r.disk.1.2.0',
  runId: 'r',
  taskId: 'disk',
  attempt: 1,
  step: 2,
  index: 0,
  device: 'db-1',
  by: 'anna',
  at: '2026-11-20T12:00:00.123Z',
  tool: 'EXEC_CLI',
  line: 'df -h /srv',
  state: 'COMPLETED',
  exitCode: 1,
  rule: 'program.df',
  decision: 'allow',
  found: {
    of: 'stderr',
    text: '/srv: disk full, disk',
    marks: [
      { from: 6, to: 15 },
      { from: 17, to: 21 },
    ],
  },
  cut: true,
};

describe('what is typed', () => {
  it.each([
    [['disk', 'full'], 'disk full'],
    [['disk full'], '"disk full"'],
    [['disk full', 'sda*'], '"disk full" sda*'],
    [['"disk full" OR oom'], '"disk full" OR oom'],
    [['oom OR panic'], 'oom OR panic'],
    [['rm -rf'], '"rm -rf"'],
    [['NOT disk'], 'NOT disk'],
  ])('%j is asked for as %s', (typed, words) => expect(searchedWords(typed)).toBe(words));
});

describe('what is found', () => {
  it('is told with its hits marked, and what to type for more', () => {
    expect(foundLines(FOUND, { color: false })).toEqual([
      '2026-11-20 12:00:00Z  db-1  exit 1  by anna  allow program.df',
      '  df -h /srv',
      '  stderr: /srv: «disk full», «disk»',
      '  only a part of its output was looked at; all of it:',
      '  orrery output r disk --attempt 1 --step 2.0',
    ]);
    const denied = { ...FOUND, state: 'DENIED' as const, exitCode: null, cut: false, found: null };
    expect(foundLines(denied, { color: false }).slice(2)).toEqual(['  orrery steps r disk']);
  });

  it.each([
    [
      'a hit far behind',
      `${'x'.repeat(100)} disk ${'y '.repeat(60)}`,
      [{ from: 101, to: 105 }],
      /^ {2}stderr: …x+ «disk» (y )+.*…$/u,
    ],
    ['a hit as long as what is shown', 'disk '.repeat(48), [{ from: 0, to: 239 }], /^ {2}stderr: «(disk )+.*…»$/u],
    [
      'many hits',
      'disk '.repeat(48),
      Array.from({ length: 48 }, (_, n) => ({ from: n * 5, to: n * 5 + 4 })),
      /^ {2}stderr: («disk» )+«di…»$/u,
    ],
    ['what is shown as escapes', `${'\u202e'.repeat(60)}disk`, [{ from: 60, to: 64 }], /«disk»$/u],
    ['characters of two units', `${'😀'.repeat(50)}disk`, [{ from: 100, to: 104 }], /…(😀){32}«disk»$/u],
  ])('fits a terminal of 80 columns: %s', (_, text, marks, expected) => {
    const [, , line = ''] = foundLines({ ...FOUND, found: { of: 'stderr', text, marks } }, { color: false });
    expect(line).toMatch(expected);
    expect(Array.from(line).length).toBeLessThanOrEqual(80);
  });

  it('cannot write anything else to a terminal, nor show what is not there', () => {
    const text = `\u001B[2J\u202edisk\u0007\n${'x'.repeat(300)}`;
    const hostile = {
      ...FOUND,
      line: text,
      by: 'an\u001Bna',
      found: { of: 'stdout' as const, text, marks: [{ from: 5, to: 9 }] },
    };
    const lines = foundLines(hostile, { color: false });
    expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(lines[2]).toMatch(/^ {2}stdout: .*«disk».*…$/u);
    expect(lines.every((line) => !line.includes('\n'))).toBe(true);
  });

  it('may be nothing, or not all: then it is said why, and what to try', () => {
    expect(nothingText({ words: '"disk full"' })[0]).toContain('orrery search disk full');
    expect(nothingText({ words: `"' or 1=1; --"` })[0]).toMatch(/by itself$/u);
    expect(nothingText({ words: 'disk' }).join('\n')).toContain('only the beginning is looked at');
    expect(nothingText({ device: 'x' })).toEqual(['No command is recorded of which all of that holds.']);
    const answer = { commands: [], before: '7', cut: true, upTo: { sequence: 9, at: null, behind: 3 } } as const;
    expect(endText({ ...answer, commands: [] }, (before) => `orrery search --before ${before} disk`)).toEqual([
      'the time for one search was used up; older commands are not looked at yet',
      'there may be older ones: orrery search --before 7 disk',
      'not complete yet: the newest 3 facts of attempts are not looked at',
    ]);
  });
});
