import type { Rect } from '#libs/screen';
import type { DevToolsPipe } from './devtools-pipe.client.js';
import type { PageView } from './page.client.js';

/** A page in a window of a browser. */
export interface BrowserPage {
  readonly pipe: DevToolsPipe;
  readonly target: string;
}

/** A window of a browser, as the display knows it. */
export interface BrowserWindow {
  readonly process: number;
  readonly application: string;
  readonly rawTitle: string;
  readonly rect: Rect;
  /** It is in front, and has the keyboard. */
  readonly isActive: boolean;
}

export interface SeenPage {
  readonly page: BrowserPage;
  readonly view: Pick<PageView, 'hasFocus' | 'window'>;
}

/** The window manager may put a frame around it, of which the browser knows more or less than the display. */
const AWAY_MAX = 64;

/** Which of the pages that are shown this window has: the one with its keyboard, or else the one that is where it is. Undefined: nobody can tell. */
export function pageShownIn({ rect, isActive }: BrowserWindow, seen: readonly SeenPage[]): BrowserPage | undefined {
  const [only, ...more] = seen;
  if (only !== undefined && more.length === 0) return only.page;
  const [focused, ...others] = isActive ? seen.filter(({ view }) => view.hasFocus) : [];
  if (focused !== undefined && others.length === 0) return focused.page;
  const placed = seen
    .map(({ page, view: { window } }) => ({
      page,
      away: Math.max(Math.abs(window[0] - rect[0]), Math.abs(window[1] - rect[1])),
    }))
    .toSorted((one, other) => one.away - other.away);
  const [nearest, next] = placed;
  return nearest !== undefined && nearest.away <= AWAY_MAX && nearest.away < (next?.away ?? Number.POSITIVE_INFINITY)
    ? nearest.page
    : undefined;
}
