import { describe, expect, it } from '@jest/globals';
import { Wake } from './wake.js';

const never = new AbortController().signal;

describe('Wake', () => {
  it('wakes who waits, and keeps one wake-up for who does not wait yet', async () => {
    const wake = new Wake();
    const waiting = wake.wait(never);
    wake.raise();
    await waiting;
    wake.raise();
    wake.raise();
    await wake.wait(never);
    let woken = false;
    void wake.wait(never).then(() => (woken = true));
    await Promise.resolve();
    expect(woken).toBe(false);
  });

  it('ends waiting when aborted', async () => {
    const stopping = new AbortController();
    const waiting = new Wake().wait(stopping.signal);
    stopping.abort();
    await waiting;
    await new Wake().wait(stopping.signal);
  });
});
