import type { TaskId, TaskStar } from '#proto';
import { findTask, type Run, type TaskState } from '../state/index.js';
import { sameJson } from '../values/index.js';

// A task that did not deliver is recovered when another one that names it in `replaces` has delivered in its place: at the end
// of a chain, when a replacement was replaced in its turn. Something has to stand for its being the same work: the check of the
// task that was replaced, to which what a model proposes is held, or a person, who named the replacement or agreed to it.

/** Tasks that did not deliver and that are recovered, each with the task that delivered in its place. */
export function recoveriesOf({ tasks, graph }: Pick<Run, 'tasks' | 'graph'>): ReadonlyMap<TaskId, TaskId> {
  const replacements = new Map<TaskId, TaskState[]>();
  for (const task of tasks) {
    for (const id of task.star.replaces ?? []) replacements.set(id, [...(replacements.get(id) ?? []), task]);
  }
  const recovered = new Map<TaskId, TaskId>();
  for (const id of replacements.keys()) {
    const task = findTask({ tasks, graph }, id);
    const by =
      task === undefined || !hasNotDelivered(task) ? undefined : deliveredFor(task, replacements, new Set([id]));
    if (by !== undefined) recovered.set(id, by);
  }
  return recovered;
}

/** It has ended and did not do its work; one that a condition passed by had none to do. */
export function hasNotDelivered({ status, skippedBy }: TaskState): boolean {
  return status === 'FAILED' || status === 'CANCELLED' || skippedBy === 'failure';
}

/** `seen`: two tasks may each be named as the replacement of the other. */
function deliveredFor(
  { star: { id, verify } }: TaskState,
  replacements: ReadonlyMap<TaskId, readonly TaskState[]>,
  seen: Set<TaskId>,
): TaskId | undefined {
  for (const candidate of replacements.get(id) ?? []) {
    if (seen.has(candidate.star.id) || !(candidate.vouched || verify !== undefined)) continue;
    seen.add(candidate.star.id);
    if (candidate.status === 'COMPLETED') return candidate.star.id;
    const by = hasNotDelivered(candidate) ? deliveredFor(candidate, replacements, seen) : undefined;
    if (by !== undefined) return by;
  }
  return undefined;
}

export type Inherited =
  { readonly ok: true; readonly star: TaskStar } | { readonly ok: false; readonly message: string };

/**
 * A task held to the checks of what it replaces: left out they are inherited, and a condition may be added to a command that
 * has none. Whether another check asks for as much nobody can tell, so it is refused.
 */
export function inherited(star: TaskStar, replaced: readonly TaskStar[]): Inherited {
  let verify = star.verify;
  for (const { id, verify: owed } of replaced) {
    if (owed === undefined || id === star.id) continue;
    if (verify === undefined) verify = owed;
    const { command, condition } = verify;
    const isKept = owed.condition === undefined || condition === owed.condition;
    if (isKept && sameJson(command, owed.command)) continue;
    const message = `"${star.id}" replaces "${id}" and has to meet its check: ${JSON.stringify(owed)}; leave verify out, or give that one`;
    return { ok: false, message };
  }
  return { ok: true, star: verify === undefined || verify === star.verify ? star : { ...star, verify } };
}
