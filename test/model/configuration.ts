import type { AgentProfile, DeviceId, Edit, PlannerState, RunOptions, TaskConstellation, TaskId } from '#proto';
import type { Control } from '#libs/constellation';

/** One closed world that the model explores to its end: a constellation, and everything that may happen to it. */
export interface Configuration {
  readonly name: string;
  /** Null: a goal, and the planner makes the constellation in the first round. */
  readonly plan: TaskConstellation | null;
  readonly options: RunOptions;
  readonly devices: readonly AgentProfile[];
  /** What the planner may answer to a round, besides that nothing is to be changed. */
  readonly menu: readonly Offer[];
  /** What a person may ask at any instant, each once. */
  readonly verbs: readonly VerbOffer[];
  /** Tasks whose attempts may fail; the others complete, unless they are lost or stopped. */
  readonly mayFail: readonly TaskId[];
  /** Tasks of agents whose attempts may ask a person, each once. */
  readonly mayAsk?: readonly TaskId[];
  /** Devices that may go away. */
  readonly mayLeave: readonly DeviceId[];
  readonly limits: Limits;
  /** What the default suites take of the limits, where exploring the whole world takes long: `./orrery test deep` explores it. */
  readonly brief?: Partial<Limits>;
}

export interface Offer {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly state?: PlannerState;
  /** A model wrote it, which took one call. */
  readonly isImagined?: true;
  /** The planner says that it comes to nothing, after a call of a model or for one of the reasons for which it makes none. */
  readonly isFailure?: true | 'TOO_MANY_ROUNDS' | 'BUDGET_EXHAUSTED';
}

export interface VerbOffer {
  readonly name: string;
  readonly action:
    Control | { readonly verb: 'PROPOSE'; readonly edits: readonly Edit[] } | typeof FORK | typeof OUTAGE;
}

/** How often the adversary may do what would otherwise go on for ever. Duplicates have no limit. */
export interface Limits {
  /** Proposals that are more than "go on". */
  readonly edits: number;
  readonly disconnects: number;
  readonly crashes: number;
}

/** Not an input of the run: another run begins where it stands, and the model goes on with that one. */
export const FORK = { verb: 'FORK' } as const;

/** Nobody decides anything until the deadline of the run: then all that was due is due together. */
export const OUTAGE = { verb: 'OUTAGE' } as const;
