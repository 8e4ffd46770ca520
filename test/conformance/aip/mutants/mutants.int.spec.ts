import { expect, it } from '@jest/globals';
import { Dice } from '../../../simulation/random.js';
import { MUTANTS } from './catalogue.js';
import { kill, lineOf } from './kill.js';
import { sampleOf, SAMPLE_SIZE } from './sample.js';

/** The same sample each time: whether a change is taken must not depend on the day. All of them: the command below. */
const SEED = Number(process.env['ORRERY_MUTANTS_SEED'] ?? 1);
/** Each mutant is a gateway of its own. */
const SAMPLE_MS_MAX = 600_000;

it(
  `a sample of the mutants is found (ORRERY_MUTANTS_SEED=${SEED}); all: npm run conformance -- --mutants`,
  async () => {
    const sample = sampleOf(MUTANTS, new Dice(SEED, 'mutants'));
    const kills = await kill(sample);
    process.stdout.write(`mutants, seed ${SEED}:\n${kills.map(lineOf).join('\n')}\n`);
    expect(kills).toHaveLength(SAMPLE_SIZE);
    expect(kills.filter(({ missed }) => missed.length > 0).map(lineOf)).toEqual([]);
  },
  SAMPLE_MS_MAX,
);
