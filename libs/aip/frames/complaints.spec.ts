import { describe, expect, it } from '@jest/globals';
import { Complaints } from './complaints.js';

describe('Complaints', () => {
  it('takes a few, and then one every ten seconds, however many come', () => {
    const complaints = new Complaints(0);
    let taken = 0;
    for (let nowMs = 0; nowMs <= 100_100; nowMs += 100) if (complaints.take(nowMs)) taken++;
    expect(taken).toBe(20);
  });
});
