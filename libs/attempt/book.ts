import {
  isWorkspaceTool,
  placeOfCommand,
  NO_USAGE,
  type ArtifactRef,
  type Ask,
  type AttemptEvent,
  type CommandId,
  type Decided,
  type Json,
  type Usage,
  addUsage,
  usageOfCalls,
} from '#proto';

export type FactOf<T extends AttemptEvent['type']> = Extract<AttemptEvent, { type: T }>['data'];

/** Notes that leave an attempt with its end. */
export const NOTES_MAX = 50;

/** How one turn of the model came out. */
export type StepRecord =
  | {
      readonly kind: 'planned';
      readonly agent: string;
      readonly reply: Json;
      readonly thought: string;
      readonly plan: readonly string[];
      /** What the calls for it have used up. */
      readonly used: Usage;
    }
  | {
      readonly kind: 'failed';
      readonly agent: string;
      readonly error: { readonly code: string; readonly message: string };
    };

/** What is known of one command of an attempt, or of one question to a person, which has an id of the same kind. */
export interface CommandRecord {
  readonly step: number;
  readonly index: number;
  readonly commandId: CommandId;
  /** The agent's command first, what a person made of it after it. */
  readonly judged: readonly FactOf<'COMMAND_JUDGED'>[];
  readonly ask: Ask | null;
  /** The first word of a person counts; a grant that is taken back later changes nothing that was let through. */
  readonly decided: Decided | null;
  readonly issued: FactOf<'COMMAND_ISSUED'> | null;
  readonly finished: FactOf<'COMMAND_FINISHED'> | null;
}

/** The steps of one attempt as its commits tell them: what a crash does not take away. */
export interface Book {
  readonly steps: ReadonlyMap<number, StepRecord>;
  readonly commands: ReadonlyMap<CommandId, CommandRecord>;
  /** What its agents were told of the board of the run, in order. */
  readonly board: readonly FactOf<'BOARD_USED'>[];
  readonly checked: FactOf<'POSTCONDITION_CHECKED'> | null;
  /** Pictures that are kept no longer. */
  readonly dropped: readonly ArtifactRef[];
  readonly used: Usage;
  /** What the agents noted, newest last. */
  readonly notes: readonly string[];
  /** The device as the agent was told of it when it began. */
  readonly given: ArtifactRef | null;
}

export const EMPTY_BOOK: Book = {
  steps: new Map(),
  commands: new Map(),
  board: [],
  checked: null,
  dropped: [],
  used: NO_USAGE,
  notes: [],
  given: null,
};

/** A book whose maps belong to one fold: a long attempt is read in time that grows with its length. */
interface Draft extends Book {
  readonly steps: Map<number, StepRecord>;
  readonly commands: Map<CommandId, CommandRecord>;
}

/** Folds facts into the book, which stays as it was; facts that are not about steps add nothing. */
export function recordFacts(book: Book, events: readonly AttemptEvent[]): Book {
  if (events.length === 0) return book;
  const draft: Draft = { ...book, steps: new Map(book.steps), commands: new Map(book.commands) };
  return events.reduce(recordFact, draft);
}

function recordFact(before: Draft, event: AttemptEvent): Draft {
  const given = 'given' in event.data ? event.data.given : undefined;
  const book = given === undefined || before.given !== null ? before : { ...before, given };
  switch (event.type) {
    case 'STEP_PLANNED': {
      const { step, agent, reply, thought, plan, calls } = event.data;
      const notes = [...book.notes, ...event.data.notes].slice(-NOTES_MAX);
      const used = usageOfCalls(calls);
      const planned: StepRecord = { kind: 'planned', agent, reply, thought, plan, used };
      return { ...withStep(book, step, planned), notes, used: addUsage(book.used, used) };
    }
    case 'STEP_FAILED': {
      const { step, agent, error, calls } = event.data;
      return {
        ...withStep(book, step, { kind: 'failed', agent, error }),
        used: addUsage(book.used, usageOfCalls(calls)),
      };
    }
    case 'COMMAND_JUDGED':
      return judgedAgain(book, event.data);
    case 'ATTEMPT_ASKED':
      return withCommand(book, event.data.approvalId, () => ({ ask: event.data }));
    case 'ATTEMPT_SIGNALLED': {
      if (event.data.signal !== 'decision' || event.data.decision === 'revoked') return book;
      const { signal: _, ...decision } = event.data;
      return withCommand(book, decision.approvalId, ({ decided }) => ({ decided: decided ?? decision }));
    }
    case 'COMMAND_ISSUED': {
      const counts = isWorkspaceTool(event.data.command.tool) ? 0 : 1;
      const used = { ...book.used, commands: book.used.commands + counts };
      return withCommand({ ...book, used }, event.data.commandId, () => ({ issued: event.data }));
    }
    case 'COMMAND_FINISHED':
      return withCommand(afterExact(book, event.data.commandId), event.data.commandId, () => ({
        finished: event.data,
      }));
    case 'BOARD_USED':
      return { ...book, board: [...book.board, event.data] };
    case 'POSTCONDITION_CHECKED':
      return { ...book, checked: event.data };
    case 'PICTURES_DROPPED':
      return { ...book, dropped: [...book.dropped, ...event.data.pictures] };
    default:
      return book;
  }
}

/** The command whose outcome was recorded last; what it answered is the output of an attempt that is stopped. */
export function lastFinished(book: Book): CommandRecord | undefined {
  return [...book.commands.values()].findLast(({ finished }) => finished !== null);
}

/** The same of the work itself: what moves its files answers nothing that it came to. */
export const lastAnswered = ({ commands }: Book): CommandRecord | undefined =>
  answered(commands).findLast(({ finished }) => finished !== null);

/** Commands of the work, without those that move its files. */
export const answered = (commands: Book['commands']): CommandRecord[] =>
  [...commands.values()].filter(({ issued }) => issued === null || !isWorkspaceTool(issued.command.tool));

/** Commands that may be running, or have run, without anybody having said so. */
export function openCommands(book: Book): CommandRecord[] {
  return [...book.commands.values()].filter(({ issued, finished }) => issued !== null && finished === null);
}

/** What its device did not run but wants a person to be asked about is as if it had never been issued. */
function judgedAgain(book: Draft, fact: FactOf<'COMMAND_JUDGED'>): Draft {
  const isIssued = fact.origin === 'device' && (book.commands.get(fact.commandId)?.issued ?? null) !== null;
  const used = isIssued ? { ...book.used, commands: book.used.commands - 1 } : book.used;
  return withCommand({ ...book, used }, fact.commandId, ({ judged, issued }) => ({
    judged: [...judged, fact],
    issued: isIssued ? null : issued,
  }));
}

/** An exact command has no COMMAND_ISSUED that could be counted. */
function afterExact(book: Draft, commandId: CommandId): Draft {
  if (book.commands.has(commandId) || placeOfCommand(commandId)?.step !== 0) return book;
  return { ...book, used: { ...book.used, commands: book.used.commands + 1 } };
}

/** Whether the device said what became of the command: then it keeps that until it is told that it is stored. */
export function isKnown({ state, refused }: FactOf<'COMMAND_FINISHED'>): boolean {
  return state !== 'OUTCOME_UNKNOWN' && refused !== true;
}

function withStep(book: Draft, step: number, record: StepRecord): Draft {
  book.steps.set(step, record);
  return book;
}

function withCommand(
  book: Draft,
  commandId: CommandId,
  change: (record: CommandRecord) => Partial<CommandRecord>,
): Draft {
  const record = book.commands.get(commandId) ?? emptyRecord(commandId);
  book.commands.set(commandId, { ...record, ...change(record) });
  return book;
}

/** Of a command that nothing is recorded of. */
export function emptyRecord(commandId: CommandId): CommandRecord {
  const { step, index } = placeOfCommand(commandId) ?? { step: 0, index: 0 };
  return { step, index, commandId, judged: [], ask: null, decided: null, issued: null, finished: null };
}
