import type { Json } from '#proto';
import type { ScreenTarget, SeenListing } from './listing.js';

/**
 * The control of a page as the look at its window has listed it: the only one there of its name at its place. A page may have been
 * scrolled since it was read; then there is none, and nobody is shown what is elsewhere.
 */
export function placeOnScreen(page: SeenListing, id: Json | undefined, window: SeenListing): ScreenTarget | undefined {
  const read = page.targets.find((one) => one.id === id);
  if (read?.rect === undefined) return undefined;
  const [left, top, right, bottom] = read.rect;
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const [only, ...more] = window.targets.filter(
    ({ name, type, rect }) =>
      name === read.name &&
      type === read.type &&
      rect !== undefined &&
      rect[0] <= x &&
      x <= rect[2] &&
      rect[1] <= y &&
      y <= rect[3],
  );
  return more.length === 0 ? only : undefined;
}
