import { type EditId, type Instant, NO_USAGE, type RunEventData, type Usage } from '#proto';
import { plus } from '../state/index.js';
import { covered, type Interval } from '../values/index.js';

/** One edit round as the run has it: what it took and what came of it. */
export interface RoundMetrics {
  readonly editId: EditId;
  readonly mode: 'creation' | 'editing';
  /** Milliseconds from its opening to its end; null while it is open. */
  readonly ms: number | null;
  /** Proposals that were judged, and those of them that were refused. */
  readonly proposals: number;
  readonly rejected: number;
  /** What the planner says that all tries used; zeros where nobody asked a model. */
  readonly used: Usage;
  /** `applied`: with a change, `unchanged`: without one, `abandoned`: nothing that could be applied came in time. */
  readonly outcome: 'open' | 'applied' | 'unchanged' | 'abandoned';
}

/** Rounds of a run, in the order in which they were opened. Private to one walk over the events. */
export class Rounds {
  readonly #all = new Map<EditId, RoundMetrics>();
  readonly #intervals = new Map<EditId, { from: number; until: number | null }>();
  #skewed = 0;

  get all(): RoundMetrics[] {
    return [...this.#all.values()];
  }

  /** Rounds that ended before they were opened, by the clocks that recorded it. */
  get skewed(): number {
    return this.#skewed;
  }

  get abandoned(): number {
    return this.all.filter(({ outcome }) => outcome === 'abandoned').length;
  }

  /** How long at least one of them was open; of one mode when it is given. */
  openMs(mode?: RoundMetrics['mode']): number {
    const ended = [...this.#intervals].flatMap(([editId, { from, until }]): Interval[] => {
      const isMeant = mode === undefined || this.#all.get(editId)?.mode === mode;
      return isMeant && until !== null ? [{ from, until }] : [];
    });
    return covered(ended);
  }

  open({ editId, mode, openedAt }: RunEventData<'EDIT_OPENED'>): void {
    this.#all.set(editId, { editId, mode, ms: null, proposals: 0, rejected: 0, used: NO_USAGE, outcome: 'open' });
    this.#intervals.set(editId, { from: Date.parse(openedAt), until: null });
  }

  reject({ editId, used }: RunEventData<'EDIT_REJECTED'>): void {
    const round = this.#all.get(editId);
    if (round === undefined) return;
    const { proposals, rejected } = round;
    this.#all.set(editId, { ...this.#spent(round, used), proposals: proposals + 1, rejected: rejected + 1 });
  }

  abandon({ editId, abandonedAt, used }: RunEventData<'EDIT_ABANDONED'>): void {
    const round = this.#all.get(editId);
    if (round !== undefined) this.#end({ ...this.#spent(round, used), outcome: 'abandoned' }, abandonedAt);
  }

  accept({ editId, modifiedAt, used }: RunEventData<'CONSTELLATION_MODIFIED'>, isChanged: boolean): void {
    const round = editId === undefined ? undefined : this.#all.get(editId);
    if (round === undefined) return;
    const outcome = isChanged ? 'applied' : 'unchanged';
    this.#end({ ...this.#spent(round, used), proposals: round.proposals + 1, outcome }, modifiedAt);
  }

  #end(round: RoundMetrics, at: Instant): void {
    const interval = this.#intervals.get(round.editId);
    if (interval === undefined || interval.until !== null) return;
    if (Date.parse(at) < interval.from) this.#skewed++;
    interval.until = Math.max(interval.from, Date.parse(at));
    this.#all.set(round.editId, { ...round, ms: interval.until - interval.from });
  }

  #spent(round: RoundMetrics, more: Usage = NO_USAGE): RoundMetrics {
    return { ...round, used: plus(round.used, more) };
  }
}
