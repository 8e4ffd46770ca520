import type { AttemptCommit, CommandCall, CommandId, Instant, RecordedAttemptEvent, Sha256, TaskId } from '#proto';

/** An event of an attempt, with when it was recorded. */
export type TimedEvent = RecordedAttemptEvent & { readonly at: Instant };
type Of<T extends RecordedAttemptEvent['type']> = Extract<TimedEvent, { type: T }>;

/** A command or a question from its first event to its last: judged, asked about, decided, sent, ended. */
export interface ActStory {
  readonly kind: 'act';
  /** Of the command; a question has the id that a command in its place would have. */
  readonly id: CommandId;
  /** As it ran, or was to run; null of a question. */
  readonly call: CommandCall | null;
  readonly events: readonly TimedEvent[];
}

/** One turn: what the model said, and what came of it. */
export interface StepStory {
  readonly kind: 'step';
  readonly step: number;
  readonly said: Of<'STEP_PLANNED' | 'STEP_FAILED'>;
  readonly acts: readonly ActStory[];
}

/** What belongs to no turn: taken over, told to stop, checked, ended. */
export interface MarkStory {
  readonly kind: 'mark';
  readonly event: TimedEvent;
}

export type StoryEntry = StepStory | ActStory | MarkStory;

/** One attempt as its events tell it, in the order in which things began. */
export interface AttemptStory {
  readonly taskId: TaskId;
  readonly attempt: number;
  readonly entries: readonly StoryEntry[];
  readonly end: Of<'ATTEMPT_FINISHED'>['data'] | null;
}

/**
 * The one fold of what attempts did: `orrery steps` and the report both tell it from here. Attempts in the order of their
 * first commits; commits of one attempt in their order.
 */
export function attemptStories(commits: readonly AttemptCommit[]): AttemptStory[] {
  return [...Map.groupBy(commits, ({ taskId, attempt }) => `${taskId} ${attempt}`).values()].map(storyOf);
}

export function eventOf<T extends RecordedAttemptEvent['type']>({ events }: ActStory, type: T): Of<T> | undefined {
  return events.find((event): event is Of<T> => event.type === type);
}

/** All that an entry tells, in order. */
export function entryEvents(entry: StoryEntry): readonly TimedEvent[] {
  if (entry.kind === 'mark') return [entry.event];
  return entry.kind === 'act' ? entry.events : [entry.said, ...entry.acts.flatMap(({ events }) => events)];
}

/** The steps among the entries. */
export function stepsOf({ entries }: AttemptStory): StepStory[] {
  return entries.filter((entry) => entry.kind === 'step');
}

/** The pictures among these that are kept no longer. */
export const droppedPictures = (events: readonly RecordedAttemptEvent[]): Set<Sha256> =>
  new Set(
    events.flatMap((event) =>
      event.type === 'PICTURES_DROPPED' ? event.data.pictures.map(({ sha256 }) => sha256) : [],
    ),
  );

/** How many pictures are kept no longer, and why. */
export function droppedText({ pictures, rule }: Of<'PICTURES_DROPPED'>['data']): string {
  const bytes = pictures.reduce((sum, picture) => sum + picture.bytes, 0);
  const what = pictures.length === 1 ? '1 picture' : `${pictures.length} pictures`;
  return `${what} of the screen dropped, ${bytes} bytes, because the policy says ${rule}`;
}

interface OpenAct extends ActStory {
  readonly events: TimedEvent[];
  call: CommandCall | null;
}
interface OpenStep extends StepStory {
  readonly acts: OpenAct[];
}

function storyOf(commits: readonly AttemptCommit[]): AttemptStory {
  const entries: (OpenStep | OpenAct | MarkStory)[] = [];
  const acts = new Map<CommandId, OpenAct>();
  const steps = new Map<number, OpenStep>();
  let end: AttemptStory['end'] = null;
  const actOf = (id: CommandId, step: number | undefined): OpenAct => {
    const known = acts.get(id);
    if (known !== undefined) return known;
    const act: OpenAct = { kind: 'act', id, call: null, events: [] };
    acts.set(id, act);
    (steps.get(step ?? 0)?.acts ?? entries).push(act);
    return act;
  };
  const tell = (event: TimedEvent): void => {
    switch (event.type) {
      case 'STEP_PLANNED':
      case 'STEP_FAILED': {
        const { step } = event.data;
        const opened: OpenStep = { kind: 'step', step, said: event, acts: [] };
        steps.set(step, opened);
        entries.push(opened);
        return;
      }
      case 'COMMAND_JUDGED':
      case 'COMMAND_ISSUED': {
        const act = actOf(event.data.commandId, event.data.step);
        act.call = event.data.command;
        act.events.push(event);
        return;
      }
      case 'COMMAND_FINISHED': {
        const act = actOf(event.data.commandId, undefined);
        act.call = event.data.command;
        act.events.push(event);
        return;
      }
      case 'ATTEMPT_ASKED': {
        const act = actOf(event.data.approvalId, event.data.step);
        if (event.data.kind === 'approval') act.call = event.data.command;
        act.events.push(event);
        return;
      }
      case 'ATTEMPT_SIGNALLED':
        if (event.data.signal === 'decision') actOf(event.data.approvalId, undefined).events.push(event);
        else entries.push({ kind: 'mark', event });
        return;
      case 'ATTEMPT_FINISHED':
        end = event.data;
        entries.push({ kind: 'mark', event });
        return;
      case 'ATTEMPT_RESUMED':
      case 'BOARD_USED':
      case 'POSTCONDITION_CHECKED':
      case 'PICTURES_DROPPED':
        entries.push({ kind: 'mark', event });
    }
  };
  for (const { at, events } of commits) for (const event of events) tell({ ...event, at });
  const [first] = commits;
  if (first === undefined) throw new Error('an attempt has a commit');
  return { taskId: first.taskId, attempt: first.attempt, entries, end };
}
