import { describe, expect, it } from '@jest/globals';
import type { Experience } from '#proto';
import { examplesFrom } from './examples.adapter.js';
import { learnt } from './experience-store.contract.js';
import { MemoryExperienceStore } from '../testing/memory-experience-store.js';

const GOAL = 'Report the disks';

function warnings(): { readonly said: unknown[]; readonly warn: (facts: object) => void } {
  const said: unknown[] = [];
  return { said, warn: (facts) => void said.push(facts) };
}

describe('examples for a prompt', () => {
  it('are those that are like the goal', async () => {
    const store = new MemoryExperienceStore();
    await store.add(learnt('disks', GOAL));
    const examples = examplesFrom(store, warnings());
    expect((await examples(GOAL)).map(({ id }) => id)).toEqual(['disks']);
    expect([await examples('Install a kernel'), await examples(' ')]).toEqual([[], []]);
  });

  it('are none while the store is away, which is said once until it is back', async () => {
    const store = new MemoryExperienceStore();
    await store.add(learnt('disks', GOAL));
    const logger = warnings();
    const examples = examplesFrom(store, logger);
    store.isAway = true;
    expect([await examples(GOAL), await examples(GOAL), logger.said.length]).toEqual([[], [], 1]);
    store.isAway = false;
    expect(await examples(GOAL)).toHaveLength(1);
    store.isAway = true;
    await examples(GOAL);
    expect(logger.said).toHaveLength(2);
  });

  it('are fused of what shares words and what is about the same', async () => {
    const store = new MemoryExperienceStore();
    const disks = await store.add(learnt('disks', GOAL));
    const space = await store.add(learnt('space', 'Find full file systems'));
    const examples = examplesFrom(store, warnings(), { embeddings: { near: async () => [space, disks] } });
    expect((await examples(GOAL)).map(({ id }) => id)).toEqual(['disks', 'space']);
    await store.remove('disks');
    const left = examplesFrom(store, warnings(), { embeddings: { near: async () => [space] } });
    expect((await left(GOAL)).map(({ id }) => id)).toEqual(['space']);
  });

  it('are those that share words when nothing comes of the embeddings in time', async () => {
    const store = new MemoryExperienceStore();
    await store.add(learnt('disks', GOAL));
    const silent = { near: () => new Promise<Experience[]>(() => {}) };
    const logger = warnings();
    expect(await examplesFrom(store, logger, { embeddings: silent, limitMs: 50 })(GOAL)).toHaveLength(1);
    expect(logger.said).toEqual([]);
  });

  it('are none when the store says nothing for too long', async () => {
    const silent = { similar: () => new Promise<Experience[]>(() => {}) };
    const logger = warnings();
    expect(await examplesFrom(silent, logger, { limitMs: 1 })(GOAL)).toEqual([]);
    expect(logger.said).toMatchObject([{ err: new Error('no answer in 1 ms') }]);
  });
});
