import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

interface Choice {
  readonly all: string | undefined;
  readonly chosen: readonly { readonly spec: string; readonly way: readonly string[] }[];
}

const TREE = {
  'libs/sums/index.ts': "export { add } from './add.js';\nexport { take, type Taken } from './take.js';\n",
  'libs/sums/add.ts': 'export const add = (a: number, b: number): number => a + b;\n',
  'libs/sums/add.spec.ts': "import { add } from './add.js';\n",
  'libs/sums/take.ts': 'export type Taken = number;\nexport const take = (a: number): Taken => a;\n',
  'services/till/total.ts':
    "import {\n  add,\n  type Taken,\n} from '#libs/sums';\nexport function total(a: Taken): number {\n  return add(a, 1);\n}\n",
  'services/till/total.int.spec.ts': "import { total } from './total.js';\n",
  'services/till/late.spec.ts': "const sums = await import('#libs/sums');\n",
  'services/till/taken.spec.ts': "import { take } from '#libs/sums';\n",
  'services/till/shop.spec.ts': "const main = 'dist/services/till/total.js';\n",
  'services/till/web/page.tsx': "import { gone } from './gone.js';\nexport const Page = () => gone();\n",
  'services/till/web/page.spec.ts': "import { Page } from './page.js';\n",
  'services/till/web/pages.spec.ts': "const page = 'web/page.tsx';\n",
  'services/till/prices.spec.ts': "const file = 'fixtures/prices.txt';\n",
  'services/till/words.spec.ts': "// Words of the docs, of prompts and of fixtures.\nconst folder = '../../docs';\n",
  'services/till/broken.ts': "import { gone } from './gone.js';\nexport const broken = gone;\n",
  'services/till/broken.spec.ts': "import { broken } from './broken.js';\n",
  'test/architecture/rules.spec.ts': '',
  'test/architecture/static.spec.ts': '',
};

const root = mkdtempSync(join(tmpdir(), 'orrery-changed-'));
let choose: (root: string, changed: readonly string[]) => Choice;

beforeAll(async () => {
  for (const [file, text] of Object.entries(TREE)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const tool = pathToFileURL(resolve(import.meta.dirname, '../../tools/changed.mjs')).href;
  ({ choose } = (await import(tool)) as { choose: typeof choose });
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

const specsFor = (...changed: string[]): string[] =>
  choose(root, changed)
    .chosen.map(({ spec }) => spec)
    .toSorted();

describe('what a change can break', () => {
  it('is what takes a changed name, through the index of its package and through others, or starts what does', () => {
    expect(specsFor('libs/sums/add.ts')).toEqual([
      'libs/sums/add.spec.ts',
      'services/till/late.spec.ts',
      'services/till/shop.spec.ts',
      'services/till/total.int.spec.ts',
      'test/architecture/rules.spec.ts',
    ]);
  });

  it('is not what takes another name of the package, or only a type', () => {
    expect(specsFor('libs/sums/take.ts')).toEqual([
      'services/till/late.spec.ts',
      'services/till/taken.spec.ts',
      'test/architecture/rules.spec.ts',
    ]);
  });

  it('is a changed spec itself, and what names a changed file that is no source', () => {
    expect(specsFor('libs/sums/add.spec.ts')).toContain('libs/sums/add.spec.ts');
    expect(specsFor('services/till/fixtures/prices.txt')).toContain('services/till/prices.spec.ts');
  });

  it('is what reads a folder with a changed file in it, not what only speaks of it', () => {
    expect(specsFor('docs/till.md')).toEqual(['services/till/words.spec.ts', 'test/architecture/rules.spec.ts']);
    expect(specsFor('prompts/till.yaml')).toEqual(['test/architecture/rules.spec.ts']);
  });

  it('is what still takes something of a file that is gone, never a spec that is gone', () => {
    expect(specsFor('services/till/gone.ts', 'services/till/gone.spec.ts')).toEqual([
      'services/till/broken.spec.ts',
      'test/architecture/rules.spec.ts',
    ]);
  });

  it('is what takes something of a page, through the page too, and what reads the page', () => {
    const read = ['services/till/web/pages.spec.ts', 'test/architecture/rules.spec.ts'];
    expect(specsFor('services/till/web/page.tsx')).toEqual(['services/till/web/page.spec.ts', ...read]);
    expect(specsFor('services/till/web/gone.tsx')).toEqual([
      'services/till/web/page.spec.ts',
      'test/architecture/rules.spec.ts',
    ]);
  });

  it('says by which way', () => {
    const found = choose(root, ['libs/sums/add.ts']).chosen.find(({ spec }) => spec.endsWith('total.int.spec.ts'));
    expect(found?.way).toEqual(['libs/sums/add.ts', 'services/till/total.ts', 'services/till/total.int.spec.ts']);
  });

  it('is everything when what builds or tests has changed', () => {
    expect(choose(root, ['libs/sums/add.ts', 'package-lock.json']).all).toBe('package-lock.json');
  });
});
