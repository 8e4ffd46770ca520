import {
  instantOf,
  type Budget,
  type CommandCall,
  DEFAULTS,
  type RunEvent,
  type RunEventData,
  inputField,
  filesTaken,
  HAS_WORKSPACES,
  inputTask,
  type RunId,
  stdinSources,
  type TaskId,
  type TaskStar,
  type Verification,
} from '#proto';
import { boardReferences, withBoardValues } from '../board/index.js';
import type { Assignment } from '../edits/index.js';
import { positionOf, sourceOf } from '../plan/index.js';
import { findTask, isAgentTask, mustJudge, readsModelText, type Run, type TaskState } from '../state/index.js';

interface Given {
  readonly device: Extract<Assignment, { kind: 'device' }>['device'];
  readonly budget: Budget | undefined;
}

/** The start of a task on the device that it was given: its assignment, and all that the attempt is told. */
export function start(run: Run, index: number, { device, budget }: Given, now: number) {
  const task = run.tasks.at(index);
  const { star } = task;
  const { session } = device;
  if (session === null) throw new Error(`device ${device.deviceId} was chosen without a session`);
  const timeoutMs = star.timeoutMs ?? DEFAULTS.taskTimeoutMs;
  return {
    type: 'TASK_STARTED',
    data: {
      taskId: star.id,
      attempt: task.attempt + 1,
      deviceId: device.deviceId,
      sessionId: session.sessionId,
      journalId: session.journalId,
      ...(star.command === undefined ? orderOf(run, star) : { command: filled(run, star.command) }),
      ...(mustJudge(run, task) || readsModelText(run, star.id) ? { judge: true as const, ...approvalOf(run) } : {}),
      ...(star.verify === undefined ? {} : { verify: filledCheck(run, star.verify) }),
      ...(budget === undefined ? {} : { budget }),
      inputs: inputsOf(run, index),
      ...filesOf(run, star, device),
      priority: star.priority ?? 0,
      startedAt: instantOf(now),
      timeoutAt: instantOf(now + timeoutMs),
    },
  } as const satisfies RunEvent;
}

/** What stands on the board goes into the order itself: the log says what was run. */
export function filled({ board }: Pick<Run, 'board'>, command: CommandCall): CommandCall {
  return withBoardValues(command, (name) => board.entries.get(name)?.value ?? null);
}

/** The same of a post-condition. */
export function filledCheck(run: Pick<Run, 'board'>, verify: Verification): Verification {
  return verify.command === undefined ? verify : { ...verify, command: filled(run, verify.command) };
}

/** The first name that the task takes from the board and that is not there; undefined when it can start. */
export function missingOnBoard({ board }: Pick<Run, 'board'>, { command, verify }: TaskStar): string | undefined {
  const commands = [command, verify?.command].filter((one) => one !== undefined);
  const missing = commands.flatMap(boardReferences).find(({ name }) => !board.entries.has(name));
  if (missing === undefined) return undefined;
  return `its argument ${missing.path} is "${missing.name}" of the board, and nothing stands there; write it and retry the task`;
}

/** What the device's agent is asked to do, and how a person has a say in it. */
function orderOf(
  run: Run,
  { name, description, tips }: TaskStar,
): Pick<RunEventData<'TASK_STARTED'>, 'agent' | 'approval'> {
  return { agent: { name, description, tips, blackboard: [...run.blackboard] }, ...approvalOf(run) };
}

/** How a person has a say in what is judged. */
function approvalOf(run: Run): Pick<RunEventData<'TASK_STARTED'>, 'approval'> {
  const { approval = 'policy' } = run.request?.options ?? {};
  return approval === 'policy' ? {} : { approval };
}

/**
 * Predecessors whose outputs the task takes: those that its command names; where an agent does it, those that its inputs name,
 * and all of them without. Only of those of which it is known how they ended; skipped and cancelled ones have none.
 */
function inputsOf(run: Run, index: number): RunEventData<'TASK_STARTED'>['inputs'] {
  const sources = sourcesOf(run, index);
  return sources.flatMap(({ position, field }) =>
    madeBy(run, position).map((made) => ({ ...made, ...(field === undefined ? {} : { field }) })),
  );
}

interface Made {
  readonly taskId: TaskId;
  readonly attempt: number;
  readonly runId?: RunId;
  /** The task on several devices that was named, of which this is one device. */
  readonly of?: TaskId;
}

/** The attempts that a task came to its end with: one, or one on each of its devices; none where it is not known how it ended. */
function madeBy(run: Run, position: number): readonly Made[] {
  const named = run.graph.taskIds.at(position);
  return attemptsFor(run, position).flatMap(({ star: { id: taskId }, status, attempt, error, ranIn }) => {
    if ((status !== 'COMPLETED' && status !== 'FAILED') || attempt === 0 || error?.outcome === 'unknown') return [];
    const where = { ...(ranIn === null ? {} : { runId: ranIn }), ...(taskId === named ? {} : { of: named }) };
    return [{ taskId, attempt, ...where }];
  });
}

/** Of a task on several devices those that have begun, in the order of the devices. */
function attemptsFor(run: Run, position: number): readonly TaskState[] {
  const task = run.tasks.at(position);
  if (task.fanOut === null) return [task];
  return task.fanOut.parts.slice(0, task.fanOut.begun).flatMap(({ taskId }) => findTask(run, taskId) ?? []);
}

/** The files it takes, named by the attempts that made them, what it leaves, and that it works in the workspace of the run. */
function filesOf(
  run: Run,
  { files }: TaskStar,
  { capabilities }: Given['device'],
): Pick<RunEventData<'TASK_STARTED'>, 'files' | 'workspace'> {
  if (files === undefined && !run.namesFiles && run.request?.options.workspace !== true) return {};
  if (files === undefined) return capabilities.includes(HAS_WORKSPACES) ? { workspace: true } : {};
  const taken = files.in?.flatMap((input) => filesFrom(run, filesTaken(input)));
  const { out } = files;
  return { files: { ...(taken && { in: taken }), ...(out && { out }) }, workspace: true };
}

type Taken = NonNullable<NonNullable<RunEventData<'TASK_STARTED'>['files']>['in']>;

/** Of a task on several devices those of each that completed, in a directory with the name of the device. */
function filesFrom(run: Run, { from, ...rest }: ReturnType<typeof filesTaken>): Taken {
  return madeBy(run, positionOf(run.graph.taskIndex, from)).flatMap(({ of, ...made }) => {
    if (of === undefined) return [{ ...made, ...rest }];
    const part = findTask(run, made.taskId);
    if (part?.status !== 'COMPLETED' || part.deviceId === null) return [];
    return [{ ...made, ...rest, to: `${rest.to ?? ''}${part.deviceId}/` }];
  });
}

interface Source {
  readonly position: number;
  /** Said for an agent only: what a command takes of its sources stands in its arguments. */
  readonly field?: string | undefined;
}

/** Where the lines lead to that let it run: of one device of several to the task that was planned. */
function plannedAt({ graph, tasks }: Run, index: number): number {
  const { part } = tasks.at(index);
  return part === null ? index : positionOf(graph.taskIndex, part.of);
}

function sourcesOf(run: Run, index: number): readonly Source[] {
  const { graph } = run;
  const { star } = run.tasks.at(index);
  if (isAgentTask(star)) {
    const named = star.inputs?.map((input) => ({
      position: positionOf(graph.taskIndex, inputTask(input)),
      field: inputField(input),
    }));
    const sources =
      named ?? graph.linesInto.at(plannedAt(run, index)).map((line) => ({ position: sourceOf(graph, line) }));
    return [...new Map(sources.map((source) => [JSON.stringify(source), source])).values()];
  }
  return stdinSources(star.command).map((input) => ({ position: positionOf(graph.taskIndex, inputTask(input)) }));
}
