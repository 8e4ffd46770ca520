import { describe, expect, it } from '@jest/globals';
import { batches } from './batches.adapter.js';

const item = (bytes: number) => ({ data: new Uint8Array(bytes) });
const LIMITS = { itemsMax: 3, bytesMax: 100 };

async function* source(items: readonly ({ data: Uint8Array } | Promise<void>)[]) {
  for (const next of items) {
    if (next instanceof Promise) await next;
    else yield next;
  }
}

async function sizes(items: Parameters<typeof source>[0]): Promise<number[]> {
  const found: number[] = [];
  for await (const batch of batches(source(items), LIMITS)) found.push(batch.length);
  return found;
}

describe('batches', () => {
  it('takes what is there, up to the limit', async () =>
    expect(await sizes(Array.from({ length: 7 }, () => item(1)))).toEqual([3, 3, 1]));

  it('ends a batch that is large enough, and gives one that is too large alone', async () =>
    expect(await sizes([item(60), item(60), item(1), item(500), item(1)])).toEqual([2, 2, 1]));

  it('does not wait for more than there is', async () => {
    const { promise: later, resolve } = Promise.withResolvers<void>();
    const found: number[] = [];
    for await (const batch of batches(source([item(1), later, item(1), item(1)]), LIMITS)) {
      found.push(batch.length);
      resolve();
    }
    expect(found).toEqual([1, 2]);
  });

  it('has in one batch what came while it rested, and does not rest behind one that is full', async () => {
    const items = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const [second, third, last] = items.map(({ promise }) => promise);
    const found: number[] = [];
    let rests = 0;
    const rest = async (): Promise<void> => {
      rests += 1;
      for (const { resolve } of items) resolve();
    };
    const all = [item(1), second, item(1), third, item(1), last, item(1)].filter((one) => one !== undefined);
    for await (const batch of batches(source(all), LIMITS, rest)) found.push(batch.length);
    expect(found).toEqual([1, 3]);
    expect(rests).toBe(1);
  });

  it('gives what came before a failure, then fails', async () => {
    const found: number[] = [];
    const reading = (async () => {
      for await (const batch of batches(source([item(1), Promise.reject(new Error('away'))]), LIMITS))
        found.push(batch.length);
    })();
    await expect(reading).rejects.toThrow('away');
    expect(found).toEqual([1]);
  });

  it('ends the source when the reader stops', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    async function* endless() {
      try {
        for (;;) yield item(50);
      } finally {
        resolve();
      }
    }
    for await (const _ of batches(endless(), LIMITS)) break;
    await ended;
  });

  it('is empty for an empty source', async () => expect(await sizes([])).toEqual([]));
});
