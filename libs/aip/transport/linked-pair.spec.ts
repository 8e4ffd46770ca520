import { describe, expect, it } from '@jest/globals';
import { linkedPair } from './linked-pair.js';
import type { Closed, Transport } from './transport.js';

function watch(end: Transport) {
  const seen: { frames: (string | null)[]; closed: Closed[] } = { frames: [], closed: [] };
  end.handle({ frame: (text) => seen.frames.push(text), closed: (why) => seen.closed.push(why) });
  return seen;
}

describe('linkedPair', () => {
  it('delivers in order, when the test says so, and also what that causes', () => {
    const pair = linkedPair();
    const right = watch(pair.right);
    pair.left.handle({ frame: (text) => pair.left.send(`${text}!`), closed: () => undefined });
    pair.left.send('1');
    pair.left.send('2');
    expect(right.frames).toEqual([]);
    expect(pair.deliver(1)).toBe(1);
    pair.right.send('ping');
    expect(pair.deliver()).toBe(3);
    expect(right.frames).toEqual(['1', '2', 'ping!']);
  });

  it('keeps what a paused end has not read', () => {
    const pair = linkedPair();
    const right = watch(pair.right);
    pair.right.pause();
    pair.left.send('1');
    expect(pair.deliver()).toBe(0);
    pair.right.resume();
    pair.deliver();
    expect(right.frames).toEqual(['1']);
  });

  it('loses what is on the way when the cable is cut, and delivers it before an orderly close', () => {
    const [torn, orderly] = [linkedPair(), linkedPair()];
    const [left, right, said] = [watch(torn.left), watch(torn.right), watch(orderly.right)];
    torn.left.send('lost');
    torn.cut();
    torn.left.send('too late');
    expect(torn.deliver()).toBe(0);
    expect([left, right].map(({ closed }) => closed)).toEqual([
      [{ code: 1006, reason: '' }],
      [{ code: 1006, reason: '' }],
    ]);
    orderly.left.send('bye');
    orderly.left.close(1000, 'done');
    expect(said).toEqual({ frames: ['bye'], closed: [{ code: 1000, reason: 'done' }] });
  });
});
