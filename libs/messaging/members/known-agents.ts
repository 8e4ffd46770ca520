import type { Member } from '#proto';

const DEVICE_AGENT = 'device-agent';

/**
 * How long a kind of agent counts as served after its last sign of life: a replica that is restarted, or that had no time to
 * say so, is back before long, and what is planned or started meanwhile waits for it in the log.
 */
export const AGENTS_GRACE_MS = 30_000;

/** Which kinds of agents somebody serves, or served a moment ago. */
export class KnownAgents {
  readonly #seen = new Map<string, number>();

  /** `nowMs`: of a clock that never goes back. */
  see(kinds: Iterable<string>, nowMs: number): ReadonlySet<string> {
    for (const kind of kinds) this.#seen.set(kind, nowMs);
    for (const [kind, atMs] of this.#seen) if (nowMs - atMs > AGENTS_GRACE_MS) this.#seen.delete(kind);
    return new Set(this.#seen.keys());
  }
}

/** Kinds of agents that these members say they serve. */
export function agentsOf(members: readonly Member[]): string[] {
  return members.flatMap(({ service, agents = [] }) => (service === DEVICE_AGENT ? agents : []));
}
