import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { keysTable, rolesTable, tableBelow } from './security-page.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${ROOT}docs/security.md`, 'utf8');
const asMarkdown = (cells: readonly (readonly string[])[]): string =>
  cells
    .map((row, index) => `| ${row.join(' | ')} |${index === 0 ? `\n|${row.map(() => ' - |').join('')}` : ''}`)
    .join('\n');

describe('docker-compose.yml', () => {
  const compose = parse(readFileSync(`${ROOT}docker-compose.yml`, 'utf8'), { merge: true, maxAliasCount: -1 }) as {
    services: Record<string, { environment?: Record<string, unknown>; command?: unknown; entrypoint?: unknown }>;
  };
  const services = Object.entries(compose.services);

  it('tells no container a secret, but in which file it lies, and passes none on from who starts it', () => {
    expect(services.length).toBeGreaterThan(10);
    const isSecret = /(?:_KEY|_TOKEN|_SECRET|_PASSWORD|_SEED)$/u;
    for (const [name, { environment = {}, command = '', entrypoint = '' }] of services) {
      const told = Object.entries(environment).map(([key, value]) => [key, String(value)] as const);
      expect([name, told.filter(([key]) => isSecret.test(key))]).toEqual([name, []]);
      const text = JSON.stringify([told.map(([, value]) => value), command, entrypoint]);
      expect([name, text.match(/\$\{\w*(?:_KEY|_TOKEN|_SECRET|_PASSWORD|_SEED)\b/u)]).toEqual([name, null]);
      expect([name, text.match(/:\/\/[^/@"]*:[^/@"]*@/u)]).toEqual([name, null]);
    }
  });
});

describe('docs/security.md', () => {
  it.each([
    ['## Roles', rolesTable()],
    ['## Keys of the bus', keysTable()],
  ])('%s: is what the code says', (heading, cells) => {
    // To be put there when this fails, and formatted.
    if (process.env['ORRERY_SHOW_TABLES'] === '1') process.stdout.write(`${heading}\n\n${asMarkdown(cells)}\n\n`);
    expect(tableBelow(page, heading)).toEqual(cells);
  });

  it.each([
    ['## Threats', 10],
    ['## Agents', 10],
  ])('%s: names in every row tests that there are', (heading, least) => {
    const [head, ...rows] = tableBelow(page, heading);
    expect(rows.length).toBeGreaterThanOrEqual(least);
    const last = (head?.length ?? 0) - 1;
    const tests = rows.flatMap((row) =>
      [...(row[last] ?? '').matchAll(/`([\w./-]+\.spec)`/gu)].map(([, path = '']) => path),
    );
    expect(rows.every((row) => /`[\w./-]+\.spec`/u.test(row[last] ?? ''))).toBe(true);
    expect(tests.filter((path) => !existsSync(`${ROOT}${path}.ts`))).toEqual([]);
  });
});
