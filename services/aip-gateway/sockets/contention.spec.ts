import { describe, expect, it } from '@jest/globals';
import { Contention, CONTENTION } from './contention.js';

const { replacementsMax, withinMs, refuseMsMin, refuseMsMax, calmMs } = CONTENTION;

/** Two clients that replace each other every two seconds from `fromMs`, until one of them is refused; when that was. */
function fight(contention: Contention, fromMs: number): number {
  for (let nowMs = fromMs; ; nowMs += 2_000) {
    if (contention.replaced('d', nowMs)) return nowMs;
    if (nowMs > fromMs + withinMs) throw new Error('nobody is refused');
  }
}

describe('sessions of one device that replace each other', () => {
  it('are let go on as often as a bad network does it, and then refused', () => {
    const contention = new Contention();
    const refusedMs = fight(contention, 0);
    expect(refusedMs).toBe(replacementsMax * 2_000);
    expect(contention.isRefused('d', refusedMs + refuseMsMin - 1)).toBe(true);
    expect(contention.isRefused('d', refusedMs + refuseMsMin)).toBe(false);
    expect(contention.isRefused('other', refusedMs)).toBe(false);
  });

  it('are never refused at a slower pace, however long it lasts', () => {
    const contention = new Contention();
    const everyMs = withinMs / replacementsMax;
    for (let nowMs = 0; nowMs < 24 * 3_600_000; nowMs += everyMs) expect(contention.replaced('d', nowMs)).toBe(false);
  });

  it('are refused for longer each time, up to the longest, and counted once in that time', () => {
    const contention = new Contention();
    let nowMs = fight(contention, 0);
    const waitedMs: number[] = [];
    for (let times = 0; times < 7; times++) {
      expect(contention.replaced('d', nowMs + 1)).toBe(false); // a socket from before
      const beganMs = nowMs;
      while (contention.isRefused('d', nowMs)) nowMs += 1_000;
      waitedMs.push(nowMs - beganMs);
      expect(contention.replaced('d', nowMs)).toBe(true);
    }
    expect(waitedMs.map((ms) => ms / refuseMsMin)).toEqual([1, 2, 4, 8, 16, 20, 20]);
    expect(waitedMs.at(-1)).toBe(refuseMsMax);
  });

  it('are forgotten when it has been calm', () => {
    const contention = new Contention();
    const calmFromMs = fight(contention, 0) + refuseMsMin + calmMs;
    expect(contention.replaced('d', calmFromMs)).toBe(false);
    expect(fight(contention, calmFromMs + 1)).toBeLessThan(calmFromMs + withinMs);
    expect(contention.isRefused('d', calmFromMs + withinMs + refuseMsMin)).toBe(false); // the shortest time again
  });

  it('are remembered for so many devices, and the quietest is forgotten', () => {
    const contention = new Contention({ ...CONTENTION, devicesMax: 2 });
    const refusedMs = fight(contention, 0);
    for (const id of ['e', 'f']) contention.replaced(id, refusedMs);
    expect(contention.isRefused('d', refusedMs)).toBe(false);
  });
});
