import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const DIRECTORY = join(import.meta.dirname, '../../docs/adr');

it('every decision has its number as a title and stands in the list, in order', async () => {
  const files = (await readdir(DIRECTORY)).filter((file) => file !== 'README.md').toSorted();
  const list = await readFile(join(DIRECTORY, 'README.md'), 'utf8');
  const rows = [...list.matchAll(/^\| \[(\d{4})\]\(([^)]+)\)/gmu)].map(([, number, file]) => [number, file]);
  expect(rows).toEqual(files.map((file) => [file.slice(0, 4), file]));
  for (const file of files) expect(await readFile(join(DIRECTORY, file), 'utf8')).toMatch(`# ${file.slice(0, 4)}: `);
});
