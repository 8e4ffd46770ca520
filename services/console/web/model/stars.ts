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

export function skyOf(run: Run, edited: ReadonlyMap<string, 'added' | 'changed'>, now?: number): Sky {
  const view = viewOf(run, now);
  const asking = new Set(view.approvals.filter(({ state }) => state === 'open').map(({ taskId }) => taskId));
  const stars = view.tasks.map((task) => ({
    ...task,
    asks: asking.has(task.id),
    edited: edited.get(task.id) ?? null,
  }));
  const ids = [...view.tasks.map(({ id }) => id), '', ...view.lines.map(({ id, from, to }) => `${id} ${from} ${to}`)];
  return { view, stars, lines: view.lines, topology: ids.join('\n') };
}

/** `holds`, `fails`, `open`, `undecided`: what a line comes to. */
export function lineState({ satisfied, reason }: LineView): 'holds' | 'fails' | 'open' | 'undecided' {
  if (satisfied === null) return 'open';
  if (satisfied) return 'holds';
  return reason?.startsWith('undecided: ') === true ? 'undecided' : 'fails';
}
