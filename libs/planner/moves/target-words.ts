import type { Target } from '#proto';
import { type FleetView, isRevoked, listOfIds, type TargetIssue } from '#libs/constellation';

/** What is wrong with a target, in words a model can act on: which devices there are, and which of them may have been meant. */
export function targetWords(issue: TargetIssue, target: Target, fleet: FleetView): string {
  if (issue.code !== 'NO_DEVICE' || !('device' in target)) return issue.message;
  const ids = [...fleet.devices.values()].filter((device) => !isRevoked(device)).map(({ deviceId }) => deviceId);
  const close = closest(ids.toSorted(), target.device);
  const meant = close.length === 0 ? '' : `; did you mean ${listOfIds(close)}?`;
  const problem = issue.message.split('; known are ', 1)[0] ?? issue.message;
  return `${problem}; devices are ${listOfIds(ids.toSorted())}${meant}`;
}

/** Those that a name with a typing error, or a part of a name, comes nearest to; none when it is like no other. */
function closest(ids: readonly string[], said: string): string[] {
  const far = ids.map((id) => farness(plain(id), plain(said)));
  const least = Math.min(...far);
  return least === Infinity ? [] : ids.filter((_, index) => far[index] === least);
}

/** 0: nothing but signs differs. Infinity: something else is meant. */
function farness(one: string, other: string): number {
  const letters = distance(one, other);
  if (letters <= Math.max(1, Math.floor(Math.min(one.length, other.length) / 4))) return letters;
  return one.includes(other) || other.includes(one) ? Math.abs(one.length - other.length) : Infinity;
}

function plain(id: string): string {
  return id.toLowerCase().replaceAll(/[_-]/gu, '');
}

/** Letters to add, to remove or to replace between two ids (Levenshtein). Ids are short. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + Number(one[i - 1] !== other[j - 1]);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
