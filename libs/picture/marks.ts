import { labelPoints, labelSize } from './digits.js';
import { BYTES_PER_POINT, clippedBox, type Box, type Picture } from './pixels.js';

/** A mark on a picture: a frame, and a label of digits at its top left. */
export interface PictureMark {
  readonly box: Box;
  /** Digits; any other sign is a small frame. */
  readonly label: string;
  readonly colour: MarkColour;
}

export type MarkColour = readonly [red: number, green: number, blue: number];

const FRAME: MarkColour = [255, 60, 60];
const INK: MarkColour = [0, 0, 0];
/** How much of the colour of a mark lies over what is marked: it stays readable. */
const VEIL = 0.12;

/** The picture with marks, smaller ones over larger; what lies outside of it is not drawn. The picture itself stays as it is. */
export function marked(picture: Picture, marks: readonly PictureMark[]): Picture {
  const drawn: Picture = { ...picture, rgb: picture.rgb.slice() };
  const inOrder = marks.toSorted((one, other) => areaOf(other.box) - areaOf(one.box));
  for (const { box, colour } of inOrder) frame(drawn, box, colour);
  // Labels come last: a frame over a number would make another number of it.
  for (const mark of inOrder) label(drawn, mark);
  return drawn;
}

const areaOf = ([left, top, right, bottom]: Box): number => (right - left) * (bottom - top);

function frame(picture: Picture, box: Box, colour: MarkColour): void {
  const clipped = clippedBox(box, picture);
  if (clipped === undefined) return;
  const [left, top, right, bottom] = clipped;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const isEdge = y === top || y === bottom - 1 || x === left || x === right - 1;
      dot(picture, x, y, isEdge ? FRAME : colour, isEdge ? 1 : VEIL);
    }
  }
}

function label(picture: Picture, { box, label: text, colour }: PictureMark): void {
  if (clippedBox(box, picture) === undefined || text === '') return;
  const [width, height] = labelSize(text);
  // Inside of the picture, also at its edges: a number that is cut off is another one.
  const left = Math.max(0, Math.min(Math.trunc(box[0]), picture.width - width));
  const top = Math.max(0, Math.min(Math.trunc(box[1]), picture.height - height));
  for (let y = top; y < Math.min(top + height, picture.height); y++) {
    for (let x = left; x < Math.min(left + width, picture.width); x++) dot(picture, x, y, colour, 1);
  }
  for (const [x, y] of labelPoints(text)) {
    if (left + x < picture.width && top + y < picture.height) dot(picture, left + x, top + y, INK, 1);
  }
}

function dot({ width, rgb }: Picture, x: number, y: number, colour: MarkColour, weight: number): void {
  const at = (y * width + x) * BYTES_PER_POINT;
  for (const [channel, value] of colour.entries()) {
    rgb[at + channel] = Math.round((rgb[at + channel] ?? 0) * (1 - weight) + value * weight);
  }
}
