import type { Json, Prompt } from '#proto';
import { Memory, Repeats } from '../memory/index.js';
import type { PromptView } from '../prompter/index.js';
import type { Failure } from './failure.js';
import type { AgentState } from './state.js';
import type { StateRegistry } from './state-registry.js';
import { CONTINUE, FAIL } from './states.js';

/** Makes the prompt of one turn. Asked only when the model is really called. */
export interface AgentPrompter {
  prompt(view: PromptView, boundary: string): Prompt;
}

/** What kind of agent somebody is: the same for every attempt. */
export interface AgentDefinition<G extends object = object> {
  readonly name: string;
  readonly states: StateRegistry<G>;
  /** The state in which it begins. */
  readonly first: string;
  readonly prompter: AgentPrompter;
}

/**
 * One agent during one attempt: what it remembers, means to do and has decided. All of it follows from the task and from
 * outcomes, so the agent of a replayed attempt is the same again.
 */
export class Agent<G extends object = object> {
  readonly name: string;
  readonly states: StateRegistry<G>;
  readonly prompter: AgentPrompter;
  repeats = new Repeats();
  state: AgentState<G>;
  memory: Memory = Memory.empty;
  plan: readonly string[] = [];
  /** What it was asked to do by another agent; null: the whole task. */
  subtask: string | null = null;
  /** What went wrong beside its work, e.g. in a phase that goes on; told to the model and then forgotten. */
  problems: readonly string[] = [];
  #first: string;
  #status: string = CONTINUE;
  #result: Json = '';
  #failure: Failure | null = null;

  constructor({ name, states, first, prompter }: AgentDefinition<G>) {
    this.name = name;
    this.states = states;
    this.prompter = prompter;
    this.state = states.none;
    this.#first = first;
  }

  /** The name of the state that it has decided to go to. */
  get status(): string {
    return this.#status;
  }

  get result(): Json {
    return this.#result;
  }

  get failure(): Failure | null {
    return this.#failure;
  }

  /** From its first state; what an earlier subtask came to is forgotten, what was learnt in it is not. */
  begin(subtask: string | null = null): AgentState<G> {
    this.subtask = subtask;
    this.plan = [];
    this.repeats = new Repeats();
    this.#result = '';
    this.#failure = null;
    this.#status = this.#first;
    this.state = this.states.get(this.#first);
    return this.state;
  }

  /** Where to go from here. An agent that has failed has decided already. */
  decide(status: string, result: Json = ''): void {
    if (this.#failure !== null) return;
    this.#status = status;
    this.#result = result;
  }

  /** Goes to FAIL. The first reason counts: what fails afterwards mostly fails because of it. */
  fail(failure: Failure, result: Json = this.#result): void {
    this.#failure ??= failure;
    this.#status = FAIL;
    this.#result = result;
  }

  trouble(problem: string): void {
    this.problems = [...this.problems, problem];
  }
}
