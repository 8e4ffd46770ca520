import { describe, expect, it } from '@jest/globals';
import { markedPlace, pngOf, readPng, type Box } from './index.js';

const GREY = 90;
const screen = pngOf({ width: 1_000, height: 600, rgb: new Uint8Array(1_000 * 600 * 3).fill(GREY) });
const POINTS_MAX = 1_000_000;

function shown(box: Box, png: Uint8Array = screen) {
  const made = markedPlace(png, box, POINTS_MAX);
  const read = made === undefined ? { why: 'there is none' } : readPng(made);
  if ('why' in read) throw new Error(read.why);
  const { width, rgb } = read.picture;
  const at = (x: number, y: number): number[] => Array.from(rgb.subarray((y * width + x) * 3, (y * width + x) * 3 + 3));
  return { ...read.picture, at };
}

describe('a place in a picture, for a person', () => {
  it('is shown with a frame around it and with what is beside it', () => {
    const { width, height, at } = shown([500, 300, 540, 320]);
    expect([width, height]).toEqual([520, 300]);
    const corner = at(240, 140);
    expect(corner).not.toEqual([GREY, GREY, GREY]);
    expect(at(279, 159)).toEqual(corner);
    expect(at(239, 140)).toEqual([GREY, GREY, GREY]);
    expect(at(280, 160)).toEqual([GREY, GREY, GREY]);
    // What stands in it can still be read.
    expect(at(260, 150)).not.toEqual(corner);
  });

  it('is cut where the picture ends', () => {
    const { width, height } = shown([0, 590, 10, 700]);
    expect([width, height]).toEqual([250, 150]);
  });

  it.each<[string, Uint8Array, Box]>([
    ['lies outside of it', screen, [1_000, 0, 1_100, 20]],
    ['is of what is no picture', Buffer.from('GIF89a'), [0, 0, 9, 9]],
    [
      'is of one that is too large to be read here',
      pngOf({ width: 1_001, height: 1_000, rgb: new Uint8Array(3_003_000) }),
      [0, 0, 9, 9],
    ],
  ])('is not shown when it %s', (_, png, box) => {
    expect(markedPlace(png, box, POINTS_MAX)).toBeUndefined();
  });
});
