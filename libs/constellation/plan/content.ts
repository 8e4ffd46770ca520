import type { TaskStar, TaskStarLine } from '#proto';
import { canonicalJson } from '../values/index.js';

/** All that a plan says: what a person approves who approves it once, for every run that is this to the letter. */
export interface PlanContent {
  readonly tasks: readonly TaskStar[];
  readonly lines: readonly TaskStarLine[];
}

/**
 * The content of a plan in one form, whatever the order in which it is written. Its hash is what a standing approval names; nothing in it
 * is left open, neither a value nor a device that a task was made for.
 */
export function planContent({ tasks, lines }: PlanContent): PlanContent {
  return JSON.parse(canonicalJson({ tasks: tasks.toSorted(byId), lines: lines.toSorted(byId) })) as PlanContent;
}

function byId({ id: one }: { readonly id: string }, { id: other }: { readonly id: string }): number {
  return one < other ? -1 : 1;
}
