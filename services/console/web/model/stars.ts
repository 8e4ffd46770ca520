import { viewOf, type Run } from '#libs/constellation';
import type { LineView, RunView, TaskView } from '#proto';

/** One task as the sky shows it. */
export interface Star extends TaskView {
  /** A person is waited for. */
  readonly asks: boolean;
  /** Of the last change of the constellation: this star is new, or is another one now. */
  readonly edited: 'added' | 'changed' | null;
}

/** What is drawn of a run: its stars, its lines, and what of it decides where they stand. */
export interface Sky {
  readonly view: RunView;
  readonly stars: readonly Star[];
  readonly lines: readonly LineView[];
  /** The same text is the same drawing: only colours have changed. */
  readonly topology: string;
}

/** `before`: what was drawn last. Its stars and lines that are the same are the same objects, so that nobody draws them again. */
export function skyOf(run: Run, edited: ReadonlyMap<string, 'added' | 'changed'>, before?: Sky): Sky {
  const view = viewOf(run);
  const asking = new Set(view.approvals.filter(({ state }) => state === 'open').map(({ taskId }) => taskId));
  const stars = view.tasks.map((task) => ({
    ...task,
    asks: asking.has(task.id),
    edited: edited.get(task.id) ?? null,
  }));
  const ids = [...view.tasks.map(({ id }) => id), '', ...view.lines.map(({ id, from, to }) => `${id} ${from} ${to}`)];
  return {
    view,
    stars: keptWhereSame(before?.stars, stars),
    lines: keptWhereSame(before?.lines, view.lines),
    topology: ids.join('\n'),
  };
}

function keptWhereSame<T extends { readonly id: string }>(before: readonly T[] | undefined, now: readonly T[]): T[] {
  const known = new Map(before?.map((one) => [one.id, one]));
  return now.map((one) => {
    const old = known.get(one.id);
    return old !== undefined && isSame(old, one) ? old : one;
  });
}

/** Parts that are objects are the same where the fold has kept them. */
function isSame(left: object, right: object): boolean {
  const [old, now] = [Object.entries(left), right as Readonly<Record<string, unknown>>];
  return old.length === Object.keys(right).length && old.every(([field, value]) => Object.is(value, now[field]));
}

/** `holds`, `fails`, `open`, `undecided`: what a line comes to. */
export function lineState({ satisfied, reason }: LineView): 'holds' | 'fails' | 'open' | 'undecided' {
  if (satisfied === null) return 'open';
  if (satisfied) return 'holds';
  return reason?.startsWith('undecided: ') === true ? 'undecided' : 'fails';
}
