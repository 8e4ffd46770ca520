import { FAULT_KINDS, type FaultKind } from './faults.js';
import type { SimulationResult } from './simulation.js';

/** What many simulations came to together. */
export class Tally {
  seeds = 0;
  tasksMin = Infinity;
  kindsMin = Infinity;
  readonly failed: SimulationResult[] = [];
  #tasks = 0;
  #commits = 0;
  #events = 0;
  #virtualMs = 0;
  readonly #strikes = new Map<FaultKind, number>();
  readonly #struck = new Map<FaultKind, number>();

  add(result: SimulationResult): void {
    const kinds = new Set(result.strikes.map(({ kind }) => kind));
    this.seeds += 1;
    this.tasksMin = Math.min(this.tasksMin, result.tasks);
    this.kindsMin = Math.min(this.kindsMin, kinds.size);
    this.#tasks += result.tasks;
    this.#commits += result.commits;
    this.#events += result.events;
    this.#virtualMs += result.virtualMs;
    for (const kind of kinds) this.#struck.set(kind, (this.#struck.get(kind) ?? 0) + 1);
    for (const { kind } of result.strikes) this.#strikes.set(kind, (this.#strikes.get(kind) ?? 0) + 1);
    if (result.failure !== null) this.failed.push(result);
  }

  /** Kinds that never struck. */
  get missing(): FaultKind[] {
    return FAULT_KINDS.filter((kind) => !this.#struck.has(kind));
  }

  /** How often each fault hit, and how much happened. */
  toString(): string {
    const hours = (this.#virtualMs / 3_600_000).toFixed(0);
    const sums = [
      `${this.#tasks} tasks`,
      `${this.#commits} commits`,
      `${this.#events} events`,
      `${hours} virtual hours`,
    ];
    const head = `${this.seeds} seeds: ${sums.join(', ')}; ${this.failed.length} failed`;
    const rows = FAULT_KINDS.map((kind) => {
      const [strikes, seeds] = [this.#strikes.get(kind) ?? 0, this.#struck.get(kind) ?? 0];
      return `  ${kind.padEnd(24)} ${String(strikes).padStart(7)} times in ${String(seeds).padStart(5)} seeds`;
    });
    return [head, ...rows].join('\n');
  }
}

/** One failure for people: what was promised, what it takes to see it broken, and how to see it again. */
export function describeFailure({ seed, failure, requests, strikes }: SimulationResult, bug?: string): string {
  if (failure === null) return `seed ${seed}: nothing failed`;
  const again = `npm run simulate -- --seed ${seed}${bug === undefined ? '' : ` --bug ${bug}`}`;
  const only = [...requests, ...strikes.map(({ id }) => id)].join(',');
  return [
    `seed ${seed}: ${failure.check} after ${Math.round(failure.at)} ms: ${failure.message}`,
    `  it takes ${requests.join(', ')} and ${strikes.length} faults:`,
    ...strikes.map(({ id, at, about }) => `  ${at.toFixed(1).padStart(10)} ms  ${id.padEnd(26)} ${about}`),
    `  again: ${again}`,
    `  with its steps: ${again} --verbose --only ${only}`,
  ].join('\n');
}
