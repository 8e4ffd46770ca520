import { type EditingReply, type Issue, sentenceOf, type TaskId } from '#proto';
import { findTask, isTerminalTask, listOfIds, type Run, type TaskState } from '#libs/constellation';
import { EditStage, type StageCircumstances } from './edit-stage.js';
import { type Planned, type ProposedPlan, traceOf } from './plan-creation.js';

const PROBLEMS_MAX = 20;

export interface EditingCircumstances extends StageCircumstances {
  /** The revision that the replying model was shown, where it may be another one by now. */
  readonly seen?: number | undefined;
}

/**
 * What a reply in editing mode (paper section 5.1) puts to the orchestrator: all its actions as one batch, or none. FINISH and
 * FAIL come without actions, with the reply to the requester and the tasks that it rests on.
 */
export function planEditing(reply: EditingReply, run: Run, circumstances: EditingCircumstances): Planned {
  const { state, actions, result } = reply;
  const common = { baseRevision: run.revision, state, trace: traceOf(reply) };
  if (state === 'CONTINUE') return continued(reply, common, new EditStage(run, circumstances));
  const evidence = [...new Set(reply.evidence)];
  const issues: Issue[] = [];
  if (actions.length > 0) {
    const message = `${state} goes without actions; CONTINUE with them, and you are asked again when they have been done`;
    issues.push({ path: 'actions', message });
  }
  const running = [...run.running].map((index) => run.tasks.at(index).star.id);
  if (state === 'FINISH' && running.length > 0) issues.push({ path: 'state', message: stillRunning(running) });
  else issues.push(...unseen(state, run, circumstances.seen));
  if (result.trim() === '') issues.push({ path: 'result', message: `${state} needs a result` });
  issues.push(...unfounded(reply, run));
  if (issues.length > 0) return refused(issues);
  return { ok: true, proposal: { ...common, edits: [], answer: { text: result, evidence } } };
}

function continued(
  { actions }: EditingReply,
  common: Pick<ProposedPlan, 'baseRevision' | 'state' | 'trace'>,
  stage: EditStage,
): Planned {
  const staged = stage.applyAll(actions);
  if (!staged.ok) {
    return refused(
      staged.violations.map(({ call, path, message }) => ({
        path: call === undefined ? 'actions' : `actions[${call}].arguments${path === '' ? '' : `.${path}`}`,
        message,
      })),
    );
  }
  if (stage.run.tasks.length === 0) {
    return refused([{ path: 'actions', message: 'a plan needs at least one task; add some, or FINISH or FAIL' }]);
  }
  return { ok: true, proposal: { ...common, edits: [...staged.edits] } };
}

/** An end puts a stop to what is left: not to what somebody has changed since, of which the reply knows nothing. */
function unseen(state: string, run: Run, seen = run.revision): Issue[] {
  if (seen === run.revision) return [];
  const left = [...run.tasks].filter(({ status }) => !isTerminalTask(status)).map(({ star }) => `"${star.id}"`);
  if (left.length === 0) return [];
  const message = `the constellation was changed since you were shown it, and ${state} would put an end to ${listOfIds(left)}; look at it again`;
  return [{ path: 'state', message }];
}

function stillRunning(ids: readonly TaskId[]): string {
  const [are, them] = ids.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const tasks = `task${ids.length === 1 ? '' : 's'} ${listOfIds(ids.map((id) => `"${id}"`))}`;
  return `${tasks} ${are} still running; CONTINUE, or FAIL to stop ${them}`;
}

/** An answer may rest on what tasks have come to, and on nothing else. */
function unfounded({ evidence }: EditingReply, run: Run): Issue[] {
  return evidence.flatMap((id, index): Issue[] => {
    const path = `evidence[${index}]`;
    const task = findTask(run, id);
    const all = [...run.tasks];
    if (task === undefined) {
      const known = listOfIds(all.map(({ star }) => star.id));
      return [{ path, message: `there is no task "${id}"; known are ${known}` }];
    }
    if (hasSpoken(task)) return [];
    const others = listOfIds(all.filter(hasSpoken).map(({ star }) => star.id));
    return [{ path, message: `task "${id}" is ${task.status} and has no result; those with one are ${others}` }];
  });
}

/** It was tried, has ended, and said something: a result, or why it failed. */
function hasSpoken({ attempt, status, result, error }: TaskState): boolean {
  return attempt > 0 && isTerminalTask(status) && (result !== null || error !== null);
}

function refused(issues: readonly Issue[]): Planned {
  return { ok: false, problems: issues.slice(0, PROBLEMS_MAX).map(sentenceOf) };
}
