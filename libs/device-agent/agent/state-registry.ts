import { noneState } from './states.js';
import type { AgentState } from './state.js';

/** The states of a kind of agent, by name. */
export class StateRegistry<G extends object = object> {
  readonly #byName = new Map<string, AgentState<G>>();
  readonly #owner: string;
  /** The state of an agent that has not begun: nothing is done in it. */
  readonly none: AgentState<G> = noneState();

  constructor(owner: string, states: readonly AgentState<G>[]) {
    this.#owner = owner;
    for (const state of states) this.#register(state);
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  get(name: string): AgentState<G> {
    const state = this.#byName.get(name);
    if (state !== undefined) return state;
    const names = this.names.join(', ');
    throw new StateError(`${this.#owner} has no state "${name}"; it has ${names === '' ? 'none' : names}`);
  }

  #register(state: AgentState<G>): void {
    const { name } = state;
    if (name === '' || name === this.none.name)
      throw new StateError(`${this.#owner}: "${name}" is no name for a state`);
    if (this.#byName.has(name)) throw new StateError(`${this.#owner} has two states with the name "${name}"`);
    this.#byName.set(name, state);
  }
}

/** A state machine that was put together wrongly. */
export class StateError extends Error {
  override readonly name = 'StateError';
}
