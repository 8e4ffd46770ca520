import { describe, expect, it } from '@jest/globals';
import { Dice } from '../simulation/random.js';
import { parseArguments, UsageError } from './arguments.js';
import { readCorpus } from './corpus.js';
import { planCase, runCase } from './fuzz-case.js';
import { Generator } from './generator.js';
import { ROOT } from './root.js';
import { TARGETS } from './targets.js';

const corpus = readCorpus(ROOT);
const generator = new Generator(corpus);

describe('the corpus', () => {
  it('has every kind of frame, with its placeholders filled', () => {
    const types = (frames: readonly { readonly [key: string]: unknown }[]) => new Set(frames.map(({ type }) => type));
    expect(types(corpus.device)).toEqual(expect.objectContaining(new Set(['register', 'command_results', 'resume'])));
    expect(types(corpus.constellation)).toContain('task');
    expect(types(corpus.server)).toContain('command');
    expect(JSON.stringify(corpus)).not.toMatch(/"<[a-z_]+(?::\d+)?>"/u);
  });
});

describe('a case', () => {
  it.each(TARGETS)('of $target.name is the same for the same seed and number, and another for others', ({ target }) => {
    const one = planCase({ seed: 1, number: 7 }, target, generator);
    expect(planCase({ seed: 1, number: 7 }, target, generator).steps).toEqual(one.steps);
    expect(planCase({ seed: 2, number: 7 }, target, generator).steps).not.toEqual(one.steps);
    expect(planCase({ seed: 1, number: 8 }, target, generator).steps).not.toEqual(one.steps);
    expect(runCase(one).failure).toBeNull();
  });

  it.each(TARGETS)('of $target.name can begin in every state', ({ target }) => {
    for (const stage of target.stages) expect(target.open(stage, new Dice(1)).state).toBe(stage);
  });
});

describe('the arguments', () => {
  it.each([
    [['--case', '3'], '--case needs its --target'],
    [['--target', 'telepathy'], 'there is no target'],
    [['--seed', 'x'], '--seed must be'],
    [['--what'], 'usage:'],
  ])('%p are refused with a sentence', (argv, says) => {
    expect(() => parseArguments(argv)).toThrow(UsageError);
    expect(() => parseArguments(argv)).toThrow(says);
  });
});
