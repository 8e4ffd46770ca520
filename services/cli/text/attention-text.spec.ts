import { describe, expect, it } from '@jest/globals';
import type { AttentionEntry } from '#proto';
import { attentionHead, attentionText, attentionTotal } from './attention-text.js';

const ENTRY: AttentionEntry = {
  id: '4kq7w2m9x0ab',
  kind: 'failed',
  key: 'failed r1 2026-11-20T12:00:00.000Z',
  runId: 'r1',
  what: `"nightly \u001b[31mbackup" failed: ${'x'.repeat(200)}`,
  next: 'orrery show r1',
  since: '2026-11-20T12:00:00.000Z',
  state: 'taken',
  by: { kind: 'person', id: 'anna' },
  at: '2026-11-20T12:01:00.000Z',
  reason: null,
};
const UNSEEN = { source: 'consumers', reason: 'no answer within 3 s' };
const NOTHING = { open: 0, taken: 0, entries: [], unseen: [] };

describe('the head of the status', () => {
  it('says none only when everything could be seen', () => {
    expect(attentionHead(NOTHING)).toEqual(['attention: [none]']);
    const unseen = attentionHead({ ...NOTHING, unseen: [UNSEEN] }).join('\n');
    expect(unseen).not.toContain('none');
    expect(unseen).toContain('could not be seen: consumers (no answer within 3 s)');
  });

  it('counts all, shows the newest with who has it, says what to type, and fits 80 columns', () => {
    const lines = attentionHead({ open: 9_999, taken: 1, entries: [ENTRY], unseen: [] });
    expect(lines[0]).toBe('attention: 10000 need somebody, 1 of them taken on');
    expect(lines[1]).toMatch(/^ {2}4kq7w2m9x0ab \(anna\) failed: "nightly .*…$/u);
    expect(lines.at(-1)).toContain('orrery attention');
    for (const line of lines) expect(line.length).toBeLessThan(80);
    expect(lines.join('')).not.toContain('\u001b');
  });
});

it.each([
  [{ open: 2, taken: 1 }, '3 of 12 need somebody, 1 of them taken on'],
  [{ open: 1, taken: 0 }, '1 of 12 needs somebody'],
  [{ open: 0, taken: 0 }, '0 of 12 need somebody'],
])('counts a part of the inbox as a part: %j', (matching, text) =>
  expect(attentionTotal(matching, { open: 10, taken: 2 })).toBe(text),
);

it('an entry says to a person what it is about in three lines at most, between words', () => {
  const what = Array.from({ length: 90 }, (_, at) => `field-${at}: is missing;`).join(' ');
  const told = attentionText([{ ...ENTRY, what }], { isTerminal: true, color: false }).split('\n');
  expect(told).toHaveLength(5);
  for (const line of told) expect(line.length).toBeLessThanOrEqual(80);
  const said = told.slice(1, 4).map((line) => line.trim());
  expect(
    said.slice(0, 2).every((line) => /^(?:field-\d+: |is |missing; ?)*(?:field-\d+:|is|missing;)$/u.test(line)),
  ).toBe(true);
  expect(said.at(-1)).toMatch(/…$/u);
  expect(what.startsWith(said.slice(0, 2).join(' '))).toBe(true);
});

it('an entry is one line to a pipe, and hides nothing from a person', () => {
  const pipe = attentionText([ENTRY], { isTerminal: false, color: false });
  expect(pipe.split('\t')).toMatchObject([
    '4kq7w2m9x0ab',
    'failed',
    '2026-11-20 12:00:00Z',
    'taken by anna',
    expect.any(String),
    ENTRY.next,
  ]);
  const person = attentionText([{ ...ENTRY, reason: 'the disk\nwas replaced' }], { isTerminal: true, color: false });
  expect(person).not.toContain('\u001b');
  expect(person.split('\n')).toHaveLength(5);
});
