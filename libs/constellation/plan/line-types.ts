import type { LineType, TaskStarLine, TaskStatus } from '#proto';
import type { Truth } from './condition.js';
import type { Judge, TaskEnding } from './truth.js';

/** What a line of one type means. Beside its words in `LINE_TYPES` this is all that there is to a type. */
interface LineKind {
  /** Whether the successor may go on after this end of its predecessor; undefined when that has to be found out first. */
  readonly judge: (line: TaskStarLine, ending: TaskEnding, judge: Judge) => Truth | undefined;
  /** What dooms the successor where the line is not satisfied: `source`, what doomed the predecessor when that was skipped. */
  readonly doomedBy: (source: Doomer | null) => Doomer;
  /** What the predecessor comes to has a say: who rewrites it decides about the successor, too. */
  readonly asks: boolean;
  /** Why a satisfied one is, in a report. */
  readonly why: string;
  /** What a person reads behind the name of the predecessor. */
  readonly after: string;
  /** What UFO calls it. With a condition: UFO has no word of its own for it, and this one says the same to who knows CEL. */
  readonly ufo: { readonly type: string; readonly condition?: string };
}

/** A successor that a condition passed by had nothing to do; one behind a failure has not delivered. */
export type Doomer = 'condition' | 'failure';

const SATISFIED: Truth = { truth: 'satisfied' };

/** Satisfied by one end alone. */
const onlyAfter =
  (wanted: TaskStatus): LineKind['judge'] =>
  ({ from }, { status }) =>
    status === wanted ? SATISFIED : { truth: 'unsatisfied', reason: `${from} is ${status}` };

export const LINE_KINDS = {
  unconditional: {
    judge: () => SATISFIED,
    doomedBy: (source) => source ?? 'failure',
    asks: false,
    why: 'the predecessor ended',
    after: ' (whatever happens)',
    ufo: { type: 'unconditional' },
  },
  'success-only': {
    judge: onlyAfter('COMPLETED'),
    doomedBy: (source) => source ?? 'failure',
    asks: true,
    why: 'the predecessor completed',
    after: '',
    ufo: { type: 'success_only' },
  },
  'failure-only': {
    judge: onlyAfter('FAILED'),
    // Where nothing failed there was nothing to clean up: whatever happened instead, its task had nothing to do.
    doomedBy: () => 'condition',
    asks: true,
    why: 'the predecessor failed',
    after: ' (only if it fails)',
    ufo: { type: 'conditional', condition: 'status == "FAILED"' },
  },
  conditional: {
    judge: judgeCondition,
    doomedBy: (source) => source ?? 'condition',
    asks: true,
    why: 'the condition held for the result of the predecessor',
    after: '',
    ufo: { type: 'conditional' },
  },
} satisfies Record<LineType, LineKind> as Readonly<Record<LineType, LineKind>>;

/** What never ran has answered nothing that could be looked at: that is known, and no condition can hold over it. */
function judgeCondition({ condition = '', from }: TaskStarLine, ending: TaskEnding, judge: Judge) {
  const { status, result } = ending;
  const truth = judge.judge(condition, ending);
  const neverRan = result === null && (status === 'SKIPPED' || status === 'CANCELLED');
  if (truth?.truth !== 'undecided' || !neverRan) return truth;
  return { truth: 'unsatisfied', reason: `${from} is ${status} and has no result` } as const;
}
