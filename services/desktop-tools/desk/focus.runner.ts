import { hasState, ROLES } from '#libs/screen';
import type { AccessibleFacts, AccessibleNode } from '../access/index.js';
import { DesktopFault } from '../faults/index.js';
import type { DesktopWindow } from '../display/index.js';
import type { Reach } from './connection.runner.js';
import { factsOf, focusedIn } from './controls.js';

/** What had the keyboard when all of a window was read, and what was in it that nobody types into. */
export interface SeenFocus {
  readonly window: Pick<DesktopWindow, 'handle' | 'process'>;
  readonly focused: AccessibleFacts;
  readonly guarded: readonly AccessibleFacts[];
}

/** What is remembered of a walk; undefined when its program does not say what has the keyboard. */
export function focusSeen(window: SeenFocus['window'], root: AccessibleNode): SeenFocus | undefined {
  const focused = focusedIn(root);
  return focused && { window, focused, guarded: guardedIn(root) };
}

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
export async function isStillFocused(seen: SeenFocus, window: SeenFocus['window'], { tree }: Reach): Promise<boolean> {
  if (seen.window.handle !== window.handle || seen.window.process !== window.process) return false;
  const asked = [seen.focused, ...seen.guarded].map(({ at }) => tree.facts(at).catch(unlessFault));
  const [now, ...guarded] = await Promise.all(asked);
  if (now?.role !== seen.focused.role || !hasFocus(now) || !hasState(now.states, 'showing')) return false;
  const isInnermost = now.childCount <= 0 || now.childCount > ENTERED_MAX;
  return isInnermost && guarded.every((one) => one === undefined || !hasFocus(one) || one.at === seen.focused.at);
}

const hasFocus = ({ states }: AccessibleFacts): boolean => hasState(states, 'focused');

function unlessFault(error: unknown): undefined {
  if (error instanceof DesktopFault) throw error;
  return undefined;
}
