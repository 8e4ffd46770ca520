import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { floorsOf, misdrawn, walksOf } from './picture.js';
import { isProduction } from './places.js';
import { importsOf, readTree } from './source.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HOUSE = 'docs/architecture.md';
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const tree = readTree(ROOT)
  .filter(({ path }) => /^(?:libs|services|proto)\//u.test(path) && isProduction(path))
  .map(importsOf);
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Files of this project that a document links to, from the root. */
function linksOf(path: string, text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)\s#]+)/gu)].map(([, to = '']) => join(dirname(path), to));
}

describe('the picture of the house', () => {
  it('shows every package and every room, each above what it stands on', () => {
    expect(misdrawn(floorsOf(read(HOUSE)), tree)).toEqual([]);
  });

  it('is found to be wrong', () => {
    const files = [
      { path: 'libs/a/x/one.ts', text: `import { b } from '#libs/b';` },
      { path: 'libs/b/two.ts', text: '' },
    ].map(importsOf);
    const sound = '## The house\n\n```\nlibs/a  first\n    x\nlibs/b  second\n```\n';
    const wrong = (from: string, to: string): string[] => misdrawn(floorsOf(sound.replace(from, to)), files);
    expect(wrong('', '')).toEqual([]);
    expect(wrong('    x\n', '')).toEqual(['libs/a/x: is not in the picture']);
    expect(wrong('    x\n', '    x y\n')).toEqual(['libs/a/y: is in the picture only']);
    expect(wrong('libs/b  second\n', '')).toEqual(['libs/b: is not in the picture']);
    expect(wrong(sound, '## The house\n\n```\nlibs/b  second\nlibs/a  first\n    x\n```\n')).toEqual([
      'libs/a: stands below libs/b, which it imports',
    ]);
  });
});

describe('documents', () => {
  it.each(documents)('%s: links to files that there are', (path) => {
    expect(linksOf(path, read(path)).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('the walks through the code name files, and only such', () => {
    const walks = walksOf(read(HOUSE));
    expect(walks.map(({ name }) => name)).toEqual(['The request', 'The result', 'The goal']);
    for (const { text } of walks) {
      const files = linksOf(HOUSE, text);
      expect(files.length).toBeGreaterThan(4);
      expect(files.filter((file) => !file.endsWith('.ts'))).toEqual([]);
    }
  });
});
