import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { AIP_LIMITS } from '#proto';
import { JOURNAL_LIMITS } from '../../services/device-client/commands/command-journal.js';
import { claimOf, executionsOf, World } from './world.js';

/** `SEED=7 SEEDS=10000` looks at others. */
const SEED = Number(process.env['SEED'] ?? 20_261_122);
const SEEDS = Number(process.env['SEEDS'] ?? 250);
const STEPS = 120;
const SMALL = 4;

beforeAll(
  () => void jest.useFakeTimers({ now: 1_800_000_000_000, doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }),
);
afterAll(() => void jest.useRealTimers());

/** What is wrong with the world of a seed; empty when nothing is. */
async function wrongsOf(seed: number, journalId: string | null): Promise<string[]> {
  jest.clearAllTimers();
  const world = new World(seed, journalId);
  const wrongs: string[] = [];
  try {
    await world.play(STEPS);
    if ((await world.calm()) === null) wrongs.push(`something waits for ever: ${world.waiting}`);
    const timers = await world.end();
    if (timers > 0) wrongs.push(`${timers} timers are left`);
  } catch (error) {
    wrongs.push(`threw ${error instanceof Error ? error.stack : String(error)}`);
  }
  for (const attempt of world.agent.attempts) {
    const { commandId, final, late } = attempt;
    const executions = executionsOf(world.disk, commandId);
    const claim = claimOf(attempt);
    const said = `${commandId}: ${JSON.stringify(final)}, executed ${executions} times`;
    if (executions > 1) wrongs.push(said);
    if (claim === 'executed' && executions !== 1) wrongs.push(said);
    if (claim === 'not executed' && executions > 0) wrongs.push(said);
    // Without a journal nobody ever knows what became of a command whose connection is gone.
    const mayBeUnknown = journalId === null || world.disk.interrupted.has(commandId);
    if (claim === 'unknown' && !mayBeUnknown) wrongs.push(`${said}, and nothing happened to it`);
    if (late.length > 1) wrongs.push(`${said}, late results ${late.join(', ')}`);
  }
  return wrongs.map((wrong) => `seed ${seed}: ${wrong}`);
}

async function wrongsOfAll(journalId: string | null): Promise<string[]> {
  const wrongs: string[] = [];
  for (let count = 0; count < SEEDS; count++) wrongs.push(...(await wrongsOf(SEED + count, journalId)));
  return wrongs;
}

describe(`whatever breaks, crashes, comes twice or late, in ${SEEDS} worlds from seed ${SEED} on`, () => {
  it.each([
    ['a journal', 'j'],
    ['no journal', null],
  ])(
    'a command of a device with %s is executed once at most, its end is true, and nobody waits for ever',
    async (_, j) => {
      expect(await wrongsOfAll(j)).toEqual([]);
    },
  );

  it('so it is when tables and journals are full', async () => {
    const before = [{ ...AIP_LIMITS }, { ...JOURNAL_LIMITS }];
    Object.assign(AIP_LIMITS, { commandsMax: SMALL });
    Object.assign(JOURNAL_LIMITS, { resultsMax: SMALL });
    try {
      expect(await wrongsOfAll('j')).toEqual([]);
    } finally {
      Object.assign(AIP_LIMITS, before[0]);
      Object.assign(JOURNAL_LIMITS, before[1]);
    }
  });
});
