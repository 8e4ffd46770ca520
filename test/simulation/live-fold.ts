import type { Run } from '#libs/constellation';
import { isSameState } from '../../libs/constellation/same-state.testing.js';
import type { Fail } from './failure.js';

/** I8: what a replica decides on is what its log says. `fold`: the state after the commit that the live one names as its last. */
export function checkLiveFold(live: Run, fold: Run | undefined, fail: Fail): void {
  if (live.number === 0) return;
  if (fold === undefined) return fail('LIVE_FOLD', `run ${live.runId} is decided in a state that is not in the log`);
  if (isSameState(live, fold)) return;
  const [kept, folded] = [textOf(live), textOf(fold)];
  if (kept === folded) return;
  let at = 0;
  while (kept[at] === folded[at]) at++;
  const [one, other] = [kept, folded].map((text) => text.slice(Math.max(0, at - 60), at + 60));
  fail('LIVE_FOLD', `run ${live.runId} is kept as …${one}… and folds to …${other}…`);
}

/** The whole state as text: maps and sets in their order, fields by name, what is not there left out. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) => {
    if (typeof field !== 'object' || field === null || Array.isArray(field)) return field;
    if (Symbol.iterator in field) return [...(field as Iterable<unknown>)];
    return Object.fromEntries(Object.entries(field).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });
}
