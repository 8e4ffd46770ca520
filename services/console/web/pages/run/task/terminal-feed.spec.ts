import { expect, it } from '@jest/globals';
import { TerminalFeed } from './terminal-feed.js';

const MIB = 1_024 * 1_024;
/** What a terminal takes in within a frame. */
const PART_MAX = 16 * 1_024;

const lengthOf = (given: readonly { readonly text: string }[]): number =>
  given.reduce((sum, { text }) => sum + text.length, 0);

/** A terminal that takes in what it was given when the test says so. */
function slowTerminal() {
  const given: { readonly text: string; readonly done: () => void }[] = [];
  let taken = 0;
  const feed = new TerminalFeed((text, done) => given.push({ text, done }), '(cut)');
  /** False when there is nothing more. */
  const takeIn = (): boolean => {
    const next = given[taken++];
    next?.done();
    return next !== undefined;
  };
  return { given, feed, takeIn };
}

it('gives on at once what comes in small parts', () => {
  const { given, feed } = slowTerminal();
  for (const text of ['a', 'b', 'c']) feed.push(text);
  expect(given.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
});

it('gives no more than is taken in, all of it in order, and nothing twice', () => {
  const { given, feed, takeIn } = slowTerminal();
  const parts = Array.from({ length: 8 }, (_, index) => String(index).repeat(MIB));
  for (const part of parts) feed.push(part);
  const first = lengthOf(given);
  expect(first).toBeGreaterThanOrEqual(PART_MAX);
  expect(first).toBeLessThanOrEqual(MIB);
  // The terminal does not wait, and gets no more than takes the place of what it took in.
  for (let count = 1; takeIn(); count++) expect(lengthOf(given)).toBeLessThanOrEqual(first + count * PART_MAX);
  expect(given.map(({ text }) => text).join('')).toBe(parts.join(''));
});

it('gives a long text in parts, each of which a page has time for, and joins what is short', () => {
  const { given, feed, takeIn } = slowTerminal();
  feed.push('long '.repeat(MIB));
  for (let count = 0; count < 100_000; count++) feed.push('s');
  while (takeIn());
  expect(Math.max(...given.map(({ text }) => text.length))).toBeLessThanOrEqual(PART_MAX);
  expect(given.length).toBeLessThanOrEqual(Math.ceil((5 * MIB + 100_000) / PART_MAX));
  expect(lengthOf(given)).toBe(5 * MIB + 100_000);
});

it('leaves the first out of what comes faster than that, and says so', () => {
  const { given, feed, takeIn } = slowTerminal();
  for (let count = 0; count < 60; count++) feed.push(String(count % 10).repeat(MIB));
  const before = given.length;
  while (takeIn());
  const last = given
    .slice(before)
    .map(({ text }) => text)
    .join('');
  expect(last).toMatch(/^\(cut\)2+/u);
  expect(last.length).toBeLessThanOrEqual(8 * MIB + '(cut)'.length);
  expect(last.endsWith('9')).toBe(true);
});
