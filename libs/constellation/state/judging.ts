import type { PlanSource } from '#proto';
import type { Run } from './run.js';
import type { TaskState } from './task.js';

/** Whether the policy judges what the task says before it runs. */
export function mustJudge({ request }: Pick<Run, 'request'>, { judged }: Pick<TaskState, 'judged'>): boolean {
  return judged || request?.options.judge === 'all';
}

/**
 * Whether what the planner proposes is judged: what a model wrote always, and of a runbook or a rule what they made for somebody who
 * was no operator when he asked. He chose it and wrote its values, and nobody can tell them from the rest any more.
 */
export function isPlanJudged({ request }: Pick<Run, 'request'>, source: PlanSource): boolean {
  return source === 'model' || request?.judgeCommands === true;
}
