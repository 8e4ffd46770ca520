import { expect, it } from '@jest/globals';
import { STREAMS } from '#proto';
import { eventTables, LOGS } from './events-page.js';
import { generatedIn } from './generated.js';
import { readPage, rowsOf } from './page.js';

const PAGE = 'docs/events.md';

it('is as the schemas are: after a change ORRERY_UPDATE_GOLDEN=1 ./orrery test unit -- test/pages', () => {
  const { found, wanted } = generatedIn(PAGE, eventTables());
  expect(found).toBe(wanted);
});

it('says of every event what it says, and of what', () => {
  const rows = rowsOf(readPage(PAGE)).filter((cells) => cells.length === 4);
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.filter(([, , says = '', data = '']) => says.length < 5 || !data.includes('`'))).toEqual([]);
});

it('has every log that is kept for ever', () => {
  const kept = Object.values(STREAMS).filter((stream) => 'denyDelete' in stream && !('ageMsMax' in stream));
  expect(Object.keys(LOGS)).toEqual(kept.map(({ name }) => name));
});
