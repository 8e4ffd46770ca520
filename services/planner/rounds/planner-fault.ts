/** Code of the planner that only computes has failed: the same would happen again, so the round ends with it. */
export class PlannerFault extends Error {
  override readonly name = 'PlannerFault';
}

/** Does what only computes; a failure of it is a mistake of ours, and no trouble of the infrastructure. */
export function computed<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PlannerFault(`The planner could not ${what}: ${reason}`, { cause });
  }
}
