import type { EditPolicy, EditTrigger, PlannerState } from '#proto';
import { editPolicyOf, findTask, hasWords, type Run, targetOf, type TaskState } from '#libs/constellation';

export type Judgement =
  /** Somebody has to think about it. */
  | { readonly needed: true }
  /** It follows by rule, without edits. */
  | { readonly needed: false; readonly state: Extract<PlannerState, 'CONTINUE' | 'FINISH'>; readonly because: string };

export interface JudgeKnown {
  /** There is a model that could be asked. */
  readonly model: boolean;
  /** The plan came from a reviewed runbook: what it comes to is its end. */
  readonly reviewed: boolean;
}

/**
 * Whether an editing round needs judgement. A model is asked about failures, about results that it wanted to see, and for the
 * last word on a plan of its own; about nothing else, unless the edit policy is `every-result`, under which every completion is
 * put to it (paper section 5.1, algorithm 1), and about what people say to the run. What a task needs of others comes along its lines, which the core has checked: an
 * ordinary result asks for no change of the plan.
 */
export function judgementOf(run: Run, triggers: readonly EditTrigger[], { model, reviewed }: JudgeKnown): Judgement {
  const told = [...triggers, ...run.queued].flatMap((trigger) =>
    trigger.kind === 'task' ? (findTask(run, trigger.taskId) ?? []) : [],
  );
  const policy = editPolicyOf(run);
  const open =
    told.find((task) => wantsJudgement(task, policy) || leavesDoubt(run, task)) ?? withoutDevice(run, triggers);
  const isSaid = hasWords(triggers);
  if (model && (open !== undefined || isSaid)) return { needed: true };
  if (!isAtEnd(run)) {
    if (isSaid) return rule('CONTINUE', 'no model is configured that could read what was said');
    if (open === undefined) return rule('CONTINUE', 'the results asked for nothing but what is planned');
    return rule('CONTINUE', `no model is configured that could judge task "${open.star.id}"`);
  }
  if (run.queued.length > 0) return rule('CONTINUE', 'there is more to look at first');
  if (reviewed) return rule('FINISH', 'the plan of the runbook has ended');
  return model
    ? { needed: true }
    : rule('FINISH', 'the plan has ended, and no model is configured that could say more');
}

/** Nothing is left to do. */
export function isAtEnd({ counts }: Pick<Run, 'counts'>): boolean {
  return counts.PENDING + counts.RUNNING === 0;
}

function rule(state: 'CONTINUE' | 'FINISH', because: string): Judgement {
  return { needed: false, state, because };
}

/** A task that still waits for a device and that somebody may want to be done elsewhere, or not at all. */
function withoutDevice(run: Run, triggers: readonly EditTrigger[]): TaskState | undefined {
  const asked = triggers.flatMap((trigger) => (trigger.kind === 'device' ? (findTask(run, trigger.taskId) ?? []) : []));
  return asked.find(({ deviceWait }) => deviceWait !== null);
}

/** It is done, and nobody can say whether what is pending behind it may run. */
function leavesDoubt({ graph, lines, tasks }: Run, { star, status }: TaskState): boolean {
  if (status !== 'COMPLETED') return false;
  return graph.linesFrom
    .at(graph.taskIndex.get(star.id) ?? -1)
    .some((line) => lines.at(line).undecided === true && tasks.at(targetOf(graph, line)).status === 'PENDING');
}

/** One that is tried again meanwhile has nothing to be judged yet. */
function wantsJudgement({ star, status }: TaskState, policy: EditPolicy): boolean {
  return status === 'FAILED' || (status === 'COMPLETED' && (star.review === true || policy === 'every-result'));
}
