import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { isProduction } from './places.js';
import { offencesAgainst, type Rooms } from './rooms.js';
import { importsOf, readTree, type Source } from './source.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PLANS = fileURLToPath(new URL('rooms/', import.meta.url));
const tree = readTree(ROOT)
  .filter(({ path }) => /^(?:libs|services)\//u.test(path) && isProduction(path))
  .map(importsOf);
/** One table for each package that has rooms. */
const plans = readdirSync(PLANS).map((name) => ({
  root: name.replace('.json', '').replace('.', '/'),
  rooms: JSON.parse(readFileSync(`${PLANS}${name}`, 'utf8')) as Rooms,
}));

describe.each(plans)('the rooms of $root', ({ root, rooms }) => {
  it('are where the table has them, and see what it allows', () => {
    expect(offencesAgainst(root, rooms, tree)).toEqual([]);
  });
});

describe('a plan of rooms', () => {
  const rooms: Rooms = { '.': ['b'], a: ['b'], b: [] };
  const sound = [
    { path: 'libs/x/index.ts', text: `export * from './a/one.js';` },
    { path: 'libs/x/zero.ts', text: `import { two } from './b/index.js';` },
    { path: 'libs/x/a/one.ts', text: `import type { Two } from '../b/index.js';\nimport { z } from '#libs/z';` },
    { path: 'libs/x/a/one.spec.ts', text: `import { zero } from '../zero.js';` },
    { path: 'libs/x/b/index.ts', text: `export { two } from './two.js';` },
    { path: 'libs/x/b/two.ts', text: 'export const two = 2;' },
  ];
  const offences = (plan: Rooms, ...more: Source[]): string[] =>
    offencesAgainst('libs/x', plan, [...sound, ...more].map(importsOf));

  it('accepts what keeps to it', () => {
    expect(offences(rooms)).toEqual([]);
  });

  it.each<{ what: string; at?: Source; plan: Rooms }>([
    { what: 'an arrow that is not drawn', at: { path: 'libs/x/b/c.ts', text: `import '../a/index.js';` }, plan: rooms },
    {
      what: 'a type over such an arrow',
      at: { path: 'libs/x/b/c.ts', text: `import type { A } from '../a/index.js';` },
      plan: rooms,
    },
    { what: 'a namespace', at: { path: 'libs/x/b/c.ts', text: `export * as a from '../a/index.js';` }, plan: rooms },
    { what: 'a way around the index', at: { path: 'libs/x/a/c.ts', text: `import '../b/two.js';` }, plan: rooms },
    { what: 'a room without a word', at: { path: 'libs/x/c/c.ts', text: '' }, plan: rooms },
    { what: 'an empty room', plan: { ...rooms, c: [] } },
    { what: 'an arrow that nobody needs', plan: { ...rooms, a: ['b', '.'] } },
    { what: 'a circle', at: { path: 'libs/x/b/c.ts', text: `import '../a/index.js';` }, plan: { ...rooms, b: ['a'] } },
  ])('finds $what', ({ at, plan }) => {
    expect(offences(plan, ...(at === undefined ? [] : [at]))).toHaveLength(1 + Number(plan['b']?.length === 1));
  });
});
