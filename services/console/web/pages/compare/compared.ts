import {
  constellationOf,
  diffConstellations,
  metricsOf,
  sameJson,
  viewOf,
  type FieldChange,
  type ItemsDiff,
  type Run,
} from '#libs/constellation';
import type { Json, LineView, RunCommit, RunView, TaskView } from '#proto';
import { lineState, tookText } from '../../model/index.js';
import { words } from '../../words/index.js';

/** A run after some of its commits. */
export interface ComparedMoment {
  readonly run: Run;
  readonly commits: readonly RunCommit[];
}

/** A task or a line at both moments. */
export interface Compared<T> {
  readonly id: string;
  /** What became of its definition. */
  readonly change: 'added' | 'removed' | 'changed' | 'same';
  readonly fields: readonly FieldChange[];
  readonly before: T | undefined;
  readonly after: T | undefined;
  /** Nothing is otherwise: neither what it is nor what became of it. */
  readonly isSame: boolean;
}

export interface Comparison {
  readonly name: { readonly before: string; readonly after: string } | null;
  readonly tasks: readonly Compared<TaskView>[];
  readonly lines: readonly Compared<LineView>[];
  readonly before: RunView;
  readonly after: RunView;
}

const NO_PLAN = { name: '', tasks: [], lines: [] };

/** What differs between two moments, of one run or of two: what was planned, as `orrery diff` says it, and what has become of it. */
export function compared(before: ComparedMoment, after: ComparedMoment): Comparison {
  const [was, is] = [viewOf(before.run), viewOf(after.run)];
  const { name, tasks, lines } = diffConstellations(
    constellationOf(before.run) ?? NO_PLAN,
    constellationOf(after.run) ?? NO_PLAN,
  );
  return {
    name,
    tasks: both(tasks, [was.tasks, is.tasks], sameFate),
    lines: both(lines, [was.lines, is.lines], (one, other) => lineState(one) === lineState(other)),
    before: was,
    after: is,
  };
}

/** In the order of the later moment, what is gone from it behind. */
function both<T extends { readonly id: string }>(
  { changed }: ItemsDiff<unknown>,
  [before, after]: readonly [readonly T[], readonly T[]],
  becameTheSame: (before: T, after: T) => boolean,
): Compared<T>[] {
  const was = new Map(before.map((one) => [one.id, one]));
  const is = new Set(after.map(({ id }) => id));
  const fieldsOf = new Map(changed.map(({ id, fields }) => [id, fields]));
  return [
    ...after.map((one): Compared<T> => {
      const { id } = one;
      const old = was.get(id);
      const fields = fieldsOf.get(id) ?? [];
      const change = old === undefined ? 'added' : fields.length > 0 ? 'changed' : 'same';
      const isSame = change === 'same' && old !== undefined && becameTheSame(old, one);
      return { id, change, fields, before: old, after: one, isSame };
    }),
    ...before
      .filter(({ id }) => !is.has(id))
      .map((one): Compared<T> => ({
        id: one.id,
        change: 'removed',
        fields: [],
        before: one,
        after: undefined,
        isSame: false,
      })),
  ];
}

/** When it ran counts for nothing. */
function sameFate(before: TaskView, after: TaskView): boolean {
  return (
    before.status === after.status &&
    before.device === after.device &&
    before.attempts === after.attempts &&
    sameJson(resultOf(before), resultOf(after))
  );
}

/** Of what a command gives back what it says of itself: no two are of the same moment. */
const OF_THE_MOMENT: ReadonlySet<string> = new Set(['execution_time', 'timestamp']);

function resultOf({ result, error }: TaskView): Json {
  const value = result?.value ?? null;
  const rest =
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).filter(([field]) => !OF_THE_MOMENT.has(field)))
      : value;
  return [rest, error === null ? null : `${error.code}: ${error.message}`];
}

/** What a task came to, as a person reads it. */
export function cameTo({ result, error }: TaskView): string {
  if (error !== null) return `${error.code}: ${error.message}`;
  const value = result?.value ?? null;
  if (value === null) return '';
  if (typeof value !== 'object' || Array.isArray(value))
    return typeof value === 'string' ? value : JSON.stringify(value);
  const said = [value['stdout'], value['stderr']]
    .filter((text): text is string => typeof text === 'string' && text !== '')
    .join('\n');
  return said === '' ? JSON.stringify(value) : said;
}

/** One figure of both. */
export interface ComparedFigure {
  readonly of: FigureName;
  readonly before: string;
  readonly after: string;
}

const FIGURES = {
  tasks: ({ view }) => countsText(view),
  revision: ({ view }) => String(view.revision),
  rounds: ({ metrics }) => String(metrics?.rounds.length ?? 0),
  attempts: ({ metrics }) => String(metrics?.attempts.length ?? 0),
  lasted: ({ view, commits }) => tookText(Date.parse(commits.at(-1)?.at ?? '') - Date.parse(view.requestedAt)),
  orchestration: ({ metrics }) => (metrics === null ? '' : tookText(metrics.orchestrationMs)),
  calls: ({ view }) => String(view.used?.llmCalls ?? 0),
  tokens: ({ view }) => (view.used?.tokens ?? 0).toLocaleString('en'),
  commands: ({ view }) => String(view.used?.commands ?? 0),
  cost: ({ view }) => words.figures.costOf(view.used),
} as const satisfies Readonly<Record<string, (of: Measured) => string>>;
export type FigureName = keyof typeof FIGURES;

interface Measured {
  readonly view: RunView;
  readonly metrics: ReturnType<typeof metricsOf>;
  readonly commits: readonly RunCommit[];
}

/** What each of them came to in figures, beside each other. */
export function comparedFigures(before: ComparedMoment, after: ComparedMoment): ComparedFigure[] {
  const [was, is] = [before, after].map(({ run, commits }): Measured => {
    return { view: viewOf(run), metrics: metricsOf(commits), commits };
  }) as [Measured, Measured];
  return (Object.keys(FIGURES) as FigureName[]).map((of) => {
    return { of, before: FIGURES[of](was), after: FIGURES[of](is) };
  });
}

function countsText({ tasks }: RunView): string {
  const counts = Object.entries(Object.groupBy(tasks, ({ status }) => status));
  return counts.map(([status, some]) => `${some.length} ${status.toLowerCase()}`).join(', ');
}
