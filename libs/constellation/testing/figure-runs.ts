import { NO_USAGE, type RunEvent } from '#proto';
import { runFiguresOf, type MeasuredRun } from '../statistics/run-figures.js';
import {
  abandoned,
  at,
  cancelled,
  commitsOf,
  completed,
  created,
  edited,
  ended,
  failed,
  modified,
  opened,
  ops,
  reopened,
  requested,
  skipped,
  star,
  started,
} from './facts.js';

/* Runs whose figures can be counted by hand. */

const SECOND = 1_000;
const done = { completed: 0, failed: 0, skipped: 0, cancelled: 0 };

export function figuresOf(...groups: readonly (readonly RunEvent[])[]): MeasuredRun {
  const figures = runFiguresOf(commitsOf(...groups));
  if (figures === null) throw new Error('the run has not ended');
  return figures;
}

/** a 0-10 s, b 10-40 s beside c 10-30 s, d 40-50 s: W = 10 + 30 + 20 + 10, L = a, b, d = 10 + 30 + 10. */
export const DIAMOND = figuresOf(
  [...created(['a', 'b', 'c', 'd'], ['a>b', 'a>c', 'b>d', 'c>d']), started('a', 0)],
  [completed('a', 10 * SECOND), started('b', 10 * SECOND), started('c', 10 * SECOND, 1, 'db-1')],
  [completed('c', 30 * SECOND), completed('b', 40 * SECOND), started('d', 40 * SECOND)],
  [completed('d', 50 * SECOND), ended(52 * SECOND, { counts: { ...done, completed: 4 } })],
);
/** a 0-100 s, then b 100-400 s: nothing at once, W = L. */
export const CHAIN = figuresOf(
  [...created(['a', 'b'], ['a>b']), started('a', 0)],
  [completed('a', 100 * SECOND), started('b', 100 * SECOND)],
  [completed('b', 400 * SECOND), ended(400 * SECOND, { counts: { ...done, completed: 2 } })],
);
/** a fails after 20 s, b never begins. */
export const FAILED = figuresOf(
  [...created(['a', 'b'], ['a>b']), started('a', 0)],
  [
    failed('a', 20 * SECOND),
    skipped('b', 20 * SECOND),
    ended(20 * SECOND, { outcome: 'partially_failed', counts: { ...done, failed: 1, skipped: 1 } }),
  ],
);
/** Cancelled before anything began. */
export const CANCELLED = figuresOf(created(['a']), [
  cancelled('a', 5 * SECOND, 0),
  {
    type: 'RUN_CANCELLED',
    data: { by: ops, reason: 'enough', counts: { ...done, cancelled: 1 }, cancelledAt: at(5 * SECOND) },
  },
]);
/** a fails at 10 s and is tried again 12-20 s on another device: W = 10 + 8, L = 8. */
export const RETRIED = figuresOf(
  [...created(['a']), started('a', 0)],
  [failed('a', 10 * SECOND), reopened('a', 12 * SECOND)],
  [started('a', 12 * SECOND, 2, 'db-1')],
  [completed('a', 20 * SECOND, 2), ended(21 * SECOND, { counts: { ...done, completed: 1 } })],
);
const constellation = { name: 'planned', tasks: [star('a')], lines: [] };
/** Created by a planner within 16 s, edited twice (8 s: a task and a line more; 4 s: nothing), given up once (2 s). */
const EDITED_FACTS: RunEvent[] = [
  requested(null, 'a goal'),
  opened('e1', 0, 'creation'),
  edited(16 * SECOND, [{ tool: 'build_constellation', constellation, clear: true }], 'e1'),
  started('a', 16 * SECOND),
  completed('a', 36 * SECOND),
  opened('e2', 36 * SECOND),
  modified(44 * SECOND, {
    origin: 'planner',
    editId: 'e2',
    edits: [
      { tool: 'add_task', task: star('b') },
      { tool: 'add_dependency', line: { id: 'a-b', from: 'a', to: 'b', type: 'unconditional' } },
    ],
    used: { ...NO_USAGE, llmCalls: 2, tokens: 700, costUsd: 0.03 },
  }),
  started('b', 44 * SECOND),
  completed('b', 64 * SECOND),
  opened('e3', 64 * SECOND),
  modified(68 * SECOND, { origin: 'planner', editId: 'e3', edits: [] }),
  opened('e4', 68 * SECOND),
  abandoned('e4', 70 * SECOND),
  ended(70 * SECOND, { counts: { ...done, completed: 2 } }),
];
export const EDITED = figuresOf(EDITED_FACTS);
