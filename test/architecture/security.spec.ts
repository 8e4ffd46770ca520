import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { keysTable, rolesTable, tableBelow } from './security-page.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${ROOT}docs/security.md`, 'utf8');
const asMarkdown = (cells: readonly (readonly string[])[]): string =>
  cells
    .map((row, index) => `| ${row.join(' | ')} |${index === 0 ? `\n|${row.map(() => ' - |').join('')}` : ''}`)
    .join('\n');

describe('docs/security.md', () => {
  it.each([
    ['## Roles', rolesTable()],
    ['## Keys of the bus', keysTable()],
  ])('%s: is what the code says', (heading, cells) => {
    // To be put there when this fails, and formatted.
    if (process.env['ORRERY_SHOW_TABLES'] === '1') process.stdout.write(`${heading}\n\n${asMarkdown(cells)}\n\n`);
    expect(tableBelow(page, heading)).toEqual(cells);
  });

  it('names for each threat tests that there are', () => {
    const [head, ...rows] = tableBelow(page, '## Threats');
    const last = (head?.length ?? 0) - 1;
    const tests = rows.flatMap((row) =>
      [...(row[last] ?? '').matchAll(/`([\w./-]+\.spec)`/gu)].map(([, path = '']) => path),
    );
    expect(rows.every((row) => /`[\w./-]+\.spec`/u.test(row[last] ?? ''))).toBe(true);
    expect(tests.filter((path) => !existsSync(`${ROOT}${path}.ts`))).toEqual([]);
  });
});
