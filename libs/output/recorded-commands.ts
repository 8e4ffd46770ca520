import { attemptStories, exitCodeIn, stepsOf, type ActStory, type AttemptStory } from '#libs/constellation';
import {
  isWorkspaceTool,
  placeOfCommand,
  type AttemptCommit,
  type CommandCall,
  type CommandFinished,
  type CommandId,
  type CommandState,
  type DeviceId,
  type Instant,
  type RunView,
  type TaskId,
  type TaskResult,
} from '#proto';

/** One command of an attempt that has ended, or what an agent answered at the end of its attempt. */
export interface RecordedCommand {
  readonly taskId: TaskId;
  readonly attempt: number;
  /** Null: the answer of an agent, which is no command. */
  readonly commandId: CommandId | null;
  readonly call: CommandCall | null;
  readonly deviceId: DeviceId | null;
  /** Null: how it ended is not recorded of it, only what its task came to. */
  readonly state: CommandState | null;
  readonly refused: boolean;
  readonly error: string | null;
  /** Null: nothing is known of what it wrote. */
  readonly result: TaskResult | null;
  readonly startedAt: Instant | null;
  readonly durationMs: number | null;
}

/** Which commands, of those that are recorded. */
export interface OutputSelection {
  readonly taskId?: TaskId | undefined;
  readonly attempt?: number | undefined;
  /** Turn of the agent; 0 is the exact command of a task. */
  readonly step?: number | undefined;
  readonly index?: number | undefined;
  /** Only what did not go well: another end than COMPLETED, or another exit code than 0. */
  readonly failed?: boolean | undefined;
}

/** What is asked for is not recorded of this run; the message says what is. */
export class NoSuchOutputError extends Error {}

/** The commands of a run in the order in which their attempts began: those that have ended, and what agents answered. */
export function recordedCommands(commits: readonly AttemptCommit[], { tasks }: RunView): RecordedCommand[] {
  const stories = attemptStories(commits);
  const told = new Set(stories.map(({ taskId }) => taskId));
  // Of an attempt that lies in the run that this one was forked from, the run has what it came to.
  const others = tasks.filter(({ id, result, error }) => !told.has(id) && (result ?? error?.output) !== undefined);
  return [
    ...stories.flatMap((story) => commandsOf(story)),
    ...others.flatMap(({ id, attempts, device, result, error }) => {
      const came = result ?? error?.output ?? null;
      const ended = { commandId: null, call: null, deviceId: device, state: null, error: error?.message ?? null };
      return came === null
        ? []
        : [{ ...UNTIMED, ...ended, taskId: id, attempt: Math.max(1, attempts), refused: false, result: came }];
    }),
  ];
}

/** Throws NoSuchOutputError when a task, an attempt or a command is named of which nothing is recorded. */
export function selectedCommands(
  commands: readonly RecordedCommand[],
  { runId, tasks }: Pick<RunView, 'runId' | 'tasks'>,
  selection: OutputSelection,
): RecordedCommand[] {
  const { taskId, attempt, step, index, failed = false } = selection;
  if (taskId !== undefined && !tasks.some(({ id }) => id === taskId)) {
    throw new NoSuchOutputError(`Run ${runId} has no task ${taskId}; see: orrery show ${runId}`);
  }
  const ofTask = commands.filter((one) => taskId === undefined || one.taskId === taskId);
  const ofAttempt = ofTask.filter((one) => attempt === undefined || one.attempt === attempt);
  if (ofAttempt.length === 0 && attempt !== undefined) {
    throw new NoSuchOutputError(`No output of attempt ${attempt} is recorded; there is ${placesIn(ofTask)}.`);
  }
  const found = ofAttempt.filter((one) => isAt(one, step, index));
  if (found.length === 0 && step !== undefined) {
    const what = index === undefined ? `step ${step}` : `step ${step}.${index}`;
    throw new NoSuchOutputError(`No output of ${what} is recorded; there is ${placesIn(ofAttempt)}.`);
  }
  return failed ? found.filter(wentWrong) : found;
}

/** `web/1/2.0`: task, attempt, and the step and index of the command; `web/1/answer` for what an agent answered. */
export function placeOfOutput({
  taskId,
  attempt,
  commandId,
}: Pick<RecordedCommand, 'taskId' | 'attempt' | 'commandId'>): string {
  const place = commandId === null ? undefined : placeOfCommand(commandId);
  return `${taskId}/${attempt}/${place === undefined ? 'answer' : `${place.step}.${place.index}`}`;
}

/** The commands of attempts that have ended, and nothing else. */
export function finishedCommands(commits: readonly AttemptCommit[]): RecordedCommand[] {
  return attemptStories(commits)
    .flatMap((story) => commandsOf(story))
    .filter(({ commandId }) => commandId !== null);
}

function commandsOf(story: AttemptStory): RecordedCommand[] {
  const { taskId, attempt, entries, end } = story;
  const acts = entries.flatMap((entry): readonly ActStory[] => {
    if (entry.kind === 'mark') return [];
    return entry.kind === 'step' ? entry.acts : [entry];
  });
  const commands = acts.flatMap(({ events }): RecordedCommand[] => {
    const finished = events.find((event) => event.type === 'COMMAND_FINISHED');
    return finished === undefined || hasMovedFiles(finished.data) ? [] : [ended({ taskId, attempt }, finished.data)];
  });
  const isAgents = stepsOf(story).length > 0;
  const result = end?.status === 'completed' ? end.result : (end?.error.output ?? null);
  if (result !== null && !isAgents) {
    // What the task leaves is told with its exact command, which comes first.
    const [exact, ...others] = commands;
    if (exact !== undefined) return [{ ...exact, result: withLeft(exact.result, result) }, ...others];
  }
  if (result === null) return commands;
  const answer = { commandId: null, call: null, deviceId: null, state: null, refused: false, error: null, result };
  return [...commands, { ...UNTIMED, ...answer, taskId, attempt }];
}

/** It has printed nothing: what it has moved is in the result of its task. */
const hasMovedFiles = ({ command, state }: CommandFinished): boolean =>
  isWorkspaceTool(command.tool) && state === 'COMPLETED';

function withLeft(answered: TaskResult | null, { files = [], fileList }: TaskResult): TaskResult | null {
  if (answered === null || !files.some(({ path }) => path !== undefined)) return answered;
  return { ...answered, files, ...(fileList && { fileList }) };
}

const UNTIMED = { startedAt: null, durationMs: null } as const;

function ended(
  of: Pick<RecordedCommand, 'taskId' | 'attempt'>,
  { commandId, command, deviceId, state, refused, error, result, startedAt, durationMs }: CommandFinished,
): RecordedCommand {
  const said = { commandId, call: command, deviceId, state, refused: refused === true, startedAt, durationMs };
  return { ...of, ...said, error: error?.message ?? null, result: result ?? error?.output ?? null };
}

function isAt({ commandId }: RecordedCommand, step: number | undefined, index: number | undefined): boolean {
  if (step === undefined) return true;
  const place = commandId === null ? undefined : placeOfCommand(commandId);
  return place?.step === step && (index === undefined || place.index === index);
}

function wentWrong({ commandId, state, error, result }: RecordedCommand): boolean {
  if (commandId === null) return error !== null;
  const exitCode = result === null ? undefined : exitCodeIn(result.value);
  return state !== 'COMPLETED' || (exitCode !== undefined && exitCode !== 0);
}

const PLACES_MAX = 20;

function placesIn(commands: readonly RecordedCommand[]): string {
  const places = commands.slice(0, PLACES_MAX).map(placeOfOutput);
  if (places.length === 0) return 'nothing';
  return `${places.join(', ')}${commands.length > PLACES_MAX ? ', ...' : ''}`;
}
