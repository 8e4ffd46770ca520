import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mergedPiles, type Pile } from './merge-pages.js';

interface Message {
  readonly time: Date;
  readonly seq: number;
}

const stored = (...times: number[]): Message[] =>
  times.map((time, index) => ({ time: new Date(time), seq: index + 1 }));
const pile = (messages: readonly Message[], more = false): Pile<Message> => ({ messages, more });
const times = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 30 }).map((all) => all.toSorted((a, b) => a - b));

describe('two piles', () => {
  it('are one in the order in which they were stored', () => {
    const { inOrder, more } = mergedPiles(pile(stored(1, 5)), pile(stored(2, 3, 9)));
    expect([inOrder.map(([, { time }]) => time.getTime()), more]).toEqual([[1, 2, 3, 5, 9], false]);
  });

  it('end where one of them does and has more: nobody can say what comes next', () => {
    const { inOrder, more } = mergedPiles(pile(stored(1, 2), true), pile(stored(1, 8)));
    expect([inOrder.map(([, { time }]) => time.getTime()), more]).toEqual([[1, 1, 2], true]);
  });

  it('read page by page, of any size, give everything once and in order', () => {
    fc.assert(
      fc.property(times, times, fc.integer({ min: 1, max: 4 }), (ones, others, size) => {
        const [one, other] = [stored(...ones), stored(...others)];
        const read: number[] = [];
        let [first, second] = [0, 0];
        for (let isMore = true; isMore;) {
          const page = (all: readonly Message[], from: number) =>
            pile(all.slice(from, from + size), all.length > from + size);
          const { inOrder, more } = mergedPiles(page(one, first), page(other, second));
          for (const [from, { time }] of inOrder) {
            read.push(time.getTime());
            if (from === 'one') first += 1;
            else second += 1;
          }
          isMore = more;
        }
        expect(read).toEqual([...ones, ...others].toSorted((a, b) => a - b));
      }),
    );
  });
});
