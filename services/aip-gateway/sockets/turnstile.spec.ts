import { describe, expect, it } from '@jest/globals';
import { Turnstile } from './turnstile.js';

/** Who is inside, in the order of entering. */
function people(turnstile: Turnstile) {
  const inside: string[] = [];
  const come = (name: string): Promise<boolean> =>
    turnstile.enter(name[0] ?? '').then((entered) => {
      if (entered) inside.push(name);
      return entered;
    });
  return { inside, come };
}

/** All that can happen now has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Turnstile', () => {
  it('lets nobody wait while there is room', async () => {
    const { inside, come } = people(new Turnstile({ atOnce: 2, waitingMax: 2 }));
    await Promise.all([come('a1'), come('a2')]);
    expect(inside).toEqual(['a1', 'a2']);
  });

  it('lets in who waits address by address, however many came from one of them', async () => {
    const turnstile = new Turnstile({ atOnce: 1, waitingMax: 10 });
    const { inside, come } = people(turnstile);
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map(come);
    for (let left = 0; left < 6; left++) {
      await settled();
      expect(inside).toHaveLength(left + 1);
      turnstile.leave();
    }
    await Promise.all(all);
    expect(inside).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('refuses at once when too many wait, and takes newcomers again when it is empty', async () => {
    const turnstile = new Turnstile({ atOnce: 1, waitingMax: 1 });
    const { inside, come } = people(turnstile);
    const waiting = [come('a1'), come('a2')];
    expect(await come('b1')).toBe(false);
    turnstile.leave();
    await Promise.all(waiting);
    turnstile.leave();
    expect(await come('b2')).toBe(true);
    expect(inside).toEqual(['a1', 'a2', 'b2']);
  });
});
