import type { Edit, RunCommit } from '#proto';
import { applyEdits, emptyRun, foldEvents, foldRun, validateConstellation } from '#libs/constellation';
import { chain, fan, layered } from './plans.js';
import { spreadOf } from './statistics.js';
import type { Plan } from './target.js';
import { constellationOf, playGiven } from './virtual-run.js';

/** One figure of the pure core, with something that ran beside it. */
export interface CoreFigure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The same work done in the plainest way, or on a small run; null where there is none. */
  readonly beside: { readonly what: string; readonly value: number } | null;
  readonly aim: { readonly limit: number; readonly atLeast: boolean; readonly ofRatio: boolean } | null;
}

const REPETITIONS = 15;

/** Milliseconds, the median of several repetitions after one that does not count. */
function timed(work: () => void, repetitions = REPETITIONS): number {
  work();
  const times = Array.from({ length: repetitions }, () => {
    const began = performance.now();
    work();
    return performance.now() - began;
  });
  return spreadOf(times).median;
}

export function coreFigures(): CoreFigure[] {
  return [...decisions(), ...folds(), ...edits()];
}

/** One result after the other, each decided and folded on its own. */
function decisions(): CoreFigure[] {
  const perTask = (plan: Plan, repetitions: number) =>
    (timed(() => void playGiven(plan), repetitions) * 1_000) / plan.tasks.length;
  const short = perTask(chain(100), 30);
  const long = perTask(chain(10_000), 3);
  const narrow = perTask(fan(100), 30);
  const wide = perTask(fan(2_000), 3);
  return [
    {
      what: 'decide and fold a result in a chain of 10,000 tasks',
      value: long,
      unit: 'us per task',
      beside: { what: 'a chain of 100', value: short },
      aim: { limit: 1.5, atLeast: false, ofRatio: true },
    },
    {
      what: 'decide and fold a result in a fan of 2,000 tasks, each in a commit of its own',
      value: wide,
      unit: 'us per task',
      beside: { what: 'a fan of 100', value: narrow },
      aim: null,
    },
  ];
}

function folds(): CoreFigure[] {
  return [chain(100), chain(10_000), fan(2_000)].map((plan): CoreFigure => {
    const commits = playGiven(plan);
    const events = commits.reduce((count, commit) => count + commit.events.length, 0);
    const repetitions = Math.max(3, Math.round(50_000 / events));
    const perSecond = (milliseconds: number) => (events * 1_000) / milliseconds;
    const texts = commits.map((commit) => JSON.stringify(commit));
    return {
      what: `fold the ${events} events of ${plan.name}`,
      value: perSecond(timed(() => void foldRun(commits), repetitions)),
      unit: 'events/s',
      beside: {
        what: 'parsing their JSON',
        value: perSecond(timed(() => texts.forEach((text) => JSON.parse(text) as RunCommit), repetitions)),
      },
      aim: { limit: 100_000, atLeast: true, ofRatio: false },
    };
  });
}

function edits(): CoreFigure[] {
  const plan = layered({ tasks: 1_000, lines: 2_500, layers: 50, seed: 7 });
  const constellation = constellationOf(plan);
  const commits = playGiven(plan, 1);
  const run = foldEvents(emptyRun('run-1'), commits.flatMap(({ events }) => events).slice(0, 2));
  const batch = hundredNodes(plan);
  const applied = applyEdits(run, batch, 0);
  if (!applied.ok) throw new Error(`the edit is refused: ${applied.violations[0]?.message ?? ''}`);
  return [
    {
      what: 'validate and apply an edit of 100 tasks and 200 lines on 1,000 tasks and 2,500 lines',
      value: timed(() => void applyEdits(run, batch, 0).ok),
      unit: 'ms',
      beside: {
        what: 'validating the constellation once',
        value: timed(() => void validateConstellation(constellation)),
      },
      aim: { limit: 50, atLeast: false, ofRatio: false },
    },
    {
      what: 'the same, with 50 tasks removed',
      value: timed(() => void applyEdits(run, [...batch, ...removals(plan)], 0).ok),
      unit: 'ms',
      beside: null,
      aim: { limit: 50, atLeast: false, ofRatio: false },
    },
  ];
}

/** Tasks between two layers, each with a line in and a line out. */
function hundredNodes({ tasks }: Plan): Edit[] {
  return Array.from({ length: 100 }, (_, index): Edit[] => {
    const id = `new-${index}`;
    const line = (from: string, to: string): Edit => ({
      tool: 'add_dependency',
      line: { id: `${from}-${to}`, from, to, type: 'unconditional' },
    });
    const [from = '', to = ''] = [tasks[400 + index], tasks[600 + index]];
    const [task] = constellationOf({ name: id, tasks: [id], lines: [] }).tasks;
    if (task === undefined) throw new Error('there is no task');
    return [{ tool: 'add_task', task }, line(from, id), line(id, to)];
  }).flat();
}

function removals({ tasks }: Plan): Edit[] {
  return tasks.slice(-50).map((taskId) => ({ tool: 'remove_task', taskId }));
}

export function coreTable(figures: readonly CoreFigure[]): string {
  const rows = figures.map(({ what, value, unit, beside, aim }) => {
    const ratio = beside === null ? null : value / beside.value;
    const judged = aim?.ofRatio === true ? (ratio ?? Number.NaN) : value;
    const met = aim === null || (aim.atLeast ? judged >= aim.limit : judged <= aim.limit);
    return [
      what,
      `${said(value)} ${unit}`,
      beside === null ? '-' : `${beside.what}: ${said(beside.value)}`,
      ratio === null ? '-' : ratio.toFixed(2),
      aim === null ? '-' : `${said(aim.limit)}${aim.ofRatio ? ' x' : ` ${unit}`} ${met ? 'met' : 'MISSED'}`,
    ];
  });
  const head = ['what', 'figure', 'beside it', 'ratio', 'aim'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function said(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString('en-US');
  return Number.isInteger(value) ? String(value) : value.toFixed(value >= 100 ? 0 : 2);
}
