import { describe, expect, it } from '@jest/globals';
import { SharedReads } from './shared-reads.js';

/** Reads that end when the test says so: each is told how many there were. */
function readsByHand() {
  const reads: { readonly key: string; readonly end: PromiseWithResolvers<number> }[] = [];
  const shared = new SharedReads<string, number>((key) => {
    const end = Promise.withResolvers<number>();
    reads.push({ key, end });
    return end.promise;
  });
  return { reads, shared };
}

describe('reads of the same', () => {
  it('that are asked for while one goes on are one read, which begins behind it', async () => {
    const { reads, shared } = readsByHand();
    const first = shared.of('a');
    const others = [shared.of('a'), shared.of('a'), shared.of('a')];
    expect(reads).toHaveLength(1);
    reads[0]?.end.resolve(1);
    expect(await first).toBe(1);
    await Promise.resolve();
    expect(reads).toHaveLength(2);
    const late = shared.of('a');
    reads[1]?.end.resolve(2);
    expect(await Promise.all(others)).toEqual([2, 2, 2]);
    reads[2]?.end.resolve(3);
    expect(await late).toBe(3);
    expect(reads).toHaveLength(3);
  });

  it('do not wait for those of something else, and begin anew when nothing goes on', async () => {
    const { reads, shared } = readsByHand();
    const [a, b] = [shared.of('a'), shared.of('b')];
    expect(reads.map(({ key }) => key)).toEqual(['a', 'b']);
    for (const { end } of reads) end.resolve(1);
    await Promise.all([a, b]);
    const again = shared.of('a');
    expect(reads).toHaveLength(3);
    reads[2]?.end.resolve(4);
    expect(await again).toBe(4);
  });

  it('that fail fail for who asked for them, and for nobody else', async () => {
    const { reads, shared } = readsByHand();
    const first = shared.of('a');
    const second = shared.of('a');
    reads[0]?.end.reject(new Error('away'));
    await expect(first).rejects.toThrow('away');
    reads[1]?.end.resolve(2);
    expect(await second).toBe(2);
  });
});
