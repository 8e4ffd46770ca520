import {
  type Actor,
  type EditTrigger,
  type ForkedLine,
  type ForkedTask,
  type JudgedCommands,
  type RequestId,
  type RunEventData,
  DEFAULTS,
} from '#proto';
import { carriedBoard } from '../board/index.js';
import { buildGraph } from '../plan/index.js';
import { PersistentArray } from '../values/index.js';
import {
  deadlineOf,
  hasPlan,
  type LineState,
  pendingTask,
  sameActor,
  type Run,
  type RunAsked,
  type TaskState,
} from '../state/index.js';
import type { Shape } from '../edits/index.js';

export interface ForkOrigin {
  /** The run as it stood after a whole commit. */
  readonly run: Run;
  readonly by: Actor;
  readonly requestId: RequestId;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How many persons every command that is asked about has to have here at least, by what was asked and by who runs the system. */
  readonly approvals?: number | undefined;
  /** Which exact commands are judged here at least. */
  readonly judge?: JudgedCommands | undefined;
}

/** The first fact of a run that goes on from where another one stood: all its state, so that a fold needs nothing else. */
export function forkedFrom({ run, by, requestId, now, approvals, judge }: ForkOrigin): RunEventData<'RUN_FORKED'> {
  const { request, revision, runId, sequence, number, hash, graph } = run;
  if (request === null) throw new Error(`run ${runId} has no request`);
  const { namespace, contentHash, goal, metadata, labels, judgeCommands } = request;
  const least = Math.max(approvals ?? 1, request.options.approvals ?? 1);
  const options = {
    ...request.options,
    ...(approvals !== undefined && { approvals: least }),
    ...(judge === 'all' && { judge }),
  };
  if (!hasPlan(run)) throw new Error(`run ${runId} has no constellation yet`);
  return {
    requestId,
    namespace,
    parent: { runId, sequence, number, hash },
    contentHash,
    goal,
    options,
    metadata,
    ...(labels && { labels }),
    requestedBy: by,
    ...(judgeCommands && { judgeCommands }),
    forkedAt: new Date(now).toISOString(),
    deadlineAt: new Date(now + (options.deadlineMs ?? DEFAULTS.runDeadlineMs)).toISOString(),
    name: graph.name,
    revision,
    tasks: [...run.tasks].map((task) => carried(task, run, now)),
    lines: [...graph.lines].map((line, index): ForkedLine => ({ line, ...run.lines.at(index) })),
    usedIds: [...run.usedIds],
    ...(run.scope === null ? {} : { scope: [...run.scope] }),
    ...(run.planSource === null ? {} : { planSource: run.planSource }),
    ...(run.waitsFor === null ? {} : { waitsFor: run.waitsFor }),
    authors: run.authors.map(({ actor }) => actor).filter((actor) => !sameActor(actor, by)),
    ...(run.blackboard.length === 0 ? {} : { blackboard: [...run.blackboard] }),
    ...(run.words.length === 0 ? {} : { words: [...run.words] }),
    ...(run.board.revision === 0 ? {} : { board: carriedBoard(run.board) }),
    triggers: run.editing === null ? [...run.queued] : [...run.editing.triggers, ...run.queued].filter(isCarried),
  };
}

function isCarried({ kind }: EditTrigger): boolean {
  return kind === 'task' || kind === 'words';
}

function carried(task: TaskState, { runId }: Run, now: number): ForkedTask {
  const { star, status, attempt, deviceId, sessionId, startedAt, endedAt } = task;
  const { notBefore, result, error, reason, skippedBy } = task;
  // What is still to be done is new in its run: its time counts from the fork.
  const deadlineAt = status === 'PENDING' ? deadlineOf(star, now) : task.deadlineAt;
  const ranIn = attempt === 0 ? null : (task.ranIn ?? runId);
  const facts = { star, status, attempt, deviceId, sessionId, startedAt, endedAt };
  const { fanOut, part } = task;
  const ofFanOut = { ...(fanOut && { fanOut: { ...fanOut, parts: [...fanOut.parts] } }), ...(part && { part }) };
  const marks = { ...(task.judged && { judge: true as const }), ...(task.vouched && { vouched: true as const }) };
  return { ...facts, notBefore, deadlineAt, result, error, reason, skippedBy, ranIn, ...marks, ...ofFanOut };
}

/** The state that a RUN_FORKED carries. */
export function restored(data: RunEventData<'RUN_FORKED'>): { readonly request: RunAsked; readonly shape: Shape } {
  const { requestId, namespace, contentHash, goal, options, metadata, requestedBy, forkedAt, judgeCommands, labels } =
    data;
  const asked = { requestId, namespace, contentHash, goal, options, metadata, requestedBy, requestedAt: forkedAt };
  const request = { ...asked, ...(labels && { labels }), ...(judgeCommands && { judgeCommands }) };
  const taskIds = data.tasks.map(({ star }) => star.id);
  const graph = buildGraph({ name: data.name, taskIds, lines: data.lines.map(({ line }) => line) });
  const lines = PersistentArray.from<LineState>(
    data.lines.map(({ satisfied, reason, undecided }) => ({ satisfied, reason, ...(undecided && { undecided }) })),
  );
  const tasks = data.tasks.map(({ judge = false, vouched = false, fanOut = null, part = null, ...task }, index) => {
    const into = graph.linesInto.at(index).map((line) => lines.at(line).satisfied);
    const linesOpen = into.filter((satisfied) => satisfied === null).length;
    const linesUnsatisfied = into.filter((satisfied) => satisfied === false).length;
    const marks = { judged: judge, vouched, fanOut, part, linesOpen, linesUnsatisfied };
    // What is carried was a state of the parent: its fields fit its status.
    return { ...pendingTask(task.star, 0), ...task, ...marks } as TaskState;
  });
  return { request, shape: { graph, tasks: PersistentArray.from(tasks), lines, usedIds: new Set(data.usedIds) } };
}
