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

  it('gives the higher priority first, and among equals who has waited longest', () => {
    const starved = new Starved();
    starved.set('r1', new Set(['web-1']));
    starved.set('r2', new Set(['web-1']), { priority: 10 });
    starved.set('r3', new Set(['web-1']));
    starved.set('r4', new Set(['web-1']), { priority: 10 });
    expect(starved.take('web-1', 3)).toEqual(['r2', 'r4', 'r1']);
  });

  it('sends a run that was served to the end of the line', () => {
    const starved = new Starved();
    starved.set('r1', new Set(['web-1']));
    starved.set('r2', new Set(['web-1']));
    starved.set('r1', new Set(['web-1']), { served: new Set(['web-1']) });
    expect(starved.take('web-1', 2)).toEqual(['r2', 'r1']);
  });

  it('keeps a free slot for those it was granted to until they were decided', () => {
    const starved = new Starved();
    starved.set('r1', new Set(['web-1']));
    starved.set('r2', new Set(['web-1']));
    expect(starved.take('web-1', 1)).toEqual(['r1']);
    expect(starved.take('web-1', 1)).toEqual([]);
    expect(starved.reserved('r1', 'web-1')).toBe(0);
    expect(starved.reserved('r2', 'web-1')).toBe(1);
    expect(starved.reserved('r3', 'web-1')).toBe(2);
    expect(starved.set('r1', new Set())).toEqual(['web-1']);
    expect(starved.take('web-1', 1)).toEqual(['r2']);
  });

  it('lets a run with a higher priority pass by those that wait with a lower one', () => {
    const starved = new Starved();
    starved.set('r1', new Set(['web-1']));
    starved.set('r2', new Set(['web-1']), { priority: 5 });
    expect(starved.reserved('r3', 'web-1', 10)).toBe(0);
    expect(starved.reserved('r3', 'web-1', 5)).toBe(1);
    expect(starved.reserved('r1', 'web-1')).toBe(1);
    expect(starved.reserved('r3', 'web-1')).toBe(2);
    expect(starved.reserved('r3', 'db-1')).toBe(0);
  });
});
