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
  const { width, rgb } = picture;
  const clipped = clippedBox(box, picture);
  if (clipped === undefined) return;
  const [left, top, right, bottom] = clipped;
  const [red, green, blue] = colour.map(veiled) as [Uint8Array, Uint8Array, Uint8Array];
  for (let y = top; y < bottom; y++) {
    const row = y * width;
    if (y === top || y === bottom - 1) fill(rgb, row + left, row + right, FRAME);
    else {
      fill(rgb, row + left, row + left + 1, FRAME);
      fill(rgb, row + right - 1, row + right, FRAME);
      const end = (row + right - 1) * BYTES_PER_POINT;
      for (let at = (row + left + 1) * BYTES_PER_POINT; at < end; at += BYTES_PER_POINT) {
        rgb[at] = red[rgb[at] ?? 0] ?? 0;
        rgb[at + 1] = green[rgb[at + 1] ?? 0] ?? 0;
        rgb[at + 2] = blue[rgb[at + 2] ?? 0] ?? 0;
      }
    }
  }
}

/** What each value of a channel becomes under a veil: worked out once for a mark, and not for each of its points. */
const veiled = (value: number): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, under) => Math.round(under * (1 - VEIL) + value * VEIL));

/** One colour from a point to another, both counted over all rows. */
function fill(rgb: Uint8Array, from: number, to: number, [red, green, blue]: MarkColour): void {
  for (let at = from * BYTES_PER_POINT; at < to * BYTES_PER_POINT; at += BYTES_PER_POINT) {
    rgb[at] = red;
    rgb[at + 1] = green;
    rgb[at + 2] = blue;
  }
}

function label(picture: Picture, { box, label: text, colour }: PictureMark): void {
  if (clippedBox(box, picture) === undefined || text === '') return;
  const [width, height] = labelSize(text);
  // Inside of the picture, also at its edges: a number that is cut off is another one.
  const left = Math.max(0, Math.min(Math.trunc(box[0]), picture.width - width));
  const top = Math.max(0, Math.min(Math.trunc(box[1]), picture.height - height));
  const right = Math.min(left + width, picture.width);
  for (let y = top; y < Math.min(top + height, picture.height); y++) {
    fill(picture.rgb, y * picture.width + left, y * picture.width + right, colour);
  }
  for (const [x, y] of labelPoints(text)) {
    const point = (top + y) * picture.width + left + x;
    if (left + x < picture.width && top + y < picture.height) fill(picture.rgb, point, point + 1, INK);
  }
}
