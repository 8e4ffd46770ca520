import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { LineType } from '#proto';
import { complaintsAbout } from './closed-sets.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Tables that have a row for each member of a set; who adds a member is told of them by the compiler. */
const TABLES = [{ path: 'libs/constellation/plan/line-types.ts', set: 'LineType', members: LineType.options }];

describe.each(TABLES)('the table of $path', ({ path, set, members }) => {
  const text = readFileSync(`${ROOT}${path}`, 'utf8');

  it(`has a row for each ${set}`, () => {
    expect(complaintsAbout(text, set, members)).toEqual([]);
  });

  it('does not compile while it leaves one out', () => {
    const [complaint = '', ...more] = complaintsAbout(text, set, [...members, 'planted']);
    expect(complaint).toContain("'planted'");
    expect(more).toEqual([]);
  });

  it('does not compile with a row for none', () => {
    const [first = '', ...others] = members;
    const [complaint = ''] = complaintsAbout(text, set, others);
    expect(complaint).toContain(first);
  });
});
