import { marked, type MarkColour } from './marks.js';
import { clippedBox, cropped, type Box } from './pixels.js';
import { readPng } from './png-reading.js';
import { pngOf } from './png-writing.js';

/** How much of what is around it is shown, in points: enough to know the window again. */
const AROUND = { across: 240, down: 140 } as const;
const COLOUR: MarkColour = [255, 220, 0];

/**
 * A part of a PNG with a frame around one place in it, as a PNG; undefined when it cannot be read, is larger than `pointsMax`, or
 * does not show the place. For a person who is to see what is meant.
 */
export function markedPlace(png: Uint8Array, box: Box, pointsMax: number): Buffer | undefined {
  const read = readPng(png, pointsMax);
  if ('why' in read || clippedBox(box, read.picture) === undefined) return undefined;
  const [left, top, right, bottom] = box;
  const around: Box = [left - AROUND.across, top - AROUND.down, right + AROUND.across, bottom + AROUND.down];
  const part = cropped(marked(read.picture, [{ box, label: '', colour: COLOUR }]), around);
  return part === undefined ? undefined : pngOf(part);
}
