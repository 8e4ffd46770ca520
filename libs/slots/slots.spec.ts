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

describe('a slot', () => {
  it('is for as many as there are, and for the next one when one has left', async () => {
    const slots = new Slots(2);
    const entered: string[] = [];
    const gates = ['a', 'b', 'c'].map((name) => ({ name, gate: Promise.withResolvers<void>() }));
    const all = gates.map(({ name, gate }) =>
      slots.use(() => {
        entered.push(name);
        return gate.promise;
      }),
    );
    expect(entered).toEqual(['a', 'b']);
    gates[0]?.gate.resolve();
    await turn();
    expect(entered).toEqual(['a', 'b', 'c']);
    for (const { gate } of gates) gate.resolve();
    await Promise.all(all);
    expect(slots.taken).toBe(0);
  });

  it('is given back once, however often it is tried', async () => {
    const slots = new Slots(1);
    const leave = slots.tryEnter();
    expect(slots.tryEnter()).toBeUndefined();
    leave?.();
    leave?.();
    expect(slots.taken).toBe(0);
    const [first, second] = [slots.tryEnter(), slots.enter()];
    leave?.();
    await turn();
    expect(slots.taken).toBe(1);
    first?.();
    expect(await second).toBeInstanceOf(Function);
    expect(slots.taken).toBe(1);
  });

  it('is granted in the order of coming, and not to who has left the line', () => {
    const slots = new Slots(1);
    const granted: string[] = [];
    const leave = ['a', 'b', 'c'].map((name) => slots.ask(() => granted.push(name)));
    expect(granted).toEqual(['a']);
    leave[1]?.();
    leave[0]?.();
    expect(granted).toEqual(['a', 'c']);
    leave[2]?.();
    expect(slots.taken).toBe(0);
  });

  it('is not waited for longer than the signal lasts, and is not lost when both come at once', async () => {
    const slots = new Slots(1);
    const leave = slots.tryEnter();
    const [early, late] = [new AbortController(), new AbortController()];
    const waiting = [slots.enter(early.signal), slots.enter(late.signal)];
    early.abort();
    leave?.();
    expect(await waiting[0]).toBeUndefined();
    late.abort();
    expect(await waiting[1]).toBeInstanceOf(Function);
    const third = slots.enter(AbortSignal.abort());
    expect(await third).toBeUndefined();
    expect(slots.taken).toBe(1);
  });

  it('is given back by work that fails', async () => {
    const slots = new Slots(1);
    await expect(slots.use(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(slots.taken).toBe(0);
  });
});
