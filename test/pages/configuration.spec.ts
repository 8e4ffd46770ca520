import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { configurationTables } from './configuration-page.js';
import { generatedIn } from './generated.js';
import { readPage, rowsOf } from './page.js';

const PAGE = 'docs/configuration.md';
const ROOT = join(import.meta.dirname, '../..');

/** Named in code, and nothing that a person sets: of tests, of examples in help, of processes that we start ourselves, of the commands of a run. */
const NOT_SETTINGS = [
  'OPENAI_URL',
  'ORRERY_ACTOR',
  'ORRERY_BUS_SECRETS_DIR',
  'ORRERY_COMMAND',
  'ORRERY_DATABASE_PASSWORD',
  'ORRERY_WORKSPACE',
];

it('is as the schemas are: after a change ORRERY_UPDATE_GOLDEN=1 ./orrery test unit -- test/pages', async () => {
  const { found, wanted } = generatedIn(PAGE, await configurationTables());
  expect(found).toBe(wanted);
});

it('says of every variable and flag what it means', () => {
  const rows = rowsOf(readPage(PAGE));
  expect(rows.filter(([, means = '']) => means.trim().length < 5)).toEqual([]);
});

it('has every variable that a service or the command line names', () => {
  const page = readPage(PAGE);
  const files = execFileSync('git', ['ls-files', 'services/*.ts', 'libs/*.ts'], { cwd: ROOT, encoding: 'utf8' });
  const names = new Set<string>();
  for (const file of files.trim().split('\n')) {
    if (/spec\.ts$|testing/u.test(file)) continue;
    for (const [name] of readFileSync(join(ROOT, file), 'utf8').matchAll(/\b(?:ORRERY|OPENAI)_[A-Z_]*[A-Z]\b/gu))
      names.add(name);
  }
  const missing = [...names].filter((name) => !page.includes(`\`${name}\``) && !NOT_SETTINGS.includes(name));
  expect(missing.filter((name) => !/^ORRERY_DEVICE_(?:POLICY|SANDBOX)$/u.test(name))).toEqual([]);
});
