import { describe, expect, it } from '@jest/globals';
import type { DevToolsPipe } from './devtools-pipe.client.js';
import { pageShownIn, type BrowserWindow, type SeenPage } from './page-in-window.js';

const pipe = {} as DevToolsPipe;
const pageAt = (target: string, x: number, y: number, hasFocus = false): SeenPage => ({
  page: { pipe, target },
  view: { hasFocus, window: [x, y] },
});
const windowAt = (x: number, y: number, isActive = false): BrowserWindow => ({
  process: 1,
  application: 'chromium',
  rawTitle: 'Twin - Chromium',
  rect: [x, y, x + 800, y + 600],
  isActive,
});
const shown = (window: BrowserWindow, ...seen: readonly SeenPage[]) => pageShownIn(window, seen)?.target;

describe('of pages of one title a window', () => {
  it('has the only one that is shown, wherever it says that it is', () => {
    expect(shown(windowAt(0, 0), pageAt('a', 500, 500))).toBe('a');
  });

  it('in front has the one with the keyboard', () => {
    expect(shown(windowAt(10, 10, true), pageAt('a', 10, 10), pageAt('b', 10, 10, true))).toBe('b');
    // A page behind that says it has the keyboard is not the one of a window behind.
    expect(shown(windowAt(10, 10), pageAt('a', 10, 10), pageAt('b', 300, 10, true))).toBe('a');
  });

  it('has the one that is nearest to its place, where a frame may be around it', () => {
    expect(shown(windowAt(20, 40), pageAt('a', 18, 16), pageAt('b', 28, 90))).toBe('a');
  });

  it.each([
    ['two are in one place', [pageAt('a', 10, 10), pageAt('b', 10, 10)]],
    ['both are far away', [pageAt('a', 400, 10), pageAt('b', 500, 10)]],
    ['none is shown', []],
  ])('has nobody knows which where %s', (_, seen) => {
    expect(shown(windowAt(10, 10), ...seen)).toBeUndefined();
  });
});
