/** A picture in memory: three bytes for each point, red, green and blue, row after row. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

/** Left, top, right and bottom in points: the last two are the first that do not belong to it. */
export type Box = readonly [left: number, top: number, right: number, bottom: number];

export const PICTURE_LIMITS = {
  sideMax: 16_384,
  /** As much as four screens of 3840x2160. */
  pointsMax: 33_177_600,
} as const;

export const BYTES_PER_POINT = 3;

/** Why nobody makes a picture of this size; undefined when it may be. */
export function sizeProblem(width: number, height: number): string | undefined {
  const { sideMax, pointsMax } = PICTURE_LIMITS;
  const isSide = (side: number): boolean => Number.isSafeInteger(side) && side >= 1 && side <= sideMax;
  if (!isSide(width) || !isSide(height)) return `its sides are ${width} and ${height}, and may be 1 to ${sideMax}`;
  return width * height > pointsMax ? `it has ${width * height} points, and may have ${pointsMax}` : undefined;
}

/** Points as an X server gives them: blue, green, red and a byte that says nothing. */
export function pictureOfBgrx(data: Uint8Array, width: number, height: number): Picture {
  const problem = sizeProblem(width, height);
  if (problem !== undefined) throw new RangeError(`no picture: ${problem}`);
  const rgb = new Uint8Array(width * height * BYTES_PER_POINT);
  const points = Math.min(width * height, Math.floor(data.length / 4));
  for (let point = 0, from = 0, to = 0; point < points; point++, from += 4, to += BYTES_PER_POINT) {
    rgb[to] = data[from + 2] ?? 0;
    rgb[to + 1] = data[from + 1] ?? 0;
    rgb[to + 2] = data[from] ?? 0;
  }
  return { width, height, rgb };
}

/** The part of the box that lies in the picture; undefined when none does. */
export function clippedBox([left, top, right, bottom]: Box, { width, height }: Picture): Box | undefined {
  const clip = (side: number, max: number): number => Math.min(Math.max(Math.trunc(side), 0), max);
  const clipped: Box = [clip(left, width), clip(top, height), clip(right, width), clip(bottom, height)];
  return clipped[2] > clipped[0] && clipped[3] > clipped[1] ? clipped : undefined;
}

/** A part of the picture as one of its own; undefined when the box lies outside. */
export function cropped(picture: Picture, box: Box): Picture | undefined {
  const clipped = clippedBox(box, picture);
  if (clipped === undefined) return undefined;
  const [left, top, right, bottom] = clipped;
  const [width, height] = [right - left, bottom - top];
  const rgb = new Uint8Array(width * height * BYTES_PER_POINT);
  for (let row = 0; row < height; row++) {
    const from = ((top + row) * picture.width + left) * BYTES_PER_POINT;
    rgb.set(picture.rgb.subarray(from, from + width * BYTES_PER_POINT), row * width * BYTES_PER_POINT);
  }
  return { width, height, rgb };
}
