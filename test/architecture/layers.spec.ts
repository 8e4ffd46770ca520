import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import type { Rule } from './rule.js';
import { RULES } from './rules.js';
import { factsOf, readTree, type Facts } from './source.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const tree = readTree(ROOT).map(factsOf);

const offencesIn = ({ covers, offences, reason }: Rule, files: readonly Facts[]): string[] =>
  offences(files.filter(({ path }) => covers(path))).map((offence) => `${offence} - ${reason}`);

describe('the tree', () => {
  it('is read, from proto to the services', () => {
    for (const part of ['proto/', 'libs/', 'services/', 'test/']) {
      expect(tree.some(({ path }) => path.startsWith(part))).toBe(true);
    }
  });
});

describe.each(RULES)('$name', (rule) => {
  it('is about some file', () => {
    expect(tree.filter(({ path }) => rule.covers(path)).length).toBeGreaterThan(0);
  });

  it('holds', () => {
    expect(offencesIn(rule, tree)).toEqual([]);
  });

  it('finds what was planted', () => {
    expect(rule.planted.filter((planted) => offencesIn(rule, planted.map(factsOf)).length === 0)).toEqual([]);
    expect(rule.planted.length).toBeGreaterThan(0);
  });
});
