import { hasState, ROLES } from '#libs/screen';
import type { Accessible, AccessibleFacts, AccessibleNode } from '../access/index.js';
import { DesktopFault, pause } from '../faults/index.js';
import type { DesktopWindow } from '../display/index.js';
import type { Reach } from './connection.runner.js';
import { factsOf, focusedIn } from './controls.js';

/** What had the keyboard when all of a window was read, and what was in it that nobody types into. */
export interface SeenFocus {
  readonly window: Pick<DesktopWindow, 'handle' | 'process'>;
  readonly root: Accessible;
  readonly focused: AccessibleFacts;
  readonly guarded: readonly AccessibleFacts[];
}

/** What is remembered of a walk; undefined when its program does not say what has the keyboard. */
export function focusSeen(window: SeenFocus['window'], root: AccessibleNode): SeenFocus | undefined {
  const focused = focusedIn(root);
  return focused && { window, root: root.at, focused, guarded: guardedIn(root) };
}

/** A browser whose page has just been changed names nothing for a moment. */
const NAMED_MS = 1_000;
const BETWEEN_MS = 40;

/**
 * Looks in all of a window for what has the keyboard. Undefined when its program does not say it and has nothing in there that could be
 * guarded. Where it has, that nothing is named is no answer: a script may just have given the keyboard to a password field in a new frame.
 */
export async function lookForFocus(
  window: Pick<DesktopWindow, 'handle' | 'process' | 'rawTitle' | 'rect'>,
  { tree }: Pick<Reach, 'tree'>,
  now: () => number,
): Promise<SeenFocus | undefined> {
  for (const end = now() + NAMED_MS; ; await pause(BETWEEN_MS)) {
    const root = (await tree.of({ ...window, title: window.rawTitle }))?.root;
    const seen = root && focusSeen(window, root);
    if (seen !== undefined || root === undefined || !mayHideFocus(root)) return seen;
    if (now() >= end)
      throw new DesktopFault(
        'WINDOW_CHANGED',
        'the program does not say what has the keyboard, and it may be a password field; list again',
      );
  }
}

/** A page may have in it what its browser has not told of yet. */
const mayHideFocus = ({ role, children }: AccessibleNode): boolean =>
  role === ROLES.webDocument || GUARDED.has(role) || children.some(mayHideFocus);

const guardedIn = (node: AccessibleNode): AccessibleFacts[] => [
  ...(GUARDED.has(node.role) ? [factsOf(node)] : []),
  ...node.children.flatMap(guardedIn),
];

const GUARDED: ReadonlySet<number> = new Set([ROLES.password, ROLES.terminal]);

/** A thing with more in it than is ever entered is as good as one with nothing in it: a sheet has two thousand million cells. */
const ENTERED_MAX = 500;

/**
 * Whether what had the keyboard has it still, asked of it and of what is guarded alone: all of a sheet takes 80 ms. False where it
 * cannot be said like that, because the thing is gone, or has something in it that may have the keyboard now.
 */
export async function isStillFocused(
  seen: SeenFocus,
  window: SeenFocus['window'],
  { tree }: Pick<Reach, 'tree'>,
): Promise<boolean> {
  if (seen.window.handle !== window.handle || seen.window.process !== window.process) return false;
  const asked = [seen.focused, ...seen.guarded].map(({ at }) => tree.facts(at).catch(unlessFault));
  const [now, ...guarded] = await Promise.all(asked);
  if (now?.role !== seen.focused.role || !hasFocus(now) || !hasState(now.states, 'showing')) return false;
  if (guarded.some((one) => one !== undefined && hasFocus(one) && one.at !== seen.focused.at)) return false;
  if (now.childCount <= 0 || now.childCount > ENTERED_MAX) return true;
  return now.role === ROLES.webDocument && isAloneIn(await tree.focusedIn(seen.root), now.at);
}

/**
 * A page has the keyboard itself when nothing of it has: its browser is asked for all that has it in the window. That the page is
 * in the answer shows that it is one: a program that finds nothing at all has not looked, and is not believed.
 */
const isAloneIn = (told: readonly Accessible[] | undefined, { bus, path }: Accessible): boolean =>
  told?.length === 1 && told[0]?.bus === bus && told[0].path === path;

const hasFocus = ({ states }: AccessibleFacts): boolean => hasState(states, 'focused');

function unlessFault(error: unknown): undefined {
  if (error instanceof DesktopFault) throw error;
  return undefined;
}
