import { describe, expect, it } from '@jest/globals';
import { digestOf } from './digest.adapter.js';

describe('digestOf', () => {
  it('does not depend on the order of keys, and on everything else', () => {
    const one = digestOf({ tool: 'T', arguments: { a: 1, b: { c: 2, d: [1, 2] } } });
    expect(one).toMatch(/^[0-9a-f]{64}$/u);
    expect(digestOf({ arguments: { b: { d: [1, 2], c: 2 }, a: 1 }, tool: 'T' })).toBe(one);
    expect(digestOf({ tool: 'T', arguments: { a: 1, b: { c: 2, d: [2, 1] } } })).not.toBe(one);
    expect(digestOf({ tool: 'U', arguments: { a: 1, b: { c: 2, d: [1, 2] } } })).not.toBe(one);
  });
});
