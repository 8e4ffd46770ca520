import type { Evaluation } from '#proto';

/** `3 of 4 subtasks done (75 %), 1 unsure`: the completion rate of the paper (section 10.3). Undefined where no subtasks were judged. */
export function subtasksText({ subtasks = [] }: Pick<Evaluation, 'subtasks'>): string | undefined {
  if (subtasks.length === 0) return undefined;
  const count = (verdict: string): number => subtasks.filter(({ evaluation }) => evaluation === verdict).length;
  const [done, unsure] = [count('yes'), count('unsure')];
  const share = Math.floor((done / subtasks.length) * 100);
  const more = unsure === 0 ? '' : `, ${unsure} unsure`;
  return `${done} of ${subtasks.length} subtask${subtasks.length === 1 ? '' : 's'} done (${share} %)${more}`;
}

/** `yes`, and why where that is no answer to what was asked for. */
export function completeText({ complete, feasible }: Pick<Evaluation, 'complete' | 'feasible'>): string {
  if (feasible !== 'no') return complete;
  const why =
    complete === 'yes'
      ? 'what was asked for cannot be done, and the answer says so'
      : 'what was asked for cannot be done';
  return `${complete} (${why})`;
}
