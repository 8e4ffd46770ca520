import { describe, expect, it } from '@jest/globals';
import { OnceInAWhile } from './again.js';

describe('what is done once in a while', () => {
  const started = () => {
    const done: string[] = [];
    const once = new OnceInAWhile({ whileMs: 1_000, keysMax: 2 });
    const ask = (key: string, now: number, fails = false) =>
      once.do(key, now, async () => {
        done.push(`${key} ${now}`);
        if (fails) throw new Error('no');
      });
    return { done, ask };
  };

  it('is done for the first, and waited for by all who ask meanwhile', async () => {
    const { done, ask } = started();
    await Promise.all([ask('a', 0), ask('a', 1), ask('b', 1), ask('a', 999)]);
    await ask('a', 1_000);
    expect(done).toEqual(['a 0', 'b 1', 'a 1000']);
  });

  it('is done anew when it failed, and everybody who waited hears of the failure', async () => {
    const { done, ask } = started();
    const [one, other] = await Promise.allSettled([ask('a', 0, true), ask('a', 0)]);
    expect([one.status, other.status]).toEqual(['rejected', 'rejected']);
    await ask('a', 1);
    expect(done).toEqual(['a 0', 'a 1']);
  });

  it('is done again when too much else was done', async () => {
    const { done, ask } = started();
    for (const key of ['a', 'b', 'c', 'a']) await ask(key, 0);
    expect(done).toEqual(['a 0', 'b 0', 'c 0', 'a 0']);
  });
});
