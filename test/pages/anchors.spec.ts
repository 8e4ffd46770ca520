import { readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from '@jest/globals';
import { readPage } from './page.js';

const DOCS = join(import.meta.dirname, '../../docs');
const PAGES = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));

/** As hosts of repositories make anchors of headings. */
function anchorsOf(page: string): Set<string> {
  const headings = [...page.replaceAll(/^```.*?^```$/gmsu, '').matchAll(/^#+ (.+)$/gmu)];
  return new Set(
    headings.map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

it.each(['README.md', 'CONTRIBUTING.md', ...PAGES.map((name) => `docs/${name}`)])(
  '%s leads to headings that there are',
  (path) => {
    const page = readPage(path);
    const links = [...page.matchAll(/\]\((?!https?:)([^)\s#]*\.md)?#([^)\s]+)\)/gu)];
    const broken = links.filter(([, to, anchor = '']) => {
      const there = to === undefined ? page : readPage(normalize(join(dirname(path), to)));
      return !anchorsOf(there).has(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  },
);
