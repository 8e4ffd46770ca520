import { expect, it } from '@jest/globals';
import { TerminalFeed } from './terminal-feed.js';

const MIB = 1_024 * 1_024;

/** A terminal that takes in what it was given when the test says so. */
function slowTerminal() {
  const given: { readonly text: string; readonly done: () => void }[] = [];
  let taken = 0;
  const feed = new TerminalFeed((text, done) => given.push({ text, done }), '(cut)');
  const takeIn = (): void => given[taken++]?.done();
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
  expect(given).toHaveLength(4);
  for (let count = 0; count < 5; count++) takeIn();
  expect(given.map(({ text }) => text).join('')).toBe(parts.join(''));
});

it('leaves the first out of what comes faster than that, and says so', () => {
  const { given, feed, takeIn } = slowTerminal();
  for (let count = 0; count < 60; count++) feed.push(String(count % 10).repeat(MIB));
  takeIn();
  const last = given.at(-1)?.text ?? '';
  expect(given).toHaveLength(5);
  expect(last).toMatch(/^\(cut\)2+/u);
  expect(last.length).toBeLessThanOrEqual(8 * MIB + 5);
  expect(last.endsWith('9')).toBe(true);
});
