import { realpath } from 'node:fs/promises';
import { ancestorsOf, hides, isAt } from './hidden-places.adapter.js';
import type { HiddenPlace, Sandbox, WalledCommand } from './sandbox.js';

/** One mount over the read-only file system. */
export interface Laid {
  readonly path: string;
  readonly as: HiddenPlace['is'] | 'readable' | 'writable';
}

/**
 * What is hidden, and where the command works, in the order in which one lies on top of the other. What is hidden in a place where
 * may be written stays where it is, too: who could rename a directory around it would have it uncovered for the next command.
 */
export async function laidOver(sandbox: Sandbox, command: WalledCommand): Promise<Laid[]> {
  const { writable } = sandbox;
  const { jailDir, wall } = command;
  const hidden = hiddenAround(sandbox.hidden, [jailDir, ...writable]);
  const works = [jailDir, ...writable].map((path): Laid => ({
    path,
    as: wall.kind === 'write' ? 'writable' : 'readable',
  }));
  const places = new Map(
    [...hidden.map(({ path, is }): Laid => ({ path, as: is })), ...works].map((one) => [one.path, one]),
  );
  for (const path of await given(wall.writable ?? [], [...places.values()])) places.set(path, { path, as: 'writable' });
  for (const { path } of hidden)
    for (const held of renamable(path, places)) places.set(held, { path: held, as: 'writable' });
  return [...places.values()].sort((a, b) => a.path.length - b.path.length);
}

/** Where a command works elsewhere than most, the way there is a passage, and nothing is laid into what is hidden from it. */
function hiddenAround(hidden: readonly HiddenPlace[], works: readonly string[]): readonly HiddenPlace[] {
  const isWay = (path: string): boolean => works.some((work) => work !== path && isAt(work, path));
  const around = hidden.map(({ path, is }): HiddenPlace => ({
    path,
    is: isWay(path) && is !== 'file' ? 'passage' : is,
  }));
  return around.filter((place, index) => !around.slice(0, index).some((outer) => hides(outer, place.path, works)));
}

export const isHiddenDirectory = ({ as }: Laid): boolean => as === 'directory' || as === 'passage';
/**
 * Of these the command could change permissions and then write, for they belong to who made them: to be made read-only as well. Those
 * that root makes stay root's, and are closed to anybody else.
 */
export const ownedByCommand = ({ user }: Sandbox, laid: readonly Laid[]): readonly Laid[] =>
  user.isOther ? [] : laid.filter(isHiddenDirectory);
/** Permissions of what stands there instead. */
export const modeOf = ({ as }: Laid): string => (as === 'passage' ? '0111' : '0000');

/** These are other ones behind every wall. */
const OTHERS = /^\/(?:(?:proc|sys|dev|tmp)(?:\/.*)?)?$/u;

/** What is there of it, links followed, and neither lies in a hidden place nor in one that is private, or the whole machine. */
async function given(wanted: readonly string[], places: readonly Laid[]): Promise<string[]> {
  const found = await Promise.all(wanted.map((path) => realpath(path).catch(() => '/')));
  return [...new Set(found)].filter((path) => {
    const nearest = places.filter((one) => isAt(path, one.path)).sort((a, b) => b.path.length - a.path.length)[0];
    return nearest === undefined ? !OTHERS.test(path) : nearest.as === 'readable' || nearest.as === 'writable';
  });
}

/** Directories between a path and the place in which it lies, if that is one where may be written: where something is mounted stays. */
function renamable(path: string, places: ReadonlyMap<string, Laid>): string[] {
  const above = ancestorsOf(path);
  const end = above.findIndex((one) => places.has(one));
  return places.get(above[end] ?? '')?.as === 'writable' ? above.slice(0, end) : [];
}
