import { expect, it } from '@jest/globals';
import { validateConstellation } from '#libs/constellation';
import { FILE_ENDS, LIMITS, RunRequest } from '#proto';
import { blocksOf, codesIn, readPage, rowsOf, sectionOf } from './page.js';

const page = readPage('docs/data.md');

it('names every code that files end a task with, and no other one', () => {
  const named = rowsOf(sectionOf(page, 'What may go wrong')).map(([cell = '']) => codesIn(cell)[0] ?? '');
  expect(named.toSorted()).toEqual(Object.values(FILE_ENDS).toSorted());
});

it('says the limits of files as they are', () => {
  const { fileBytesMax, filesBytesMax, filesMax, fileDiskBytesFree } = LIMITS;
  const [gib, mib] = [1024 ** 3, 1024 ** 2];
  const table = sectionOf(page, 'What may go wrong');
  expect(table).toContain(`more than ${fileBytesMax / gib} GiB, or all of them more than ${filesBytesMax / gib} GiB`);
  expect(table).toContain(`more than ${filesMax} `);
  expect(table).toContain(`${fileDiskBytesFree / mib} MiB`);
});

it.each(blocksOf(page, 'json'))('the plan would be taken: %#', (block) => {
  const { constellation } = RunRequest.parse(JSON.parse(block));
  expect(constellation && validateConstellation(constellation)).toEqual([]);
});
