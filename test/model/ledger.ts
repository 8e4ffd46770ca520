import type {
  ApprovalDecision,
  Instant,
  LineId,
  LockPolicy,
  RunEvent,
  TaskId,
  TaskStar,
  TaskStarLine,
  TaskStatus,
} from '#proto';

/**
 * What the model itself knows of a run: its own, naive fold of the recorded events. It shares no code with the core, so
 * that whatever the core forgets to check is noticed here.
 */
export interface Ledger {
  readonly phase: 'NONE' | 'RUNNING' | 'PAUSED' | 'ENDED';
  /** Why the run is about to end: nothing starts any more. */
  readonly ending: string | null;
  readonly tasks: ReadonlyMap<TaskId, Entry>;
  readonly lines: ReadonlyMap<LineId, TaskStarLine>;
  /** Ids of tasks and lines that were removed. */
  readonly removed: ReadonlySet<string>;
  readonly round: Round | null;
  /** What the planner has to look at in the next round. */
  readonly queued: readonly string[];
  /** The planner let a deadline pass and has not spoken since. */
  readonly silent: boolean;
  /** The planner has said that it may ask no model any more. */
  readonly enough: boolean;
  readonly rounds: number;
  /** How often somebody has said something, and which of it the planner was asked about. */
  readonly said: number;
  readonly heard: ReadonlySet<string>;
  readonly revision: number;
  /** The revision whose end the planner was asked about last. */
  readonly askedAtEnd: number;
  /** What attempts asked a person, by id, and what became of it. */
  readonly asks: ReadonlyMap<string, AskEntry>;
  /** Calls of a model that ended attempts and rounds have used, and how many the run may make. */
  readonly calls: number;
  readonly callsMax: number;
  /** Where the plan was made for, as text; null before there is one. */
  readonly scope: ReadonlySet<string> | null;
  /** Nobody has accepted the plan, and somebody must. */
  readonly mustWait: boolean;
  /** How the run ended. */
  readonly end: string | null;
  readonly deadlineAt: number;
  readonly sequence: number;
}

export interface Entry {
  readonly star: TaskStar;
  readonly status: TaskStatus;
  /** The last attempt that was really dispatched. */
  readonly attempt: number;
  readonly deviceId: string | null;
  readonly sessionId: string | null;
  readonly timeoutAt: number;
  readonly stopping: { readonly reason: string; readonly graceUntil: number } | null;
  readonly notBefore: number;
  readonly deadlineAt: number;
  /** The session that was lost under its last attempt: it is not used again. */
  readonly lostSession: string | null;
  /** Where it failed: taken again only when no other device that would do is connected. */
  readonly failedOn: readonly string[];
  /** Something is known of how its last attempt ended. */
  readonly isKnown: boolean;
  /** The run in which its last attempt ran, when that is not this one. */
  readonly ranIn: string | null;
  readonly skippedBy: 'condition' | 'failure' | null;
  /** Calls of a model that its running attempt may make. */
  readonly share: number;
  /** A model may have written what it runs, or where. */
  readonly isJudged: boolean;
}

export interface AskEntry {
  readonly taskId: TaskId;
  readonly attempt: number;
  readonly expiresAt: number;
  readonly state: 'open' | 'withdrawn' | ApprovalDecision;
}

export interface Round {
  readonly editId: string;
  readonly triggers: readonly string[];
  readonly lockPolicy: LockPolicy;
  readonly tries: number;
  readonly rejections: number;
  readonly deadlineAt: number;
  /** Calls of a model that the planner may still make in it. */
  readonly share: number;
}

export const EMPTY: Ledger = {
  phase: 'NONE',
  ending: null,
  tasks: new Map(),
  lines: new Map(),
  removed: new Set(),
  round: null,
  queued: [],
  silent: false,
  enough: false,
  rounds: 0,
  said: 0,
  heard: new Set(),
  revision: 0,
  askedAtEnd: -1,
  asks: new Map(),
  calls: 0,
  callsMax: Infinity,
  scope: null,
  mustWait: false,
  end: null,
  deadlineAt: Infinity,
  sequence: 0,
};

export const isOver = (status: TaskStatus): boolean => status !== 'PENDING' && status !== 'RUNNING';

/**
 * What a line comes to as things stand: null while its source has not ended. The model's conditions ask for a failure, or for what no
 * result has: of what has run nobody can say whether that holds.
 */
export function satisfied(
  { from, type, condition }: TaskStarLine,
  tasks: Ledger['tasks'],
): boolean | 'undecided' | null {
  const status = tasks.get(from)?.status ?? 'PENDING';
  if (!isOver(status)) return null;
  if (condition === UNDECIDABLE) return status === 'COMPLETED' || status === 'FAILED' ? 'undecided' : false;
  const wanted = ENDS[type];
  return wanted === null || status === wanted;
}

/** The end that satisfies a line of each type; null: any. */
const ENDS: Readonly<Record<TaskStarLine['type'], TaskStatus | null>> = {
  unconditional: null,
  'success-only': 'COMPLETED',
  'failure-only': 'FAILED',
  conditional: 'FAILED',
};

export const FAILED_ONLY = 'status == "FAILED"';
export const UNDECIDABLE = 'result.nowhere == 1';

export function linesInto(ledger: Ledger, taskId: TaskId): TaskStarLine[] {
  return [...ledger.lines.values()].filter(({ to }) => to === taskId);
}

export function isReady(ledger: Ledger, taskId: TaskId): boolean {
  return linesInto(ledger, taskId).every((line) => satisfied(line, ledger.tasks) === true);
}

export function isDoomed(ledger: Ledger, taskId: TaskId): boolean {
  return linesInto(ledger, taskId).some((line) => satisfied(line, ledger.tasks) === false);
}

/** Nobody can say whether it may run, and no line will: all sources have ended, and none of them forbids it. */
export function isUndecided(ledger: Ledger, taskId: TaskId): boolean {
  const truths = linesInto(ledger, taskId).map((line) => satisfied(line, ledger.tasks));
  return truths.includes('undecided') && !truths.includes(false) && !truths.includes(null);
}

/**
 * The lock, by its definition: while something is asked or is to be asked, `strict` holds every task and `scoped` holds what
 * can be reached from a task that is asked about. A silent planner holds nothing, and neither does one that can never be asked again.
 */
export function isLocked(ledger: Ledger, taskId: TaskId, policy: LockPolicy): boolean {
  const { round, queued, silent, lines } = ledger;
  const asked = [...(round?.triggers ?? []), ...queued];
  if (round === null && !isAsked(ledger)) return false;
  if (silent || (round === null && asked.length === 0)) return false;
  if ((round?.lockPolicy ?? policy) === 'strict') return true;
  const about = new Set(asked.map((trigger) => trigger.split('.')[0]));
  const behind = (to: TaskId, seen: readonly TaskId[]): boolean =>
    [...lines.values()].some(
      (line) =>
        line.to === to && (about.has(line.from) || (!seen.includes(line.from) && behind(line.from, [...seen, to]))),
    );
  return behind(taskId, []);
}

/** Whether anybody is asked about what comes: always for a first plan, and as long as there may be a call left to make. */
export function isAsked({ tasks, calls, callsMax, enough }: Ledger): boolean {
  return tasks.size === 0 || (calls < callsMax && !enough);
}

/** Calls of a model that are left of a budget for whoever is to start; Infinity without a budget. */
export function callsLeft({ tasks, calls, round }: Ledger, callsMax: number): number {
  let given = round?.share ?? 0;
  for (const { status, share } of tasks.values()) if (status === 'RUNNING') given += share;
  return callsMax - calls - given;
}

/** The ids of a cycle's members, by walking from every task as long as the walk does not end. */
export function cycleIn(lines: Ledger['lines']): TaskId[] {
  const walk = (at: TaskId, path: readonly TaskId[]): TaskId[] => {
    if (path.includes(at)) return [...path.slice(path.indexOf(at)), at];
    for (const { from, to } of lines.values()) {
      const found = from === at ? walk(to, [...path, at]) : [];
      if (found.length > 0) return found;
    }
    return [];
  };
  for (const { from } of lines.values()) {
    const found = walk(from, []);
    if (found.length > 0) return found;
  }
  return [];
}

const definitions = new WeakMap<object, string>();

/** The text of a task or a line, kept: definitions are never changed, and many states share them. */
export function definition(star: TaskStar | TaskStarLine): string {
  const known = definitions.get(star);
  if (known !== undefined) return known;
  const text = JSON.stringify(star);
  definitions.set(star, text);
  return text;
}

export const newEntry = (star: TaskStar, at: Instant): Entry => ({
  star,
  status: 'PENDING',
  attempt: 0,
  deviceId: null,
  sessionId: null,
  timeoutAt: Infinity,
  stopping: null,
  notBefore: -Infinity,
  deadlineAt: star.deadlineMs === undefined ? Infinity : Date.parse(at) + star.deadlineMs,
  lostSession: null,
  failedOn: [],
  isKnown: true,
  ranIn: null,
  skippedBy: null,
  share: 0,
  isJudged: false,
});

export const triggerName = (trigger: Extract<RunEvent, { type: 'EDIT_OPENED' }>['data']['triggers'][number]): string =>
  trigger.kind === 'task'
    ? `${trigger.taskId}.${trigger.attempt}`
    : trigger.kind === 'words'
      ? `${WORDS}${trigger.number}`
      : trigger.kind;

const WORDS = 'words.';
/** No task of a model has that name. */
export const isOfWords = (trigger: string): boolean => trigger.startsWith(WORDS);
