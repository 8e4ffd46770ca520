import {
  isForScreen,
  commandIdOf,
  unknownFact,
  type AttemptCommit,
  type AttemptEvent,
  type AttemptFinished,
  type AttemptKey,
  type CommandCall,
  type RunCommit,
  type RunEventData,
  type StopReason,
} from '#proto';
import { EMPTY_BOOK, recordFacts, type Book } from './book.js';

export type TaskStart = RunEventData<'TASK_STARTED'>;
export type ExactStart = TaskStart & { readonly command: CommandCall };

/** One attempt that a run ordered: TASK_STARTED is the whole order, nothing else is sent. */
export interface AttemptOrder {
  readonly key: AttemptKey;
  readonly start: TaskStart;
  /** The commit of the run that holds TASK_STARTED: the cause of everything that follows. */
  readonly commit: string;
}

/** The order of one exact call: TASK_STARTED is the fact that allows it, unless it is to be judged. */
export interface ExactOrder extends AttemptOrder {
  readonly start: ExactStart;
}

export function isExact(order: AttemptOrder): order is ExactOrder {
  return order.start.command !== undefined;
}

/** A model may have written the exact command: the policy has its say before it runs, as with an agent's. */
export function isJudged(order: AttemptOrder): boolean {
  return isExact(order) && order.start.judge === true;
}

/** An exact command that nobody judges, without a post-condition and files: one request, and one commit at its end. */
export function isExactAlone(order: AttemptOrder): order is ExactOrder {
  const { verify, files } = order.start;
  return isExact(order) && !isJudged(order) && verify === undefined && files === undefined;
}

export interface Stop {
  readonly reason: StopReason;
  readonly graceUntil: string;
}

/** Whether something of it was given to the screen of its device, which is kept for it there until its end is told. */
export function wasAtScreen({ start }: AttemptOrder, { commands }: Book): boolean {
  const issued = [...commands.values()].flatMap((record) => record.issued?.command ?? []);
  return [...issued, ...(start.command === undefined ? [] : [start.command])].some(isForScreen);
}

/** An attempt as its commits tell it. */
export interface Attempt {
  readonly key: AttemptKey;
  /** The instance that took it over last; null while only its first owner, who writes nothing before the end, had it. */
  readonly owner: string | null;
  /** The instance that wrote last, signals aside: they come from any replica that hears of them. */
  readonly writer: string | null;
  readonly stop: Stop | null;
  readonly finished: AttemptFinished | null;
  /** The outcome of its exact command is recorded, in the end or after it. */
  readonly commandFinished: boolean;
  /** What is recorded of its steps and commands. */
  readonly book: Book;
}

export function emptyAttempt(key: AttemptKey): Attempt {
  return {
    key,
    owner: null,
    writer: null,
    stop: null,
    finished: null,
    commandFinished: false,
    book: EMPTY_BOOK,
  };
}

/** Folds recorded facts. */
export function evolveAttempt(before: Attempt, events: readonly AttemptEvent[]): Attempt {
  return { ...events.reduce(evolveState, before), book: recordFacts(before.book, events) };
}

/** All but the book: total over AttemptEvent. */
function evolveState(attempt: Attempt, event: AttemptEvent): Attempt {
  switch (event.type) {
    case 'ATTEMPT_RESUMED':
      return { ...attempt, owner: event.data.instance };
    case 'ATTEMPT_SIGNALLED': {
      if (event.data.signal !== 'stop') return attempt;
      const { reason, graceUntil } = event.data;
      return { ...attempt, stop: attempt.stop ?? { reason, graceUntil } };
    }
    case 'COMMAND_FINISHED': {
      if (event.data.commandId !== commandIdOf(attempt.key)) return attempt;
      return { ...attempt, commandFinished: event.data.state !== 'OUTCOME_UNKNOWN' };
    }
    case 'ATTEMPT_FINISHED':
      return { ...attempt, finished: event.data };
    case 'STEP_PLANNED':
    case 'STEP_FAILED':
    case 'COMMAND_JUDGED':
    case 'ATTEMPT_ASKED':
    case 'COMMAND_ISSUED':
    case 'BOARD_USED':
    case 'POSTCONDITION_CHECKED':
    case 'PICTURES_DROPPED':
      return attempt;
    default:
      return unknownFact(event); // an unknown fact stops the replay: upcast it, never skip it
  }
}

/** The attempt with the commits that follow; what is given stays as it was. */
export function foldAttempt(before: Attempt, commits: readonly AttemptCommit[]): Attempt {
  const folded = commits.reduce((attempt, { events, by }) => {
    const after = events.reduce(evolveState, attempt);
    const isSignal = events.every(({ type }) => type === 'ATTEMPT_SIGNALLED');
    return { ...after, writer: isSignal ? attempt.writer : by.instance };
  }, before);
  return {
    ...folded,
    book: recordFacts(
      before.book,
      commits.flatMap(({ events }) => events),
    ),
  };
}

/** The attempts that a commit of a run starts. */
export function ordersOf(commit: RunCommit): AttemptOrder[] {
  return commit.events.flatMap((event) => (event.type === 'TASK_STARTED' ? [orderOf(commit, event.data)] : []));
}

/** The order of one attempt in the history of its run. */
export function findOrder(commits: readonly RunCommit[], key: AttemptKey): AttemptOrder | undefined {
  return commits.flatMap(ordersOf).find(({ start }) => start.taskId === key.taskId && start.attempt === key.attempt);
}

function orderOf({ runId, commit }: RunCommit, start: TaskStart): AttemptOrder {
  return { key: { runId, taskId: start.taskId, attempt: start.attempt }, start, commit };
}
