import { KnownParts, KnownViews, viewOf, type Run } from '#libs/constellation';
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

/** What decides where things stand, as text. */
export function topologyOf(tasks: readonly { readonly id: string }[], lines: readonly LineEnds[]): string {
  return [...tasks.map(({ id }) => id), '', ...lines.map(({ id, from, to }) => `${id} ${from} ${to}`)].join('\n');
}
type LineEnds = Pick<LineView, 'id' | 'from' | 'to'>;

/** One run as it is drawn, time after time. What is the same as last time is the same object, so that nobody draws it again: a change costs what has changed. */
export class Skies {
  readonly #views = new KnownViews();
  readonly #stars = new KnownParts<Star>();
  #last: Sky | undefined;
  #graph: Run['graph'] | undefined;

  /** How many views and stars had to be made so far. */
  get made(): number {
    return this.#views.tasks.made + this.#views.lines.made + this.#stars.made;
  }

  of(run: Run, edited: ReadonlyMap<string, 'added' | 'changed'>): Sky {
    const fresh = viewOf(run, undefined, this.#views);
    const last = this.#last;
    const view = {
      ...fresh,
      tasks: sameList(last?.view.tasks, fresh.tasks),
      lines: sameList(last?.view.lines, fresh.lines),
    };
    const asking = new Set(view.approvals.filter(({ state }) => state === 'open').map(({ taskId }) => taskId));
    const stars = view.tasks.map((task, at) => {
      const [asks, mark] = [asking.has(task.id), edited.get(task.id) ?? null];
      return this.#stars.of(at, [task, asks, mark], () => ({ ...task, asks, edited: mark }));
    });
    const topology = this.#graph === run.graph && last ? last.topology : topologyOf(view.tasks, view.lines);
    this.#graph = run.graph;
    this.#last = { view, stars: sameList(last?.stars, stars), lines: view.lines, topology };
    return this.#last;
  }
}

function sameList<T>(before: T[] | undefined, now: T[]): T[];
function sameList<T>(before: readonly T[] | undefined, now: readonly T[]): readonly T[];
function sameList<T>(before: readonly T[] | undefined, now: readonly T[]): readonly T[] {
  return before?.length === now.length && now.every((one, at) => one === before[at]) ? before : now;
}

/** `holds`, `fails`, `open`, `undecided`: what a line comes to. */
export function lineState({ satisfied, reason }: LineView): 'holds' | 'fails' | 'open' | 'undecided' {
  if (satisfied === null) return 'open';
  if (satisfied) return 'holds';
  return reason?.startsWith('undecided: ') === true ? 'undecided' : 'fails';
}
