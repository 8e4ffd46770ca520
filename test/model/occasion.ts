import type { EditPolicy, LockPolicy, RunEvent, RunEventData, TaskId } from '#proto';
import type { FleetView, Input } from '#libs/constellation';
import type { Entry, Ledger } from './ledger.js';

/** What a commit was decided for, and under which circumstances. */
export interface Occasion {
  readonly inputs: readonly Input[];
  readonly fleet: FleetView;
  readonly now: number;
  readonly lockPolicy: LockPolicy;
  readonly editPolicy: EditPolicy;
  readonly concurrency: number;
  /** Calls of a model that the run may make; Infinity without a bound. */
  readonly callsMax: number;
}

/** `name` is what a mutation test expects; the message is for whoever reads the trace. */
export interface Violation {
  readonly name:
    | 'I1_SINGLE_ATTEMPT'
    | 'I2_ACYCLIC'
    | 'I3_ONLY_PENDING'
    | 'I4_SEQUENCE'
    | 'I5_TRANSITIONS'
    | 'I6_APPROVAL'
    | 'I8_FOLD'
    | 'I9_CONFLUENCE'
    | 'I11_BUDGET'
    | 'I12_FAN_OUT'
    | 'I12_WAITING'
    | 'LOCK'
    | 'FENCING'
    | 'DUPLICATE'
    | 'READINESS'
    | 'RETRIES'
    | 'OUTCOME'
    | 'OBEDIENCE'
    | 'TRIGGERS'
    | 'ROUNDS'
    | 'STRUCTURE'
    | 'TRUST'
    | 'WORDS'
    | 'IDLE'
    | 'NOT_CLOSED'
    | 'THROWS'
    | 'DEADLOCK'
    | 'LIVELOCK';
  readonly message: string;
}

export type Data<T extends RunEvent['type']> = RunEventData<T>;
/** Says that something must not be; the fold goes on. */
export type Report = (name: Violation['name'], message: string) => void;
/** Private to the fold of one commit. */
export type Draft = { -readonly [K in keyof Ledger]: Ledger[K] } & {
  tasks: Map<TaskId, Entry>;
  /** Tasks that failed in this commit and must be tried again. */
  readonly owed: Set<TaskId>;
};
