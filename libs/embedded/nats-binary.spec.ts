import { describe, expect, it } from '@jest/globals';
import { isAtLeast } from './nats-binary.js';

describe('isAtLeast', () => {
  it.each([
    ['2.12.0', '2.12', true],
    ['2.15.1', '2.12', true],
    ['3.0.0', '2.12', true],
    ['2.13.0-RC.1', '2.12', true],
    ['2.9.10', '2.12', false],
    ['2.10.27', '2.12', false],
    ['1.99.0', '2.12', false],
    ['', '2.12', false],
    ['unknown', '2.12', false],
  ])('%s against %s: %p', (version, minimum, expected) => {
    expect(isAtLeast(version, minimum)).toBe(expected);
  });
});
