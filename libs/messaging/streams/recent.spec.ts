import { describe, expect, it } from '@jest/globals';
import { Recent, type RecentMessage } from './recent.js';

/** Messages of one subject with these places, each behind the one before it. */
function recentOf(places: readonly number[], bytes = 10): Recent<RecentMessage> {
  const recent = new Recent<RecentMessage>();
  places.forEach((seq, at) => recent.add({ seq, before: places[at - 1] ?? 0, bytes }));
  return recent;
}
const after = (recent: Recent<RecentMessage>, place: number, isOneSubject = true): number[] =>
  recent.after(place, isOneSubject).map(({ seq }) => seq);

describe('what came last', () => {
  it('is all that a reader lacks who is a few messages behind', () => {
    const recent = recentOf([3, 4, 7, 9]);
    expect(after(recent, 4)).toEqual([7, 9]);
    expect(after(recent, 8)).toEqual([9]);
    expect(after(recent, 9)).toEqual([]);
    expect(after(recent, 12)).toEqual([]);
  });

  it('is nothing for one who lacks more than is there', () => {
    const recent = recentOf([3, 4, 7]);
    recent.add({ seq: 12, before: 10, bytes: 10 });
    expect(after(recent, 4)).toEqual([]);
    expect(after(recent, 10)).toEqual([12]);
    const early = new Recent<RecentMessage>();
    early.add({ seq: 7, before: 4, bytes: 10 });
    expect(after(early, 3)).toEqual([]);
    expect(after(early, 4)).toEqual([7]);
    expect(after(new Recent<RecentMessage>(), 0)).toEqual([]);
  });

  it('is nothing that was removed from the stream', () => {
    const recent = recentOf([3, 4, 7]);
    // The next one is the first of its subject again.
    recent.add({ seq: 9, before: 0, bytes: 10 });
    expect(after(recent, 0)).toEqual([9]);
    // And here all of the stream begins again.
    recent.add({ seq: 1, before: 0, bytes: 10 });
    expect(after(recent, 0)).toEqual([1]);
    expect(after(recent, 7)).toEqual([]);
  });

  it('has no gap where other subjects are between', () => {
    const recent = new Recent<RecentMessage>();
    // On three subjects: each is the first of its own.
    for (const seq of [5, 7, 8]) recent.add({ seq, before: 0, bytes: 10 });
    expect(after(recent, 6, false)).toEqual([7, 8]);
    expect(after(recent, 7, false)).toEqual([8]);
    expect(after(recent, 5, false)).toEqual([]);
  });

  it('ends before what came without its content', () => {
    const recent = recentOf([1, 2]);
    recent.add({ seq: 3, before: 2, bytes: 0 });
    recent.add({ seq: 4, before: 3, bytes: 10 });
    expect(after(recent, 0)).toEqual([1, 2]);
    expect(after(recent, 2)).toEqual([]);
    expect(after(recent, 3)).toEqual([4]);
  });

  it('is bounded, in messages and in bytes', () => {
    const places = Array.from({ length: 1_000 }, (_, at) => at + 1);
    expect(after(recentOf(places), 999)).toEqual([1_000]);
    expect(after(recentOf(places), 936)).toHaveLength(64);
    expect(after(recentOf(places), 935)).toEqual([]);
    const large = recentOf(places, 100 * 1_024);
    expect(after(large, 998)).toEqual([999, 1_000]);
    expect(after(large, 997)).toEqual([]);
    expect(after(recentOf(places, 1_024 * 1_024), 999)).toEqual([]);
  });
});
