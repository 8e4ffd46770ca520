import { describe, expect, it } from '@jest/globals';
import { Starved } from './starved.js';

describe('Starved', () => {
  it('gives the first that wait for a device, and not those that wait for another', () => {
    const starved = new Starved();
    starved.set('r1', new Set(['web-1']));
    starved.set('r2', new Set(['db-1']));
    starved.set('r3', new Set(['web-1', 'db-1']));
    expect(starved.take('web-1', 1)).toEqual(['r1']);
    expect(starved.take('db-1', 5)).toEqual(['r2', 'r3']);
    expect(starved.take('web-1', 5)).toEqual([]);
  });

  it('keeps the place of a run that still waits, and forgets what it waits for no more', () => {
    const starved = new Starved();
    starved.set('r1', new Set(['web-1', 'db-1']));
    starved.set('r2', new Set(['web-1']));
    starved.set('r1', new Set(['web-1']));
    expect(starved.take('db-1', 1)).toEqual([]);
    expect(starved.take('web-1', 2)).toEqual(['r1', 'r2']);
    starved.set('r3', new Set(['web-1']));
    starved.remove('r3');
    expect(starved.take('web-1', Infinity)).toEqual([]);
  });
});
