import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export const readPage = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** What stands between a heading and the next one of any level. */
export function sectionOf(page: string, heading: string): string {
  const lines = page.split('\n');
  const from = lines.findIndex((line) => /^#+ /u.test(line) && line.replace(/^#+ /u, '') === heading);
  if (from === -1) throw new Error(`the page has no heading "${heading}"`);
  const length = lines.slice(from + 1).findIndex((line) => /^#+ /u.test(line));
  return lines.slice(from + 1, length === -1 ? undefined : from + 1 + length).join('\n');
}

/** The rows of all tables, without their heads, cell by cell; a `|` in a cell is written `\|`. */
export function rowsOf(text: string): string[][] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const isHead = /^\|[ |:-]+\|$/u.test(lines[at + 1] ?? '');
    if (!line.startsWith('|') || isHead || /^\|[ |:-]+\|$/u.test(line)) return [];
    const cells = line.slice(1, line.lastIndexOf('|')).split(/(?<!\\)\|/u);
    return [cells.map((cell) => cell.trim().replaceAll('\\|', '|'))];
  });
}

/** What stands in backticks. */
export const codesIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/gu)].map(([, code = '']) => code);

/** Blocks of code in this language. */
export const blocksOf = (page: string, language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gmsu'))].map(([, block = '']) => block);
