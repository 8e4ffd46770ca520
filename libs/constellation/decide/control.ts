import { type Actor, DEFAULTS, instantOf, LIMITS, type RunVerb, type TaskId, type VerbBody } from '#proto';
import { ACCEPTED, type Answer, refuse } from '../values/index.js';
import { decideApproval } from './approvals.js';
import type { Circumstances } from '../schedule/index.js';
import { mayGetMore, Purse, doomOf, isUnsatisfied, isTerminal, type Run } from '../state/index.js';
import { abandonEdit } from './edit-rounds.js';
import { beginToEnd } from './ending.js';
import type { RunDraft } from '../fold/index.js';
import { reopenTask } from './reopen.js';
import { listOfIds, positionOf } from '../plan/index.js';

/** The verbs that are decided here: all but those that come with more than what is said. */
type ControlVerb = Exclude<RunVerb, 'FORK' | 'PROPOSE'>;
type Told<V extends ControlVerb> = { readonly verb: V } & Readonly<Omit<VerbBody<V>, 'id' | 'actor'>>;

/** What a person, or a program in a person's place, may tell a run to do. */
export type Control = { [V in ControlVerb]: Told<V> }[ControlVerb];

type Decide<V extends ControlVerb> = (
  draft: RunDraft,
  told: Told<V>,
  by: Actor,
  circumstances: Circumstances,
) => Answer;

const DECIDED: { readonly [V in ControlVerb]: Decide<V> } = {
  CANCEL: cancel,
  PAUSE: pause,
  RESUME: resume,
  RETRY: retry,
  ANNOTATE: annotate,
  APPROVE: decideApproval,
  REJECT: decideApproval,
  ANSWER: decideApproval,
};

export function control<V extends ControlVerb>(
  draft: RunDraft,
  told: Told<V>,
  by: Actor,
  circumstances: Circumstances,
): Answer {
  if (draft.run.phase === 'NONE') return refuse('NOT_FOUND', 'there is no such run');
  const decided: Decide<V> = DECIDED[told.verb];
  return decided(draft, told, by, circumstances);
}

function cancel(draft: RunDraft, { reason }: Told<'CANCEL'>, by: Actor, { now }: Circumstances): Answer {
  const { run } = draft;
  if (run.phase === 'CANCELLED' || run.ending?.reason === 'cancelled')
    return { kind: 'ignored', reason: 'CANCELLED_BEFORE' };
  if (isTerminal(run)) return refuse('INVALID_STATE', `the run is ${run.phase}; there is nothing left to cancel`);
  if (run.ending !== null) return { kind: 'ignored', reason: 'ENDING' };
  abandonEdit(draft, { code: 'RUN_ENDING', message: 'the run was cancelled' }, now);
  beginToEnd(draft, { reason: 'cancelled', by, note: reason ?? null }, now);
  return ACCEPTED;
}

function pause(draft: RunDraft, { reason }: Told<'PAUSE'>, actor: Actor, { now }: Circumstances): Answer {
  const { run } = draft;
  if (run.phase === 'PAUSED') return { kind: 'ignored', reason: 'PAUSED_BEFORE' };
  if (isTerminal(run)) return refuse('INVALID_STATE', `the run is ${run.phase}; only a run that goes on can be paused`);
  draft.add({
    type: 'RUN_PAUSED',
    data: { by: 'operator', actor, reason: reason ?? `paused by ${actor.id}`, pausedAt: instantOf(now) },
  });
  return ACCEPTED;
}

function resume(draft: RunDraft, _: Told<'RESUME'>, by: Actor, { now }: Circumstances): Answer {
  const { run } = draft;
  if (run.phase === 'RUNNING') return { kind: 'ignored', reason: 'NOT_PAUSED' };
  if (isTerminal(run)) return refuse('INVALID_STATE', `the run is ${run.phase}; only a paused run can be resumed`);
  if (run.waitsFor === 'plan_approval' && by.kind !== 'person') {
    return refuse('UNAUTHORIZED', `only a person may accept a plan, and ${by.id} is of kind ${by.kind}`);
  }
  draft.add({ type: 'RUN_RESUMED', data: { by, resumedAt: instantOf(now) } });
  return ACCEPTED;
}

/** A person's word that a task shall be tried again, also where nobody knows what the last attempt has done. */
function retry(draft: RunDraft, { taskId }: Told<'RETRY'>, by: Actor, { now }: Circumstances): Answer {
  const { run } = draft;
  const index = run.graph.taskIndex.get(taskId);
  if (index === undefined) {
    return unknownTask(run, taskId);
  }
  if (run.ending !== null) return refuse('INVALID_STATE', 'the run is about to end; retry the task when it has');
  const { status, attempt, stopping } = run.tasks.at(index);
  switch (status) {
    case 'PENDING':
      return { kind: 'ignored', reason: 'PENDING' };
    case 'COMPLETED':
      return refuse('INVALID_STATE', `taskId: "${taskId}" is COMPLETED; fork the run to execute it again`);
    case 'RUNNING': {
      if (stopping?.reason === 'retry') return { kind: 'ignored', reason: 'RETRIED_BEFORE' };
      const [requestedAt, graceUntil] = [instantOf(now), stopping?.graceUntil ?? instantOf(now + LIMITS.stopGraceMs)];
      draft.add({
        type: 'TASK_STOP_REQUESTED',
        data: { taskId, attempt, reason: 'retry', by, requestedAt, graceUntil },
      });
      return ACCEPTED;
    }
    case 'SKIPPED':
    case 'FAILED':
    case 'CANCELLED': {
      const blocked = whatBlocks(run, index);
      if (blocked !== undefined) return refuse('INVALID_STATE', `taskId: ${blocked}`);
      const lacking = mayGetMore(run) ? [] : new Purse(run).lacking(run.tasks.at(index).star);
      if (lacking.length > 0) {
        const message = `nothing is left of the budget of the run (${lacking.join(', ')}); a fork of it has a new one`;
        return refuse('INVALID_STATE', `taskId: ${message}`);
      }
      if (isTerminal(run)) {
        const deadlineMs = run.request?.options.deadlineMs ?? DEFAULTS.runDeadlineMs;
        draft.add({
          type: 'RUN_REOPENED',
          data: { by, reopenedAt: instantOf(now), deadlineAt: instantOf(now + deadlineMs) },
        });
      }
      reopenTask(draft, index, { reason: 'operator', by, notBefore: instantOf(now) });
      return ACCEPTED;
    }
  }
}

/** Also of a run that has ended: what is to be known of it is often known afterwards. */
function annotate(draft: RunDraft, { text, taskId }: Told<'ANNOTATE'>, by: Actor, { now }: Circumstances): Answer {
  const { run } = draft;
  if (taskId !== undefined && run.graph.taskIndex.get(taskId) === undefined) return unknownTask(run, taskId);
  if (run.notes.length >= LIMITS.notesMax) {
    return refuse('INVALID_STATE', `the run has ${LIMITS.notesMax} notes, the most that it takes`);
  }
  const about = taskId === undefined ? {} : { taskId };
  draft.add({ type: 'RUN_ANNOTATED', data: { kind: 'note', by, text, ...about, annotatedAt: instantOf(now) } });
  return ACCEPTED;
}

function unknownTask(run: Run, taskId: TaskId): Answer {
  const known = listOfIds([...run.tasks].map(({ star }) => star.id));
  return refuse('NOT_FOUND', `taskId: there is no task "${taskId}"; known are ${known}`);
}

/** A task with a line that is not satisfied would be skipped again at once: what is behind the line has to run first. */
function whatBlocks(run: Run, index: number): string | undefined {
  const { graph } = run;
  if (!graph.linesInto.at(index).some((line) => isUnsatisfied(run, line))) return undefined;
  const { lineId, reason } = doomOf(run, index);
  const { from } = graph.lines.at(positionOf(graph.lineIndex, lineId));
  return `"${graph.taskIds.at(index)}" cannot start, ${reason}; retry "${from}" first`;
}
