/** Left, top, right and bottom in points of the screen; the last two are the first that do not belong to it. */
export type Rect = readonly [left: number, top: number, right: number, bottom: number];
export type Point = readonly [x: number, y: number];

export const rectOf = (x: number, y: number, width: number, height: number): Rect => [x, y, x + width, y + height];

export const rectWidth = ([left, , right]: Rect): number => right - left;
export const rectHeight = ([, top, , bottom]: Rect): number => bottom - top;

export const isEmptyRect = (rect: Rect): boolean => rectWidth(rect) <= 0 || rectHeight(rect) <= 0;

/** What lies in both; empty when nothing does. */
export const commonRect = (one: Rect, other: Rect): Rect => [
  Math.max(one[0], other[0]),
  Math.max(one[1], other[1]),
  Math.min(one[2], other[2]),
  Math.min(one[3], other[3]),
];

export const movedBy = ([left, top, right, bottom]: Rect, [dx, dy]: Point): Rect => [
  left + dx,
  top + dy,
  right + dx,
  bottom + dy,
];

export const isInRect = ([left, top, right, bottom]: Rect, [x, y]: Point): boolean =>
  x >= left && x < right && y >= top && y < bottom;

/** The middle of what can be seen of a rectangle; undefined when nothing of it can. */
export function middleOf(rect: Rect, seen: Rect): Point | undefined {
  const [left, top, right, bottom] = commonRect(rect, seen);
  if (right <= left || bottom <= top) return undefined;
  return [Math.floor((left + right) / 2), Math.floor((top + bottom) / 2)];
}

/** A point of a window by fractions of its sides; undefined when it is not in the window. */
export function pointAt(window: Rect, [x, y]: Point): Point | undefined {
  if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1) || isEmptyRect(window)) return undefined;
  return [
    Math.min(window[0] + Math.floor(x * rectWidth(window)), window[2] - 1),
    Math.min(window[1] + Math.floor(y * rectHeight(window)), window[3] - 1),
  ];
}

/**
 * How far a pane is told from where it is. Some programs tell places as if they had no menu bar: a root pane that is as large as
 * its frame lies where the frame lies, and so does all that is in it.
 */
export function displacementOf(frame: Rect, pane: Rect): Point {
  const isAsLarge = rectWidth(frame) === rectWidth(pane) && rectHeight(frame) === rectHeight(pane);
  return isAsLarge ? [frame[0] - pane[0], frame[1] - pane[1]] : [0, 0];
}
