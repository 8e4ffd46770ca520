import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const PLAYED = 'test/e2e/recovery.ts';
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Row {
  readonly away: string;
  readonly cells: readonly string[];
  readonly file: string;
  /** How the name of the test begins, or what happens in it. */
  readonly test: string;
}

/** The outages that docs/reliability.md tells of. */
const rows = read('docs/reliability.md')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:Away|---)/u.test(line))
  .map((line): Row => {
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    const { file = '', test = '' } =
      /^\[\w+\]\(\.\.\/(?<file>[^)]+)\): (?<test>.+)$/u.exec(cells.at(-1) ?? '')?.groups ?? {};
    return { away: cells[0] ?? '', cells, file, test };
  });

it('has rows', () => expect(rows.length).toBeGreaterThan(15));

it.each(rows)('what is told of "$away" is said in full, by a test that there is', ({ cells, file, test }) => {
  expect(cells.filter((cell) => cell === '')).toEqual([]);
  expect(cells).toHaveLength(6);
  expect(read(file)).toContain(`'${test}`);
});

it('every outage that is played is told of', () => {
  const table = /^const OUTAGES[^\n]+\n(?<rows>.+?)^\];/msu.exec(read(PLAYED))?.groups?.['rows'] ?? '';
  const played = [...table.matchAll(/name: '(?<name>[^']+)'/gu)].map(([, name = '']) => name);
  expect(played.length).toBeGreaterThan(5);
  const told = new Set(rows.map(({ test }) => test));
  expect(played.filter((name) => !told.has(name))).toEqual([]);
});
