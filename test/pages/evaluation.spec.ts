import { expect, it } from '@jest/globals';
import { evaluationTables } from './evaluation-page.js';
import { generatedIn } from './generated.js';
import { blocksOf, readPage } from './page.js';

const PAGE = 'docs/evaluation.md';

it('is as the figures are: after a change ORRERY_UPDATE_GOLDEN=1 ./orrery test unit -- test/pages', () => {
  const { found, wanted } = generatedIn(PAGE, evaluationTables());
  expect(found).toBe(wanted);
});

it('shows an example that fits a terminal', () => {
  const blocks = blocksOf(readPage(PAGE), 'text');
  expect(blocks).toHaveLength(2);
  expect(blocks.flatMap((block) => block.split('\n')).filter((line) => line.length > 80)).toEqual([]);
});
