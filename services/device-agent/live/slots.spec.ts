import { describe, expect, it } from '@jest/globals';
import { Slots } from './slots.js';

const turn = () => new Promise((resolve) => void setImmediate(resolve));
const nobodyHalts = new AbortController().signal;

/** Work in a slot that lasts until it is let go. */
function holding(slots: Slots): { done: Promise<void>; end: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { done: slots.use(() => promise), end: resolve };
}

describe('a slot that was lent', () => {
  it('is waited for again in the order of coming', async () => {
    const slots = new Slots(1);
    const decided = Promise.withResolvers<void>();
    let isBack = false;
    const lender = slots.use(async () => {
      await slots.without(nobodyHalts, () => decided.promise);
      isBack = true;
    });
    await turn();
    const other = holding(slots);
    await turn();
    expect([slots.taken, slots.lent]).toEqual([1, 1]);
    decided.resolve();
    await turn();
    expect(isBack).toBe(false);
    other.end();
    await Promise.all([lender, other.done]);
    expect([isBack, slots.taken, slots.lent]).toEqual([true, 0, 0]);
  });

  it.each(['while it waits', 'while it waits for its slot'])('is not waited for by who is halted %s', async (when) => {
    const slots = new Slots(1);
    const halting = new AbortController();
    const decided = Promise.withResolvers<void>();
    let isBack = false;
    const lender = slots.use(async () => {
      await slots.without(halting.signal, () => decided.promise);
      isBack = true;
    });
    await turn();
    const [other, third] = [holding(slots), holding(slots)];
    await turn();
    if (when === 'while it waits') halting.abort();
    decided.resolve();
    await turn();
    halting.abort();
    await lender;
    expect(isBack).toBe(true);
    expect([slots.taken, slots.lent]).toEqual([1, 0]);
    other.end();
    third.end();
    await Promise.all([other.done, third.done]);
    expect(slots.taken).toBe(0);
  });

  it('is not waited for by who fails, and no room comes of that', async () => {
    const slots = new Slots(1);
    const failing = Promise.withResolvers<void>();
    const kept = Promise.withResolvers<void>();
    const lender = slots.use(async () => {
      await slots.without(nobodyHalts, () => failing.promise).catch(() => undefined);
      await kept.promise;
    });
    await turn();
    const [other, third] = [holding(slots), holding(slots)];
    failing.reject(new Error('the log is away'));
    await turn();
    expect(slots.taken).toBe(2);
    other.end();
    await other.done;
    await turn();
    expect(slots.taken).toBe(1); // the third one waits on
    kept.resolve();
    await lender;
    expect(slots.taken).toBe(1);
    third.end();
    await third.done;
    expect(slots.taken).toBe(0);
  });
});
