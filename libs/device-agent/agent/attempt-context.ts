import type { Note } from '#proto';
import type { Agent } from './agent.js';
import { Blackboard } from '../memory/index.js';
import type { AgentTask } from '../effects/index.js';

/** What became of a subtask that one agent did for another. */
export interface SubtaskEnd {
  readonly agent: string;
  readonly subtask: string;
  readonly outcome: 'finished' | 'failed';
  readonly text: string;
}

/** Notes that leave the attempt with its end. */
const NOTES_MAX = 50;

/** What the agents of one attempt share: the task, the blackboard, and the values `G` that their processors hand on. */
export class AttemptContext<G extends object = object> {
  readonly task: AgentTask;
  blackboard: Blackboard;
  /** Turns that are left to all agents together. */
  stepsLeft: number;
  #notes: readonly Note[] = [];
  #subtasks: readonly SubtaskEnd[] = [];
  readonly #agents: ReadonlyMap<string, Agent<G>>;
  readonly #shared = new Map<keyof G, G[keyof G]>();

  constructor(task: AgentTask, agents: readonly Agent<G>[]) {
    this.task = task;
    this.stepsLeft = task.stepsMax;
    this.#agents = new Map(agents.map((agent) => [agent.name, agent]));
    this.blackboard = Blackboard.of(
      task.blackboard.map(({ taskId, deviceId, note }) => ({ agent: deviceId, taskId, text: note })),
    );
  }

  /** The agents of the attempt know each other by name. */
  agent(name: string): Agent<G> {
    const agent = this.#agents.get(name);
    if (agent === undefined) {
      throw new Error(`there is no agent "${name}" in this attempt; there is ${[...this.#agents.keys()].join(', ')}`);
    }
    return agent;
  }

  get<K extends keyof G>(key: K): G[K] | undefined {
    return this.#shared.get(key) as G[K] | undefined;
  }

  set<K extends keyof G>(key: K, value: G[K]): void {
    this.#shared.set(key, value);
  }

  /** Notes a fact for the agents of this attempt and, with its end, for those of the run. Said twice it is noted once. */
  note(agent: string, text: Note): void {
    if (this.#notes.includes(text)) return;
    this.#notes = [...this.#notes, text];
    this.blackboard = this.blackboard.post({ agent, text });
  }

  /** The newest ones, oldest first. */
  get notes(): readonly Note[] {
    return this.#notes.slice(-NOTES_MAX);
  }

  /** In the order in which they ended. */
  get subtasks(): readonly SubtaskEnd[] {
    return this.#subtasks;
  }

  endSubtask(end: SubtaskEnd): void {
    this.#subtasks = [...this.#subtasks, end];
  }
}
