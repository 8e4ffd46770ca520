import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CATALOGUE } from '../catalogue.js';
import { ROOT } from '../stand/root.js';
import { MUTANTS } from './catalogue.js';

describe('the mutants', () => {
  it('have names of their own, and checks have ids of their own', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
    expect(new Set(CATALOGUE.map(({ id }) => id)).size).toBe(CATALOGUE.length);
  });

  it.each(MUTANTS)('$name: still apply, each in one place', ({ edits }) => {
    const places = edits.map(({ file, text }) => readFileSync(join(ROOT, file), 'utf8').split(text).length - 1);
    expect(places).toEqual(edits.map(() => 1));
    expect(edits.filter(({ text, becomes }) => text === becomes)).toEqual([]);
  });

  it('are to be found by checks that there are', () => {
    const known = new Set(CATALOGUE.map(({ id }) => id));
    expect(MUTANTS.flatMap(({ finds }) => finds.filter((id) => !known.has(id)))).toEqual([]);
    expect(MUTANTS.filter(({ finds }) => finds.length === 0)).toEqual([]);
  });

  it('leave no check without one that it has to find', () => {
    const covered = new Set(MUTANTS.flatMap(({ finds }) => finds));
    expect(CATALOGUE.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual([]);
  });
});
