import { expect, it } from '@jest/globals';
import { NOTHING_LISTED, type ScreenTarget, type SeenListing } from './listing.js';
import { placeOnScreen } from './page-place.js';

const target = (id: string, name: string, rect?: ScreenTarget['rect']): ScreenTarget => ({
  id,
  name,
  type: 'Button',
  more: {},
  ...(rect && { rect }),
});
const listing = (...targets: readonly ScreenTarget[]): SeenListing => ({ ...NOTHING_LISTED, targets });

it('shows the control of a page only where the look at its window shows it, too', () => {
  const page = listing(target('1', 'Send', [10, 10, 60, 30]), target('2', 'Below'));
  const there = target('31', 'Send', [8, 8, 62, 32]);
  expect(placeOnScreen(page, '1', listing(there))).toBe(there);
  expect(placeOnScreen(page, '1', listing(target('31', 'Send', [8, 208, 62, 232])))).toBeUndefined();
  expect(placeOnScreen(page, '1', listing(target('31', 'Other', [8, 8, 62, 32])))).toBeUndefined();
  expect(placeOnScreen(page, '1', listing(there, target('32', 'Send', [8, 8, 62, 32])))).toBeUndefined();
  expect(placeOnScreen(page, '2', listing(target('33', 'Below', [8, 8, 62, 32])))).toBeUndefined();
  expect(placeOnScreen(page, '9', listing(there))).toBeUndefined();
});
