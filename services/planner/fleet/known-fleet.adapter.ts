import { setTimeout as sleep } from 'node:timers/promises';
import type { PlanningFleet } from './fleet.js';

/** How long a plan waits for the fleet to be known. */
const FLEET_KNOWN_MS_MAX = 5_000;

/** A planner that has just started would call impossible what only it does not know yet. Resolves at the latest after the limit. */
export async function untilKnown({ known }: Pick<PlanningFleet, 'known'>, limitMs = FLEET_KNOWN_MS_MAX): Promise<void> {
  const over = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([known, limit]);
  over.abort();
}
