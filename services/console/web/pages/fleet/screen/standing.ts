import type { AgentProfile } from '#proto';
import { words } from '../../../words/index.js';

/** How a view of a screen stands. */
export type ViewStanding =
  { readonly phase: 'opening' } | { readonly phase: 'live' } | { readonly phase: 'ended'; readonly why: string };

/** How the socket of a view was closed; code and reason are the console's where it had a word left. */
export interface Closing {
  readonly code: number;
  readonly reason: string;
  /** Whether anything was seen before. */
  readonly wasLive: boolean;
}

/** Codes of `close`, as the console uses them. */
const CLOSED = { stops: 1001, cut: 1008, server: 1011 } as const;
/** As this side closes: the viewer does when it cannot read what it is sent. */
const BY_VIEWER = new Set([1000, 1005]);

/** Why it is over, in words. */
export function whyEnded({ code, reason, wasLive }: Closing): string {
  const { end } = words.screen;
  switch (code) {
    case CLOSED.stops:
      return end.console;
    case CLOSED.cut:
      return end.cut(reason);
    case CLOSED.server:
      return wasLive ? end.gone : end.away(reason);
    default:
      if (BY_VIEWER.has(code)) return end.unreadable;
      return wasLive ? end.broken : end.refused;
  }
}

export interface WhoActs {
  /** Whether what who looks does goes to the screen. */
  readonly mayAct: boolean;
  readonly words: string;
}

/** Who has a screen, as who looks at it is told. `isSmall`: there is no room to act. */
export function handsOn(taken: AgentProfile['taken'], me: string | undefined, isSmall: boolean): WhoActs {
  if (taken === undefined) return { mayAct: false, words: words.screen.agents };
  if (taken.by.id !== me) return { mayAct: false, words: words.screen.other(taken.by.id) };
  return isSmall ? { mayAct: false, words: words.screen.small } : { mayAct: true, words: words.screen.mine };
}
