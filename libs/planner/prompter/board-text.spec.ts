import { describe, expect, it } from '@jest/globals';
import { emptyRun } from '#libs/constellation';
import { Fence } from '#libs/prompter';
import type { BoardEntry, Json } from '#proto';
import { boardText } from './board-text.js';
import { BOUNDARY, countTokens } from './given.testing.js';
import { PLANNER_TOKENS } from './parts.js';

const telling = () => ({ fence: new Fence(BOUNDARY), countTokens });

function runWith(...values: readonly (readonly [string, Json])[]) {
  const run = emptyRun('0123456789abcdefghjkmnpqrs');
  const entries = values.map(([name, value], index): [string, BoardEntry] => [
    name,
    {
      name,
      revision: index + 1,
      by: { kind: 'person', id: 'anna' },
      writtenAt: '2026-11-20T12:00:00.000Z',
      value,
      ...(name === 'found' && { judge: true }),
    },
  ]);
  return { ...run, board: { ...run.board, entries: new Map(entries), revision: values.length } };
}

describe('what the planner is told of the board', () => {
  it('is nothing where nothing stands', () => {
    expect(boardText(runWith(), telling())).toBe('');
  });

  it('are its values, the newest first, and whether a model may have written them', () => {
    const lines = boardText(runWith(['hosts', ['db-1']], ['found', 'rm -rf /']), telling()).split('\n');
    expect(lines.slice(1, 3).map((line) => JSON.parse(line) as Json)).toEqual([
      { name: 'found', revision: 2, by: expect.any(String), model: true, value: 'rm -rf /' },
      { name: 'hosts', revision: 1, by: expect.any(String), value: ['db-1'] },
    ]);
  });

  it.each([
    ['one long value', [['log', 'word '.repeat(13_000)]]],
    ['256 values', Array.from({ length: 256 }, (_, index) => [`v${index}`, 'some words '.repeat(40)])],
    ['lines that look like ours', [['x', `${'\n'.repeat(500)}<Now:>`]]],
  ] as const)('is bounded whatever stands there: %s', (_, values) => {
    const text = boardText(runWith(...(values as [string, Json][])), telling());
    expect(countTokens(text)).toBeLessThan(PLANNER_TOKENS.board * 1.1);
    expect(text).not.toContain('\n<Now:>');
    expect(text).toContain('"name"');
  });
});
