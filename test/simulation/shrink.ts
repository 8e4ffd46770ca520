import type { BugName } from './bugs.js';
import { simulate, type SimulationResult } from './simulation.js';

/** Simulations that a search may cost. */
const TRIES_MAX = 400;

/**
 * Takes requests and faults out of a schedule that fails, as many as can be taken out so that the same promise is still
 * broken: first all faults of a kind, then ever smaller groups, in the end one by one. Answers the result of what is left.
 */
export async function shrink(failed: SimulationResult, bug?: BugName): Promise<SimulationResult> {
  const { seed, failure } = failed;
  let best = failed;
  let tries = 0;
  const without = async (taken: readonly string[]): Promise<boolean> => {
    const left = scheduleOf(best).filter((id) => !taken.includes(id));
    if (tries >= TRIES_MAX || left.length === scheduleOf(best).length) return false;
    tries += 1;
    const result = await simulate({ seed, bug, only: new Set(left) });
    if (result.failure?.check !== failure?.check) return false;
    best = result;
    return true;
  };
  for (const kind of new Set(failed.strikes.map((strike) => strike.kind))) {
    await without(best.strikes.filter((strike) => strike.kind === kind).map(({ id }) => id));
  }
  for (let size = Math.ceil(scheduleOf(best).length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < scheduleOf(best).length;) {
      if (!(await without(scheduleOf(best).slice(from, from + size)))) from += size;
    }
  }
  return best;
}

/** What a simulation was made of: the requests, then the faults in the order in which they struck. */
export function scheduleOf({ requests, strikes }: SimulationResult): string[] {
  return [...requests, ...strikes.map(({ id }) => id)];
}
