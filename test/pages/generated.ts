import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPage } from './page.js';

const MARK =
  '<!-- Below: made from the schemas. ORRERY_UPDATE_GOLDEN=1 ./orrery test unit -- test/pages; then format it. -->';

/** `ORRERY_UPDATE_GOLDEN=1` writes what is made as it is now: the difference is the review. */
const isToBeWritten = process.env['ORRERY_UPDATE_GOLDEN'] === '1';

/** What was made stands below a mark in the page, whatever a formatter has done to its tables: both sides of a comparison. */
export function generatedIn(path: string, made: string): { readonly found: string; readonly wanted: string } {
  const page = readPage(path);
  const [written = ''] = page.split(MARK);
  if (isToBeWritten) writeFileSync(join(import.meta.dirname, '../..', path), `${written}${MARK}\n\n${made}`);
  return { found: plain((isToBeWritten ? made : page.split(MARK)[1]) ?? ''), wanted: plain(made) };
}

const plain = (text: string): string =>
  text
    .replaceAll(/-{2,}/gu, '-')
    .replaceAll(/[ \t]+/gu, ' ')
    .replaceAll(/\n+/gu, '\n')
    .trim();
