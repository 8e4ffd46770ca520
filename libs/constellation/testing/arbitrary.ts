import fc from 'fast-check';
import { Edit, type Json, type TaskConstellation } from '#proto';
import type { Input } from '../decide/input.js';
import { add, build, change, completed, constellation, failed, remove } from './given.js';
import type { Run } from '../state/run.js';
import type { TaskState } from '../state/task.js';

/** Random runs, results and edits for properties. Everything is made of numbers, so that a failure shrinks. */

const MINUTE = 60_000;
const NAMES = 'abcdefghi';
const ARROWS = ['->', '=>', '!>', '?result.exit_code == 0>', '?status == "FAILED">'] as const;

/** A random DAG: lines only lead from earlier to later tasks. */
export const plans: fc.Arbitrary<TaskConstellation> = fc
  .record({
    count: fc.integer({ min: 1, max: NAMES.length }),
    edges: fc.array(fc.tuple(fc.nat(8), fc.nat(8), fc.constantFrom(...ARROWS)), { maxLength: 20 }),
    retries: fc.array(fc.record({ attempts: fc.integer({ min: 1, max: 3 }), backoffMs: fc.constantFrom(0, 500) }), {
      maxLength: 9,
    }),
    selectors: fc.array(fc.boolean(), { maxLength: 9 }),
    reviews: fc.array(fc.boolean(), { maxLength: 9 }),
    deadlines: fc.array(fc.constantFrom(null, null, 20_000, 60 * MINUTE), { maxLength: 9 }),
  })
  .map(({ count, edges, retries, selectors, reviews, deadlines }) => {
    const names = NAMES.slice(0, count).split('');
    const seen = new Set<string>();
    const lines = edges.flatMap(([one, other, arrow]) => {
      const [from, to] = [names[Math.min(one, other)], names[Math.max(one, other)]];
      if (from === undefined || to === undefined || from === to || seen.has(from + to)) return [];
      seen.add(from + to);
      return [`${from}${arrow}${to}`];
    });
    const tasks = names.map((id, index) => ({
      id,
      timeoutMs: MINUTE,
      ...(retries[index] === undefined ? {} : { retry: retries[index] }),
      ...(selectors[index] === true ? { target: { os: 'linux' } } : {}),
      ...(reviews[index] === true ? { review: true } : {}),
      ...(typeof deadlines[index] === 'number' ? { deadlineMs: deadlines[index] } : {}),
    }));
    return constellation(tasks, lines);
  });

/** How the running attempt of a task ends; null when it does not yet. */
export function resultOf({ star, attempt }: TaskState, seed: number): Input | null {
  switch (seed % 7) {
    case 0:
      return null;
    case 1:
      return failed(star.id, attempt);
    case 2:
      return failed(star.id, attempt, 'unknown');
    case 3:
      return failedWith(star.id, attempt, { exit_code: 0 });
    case 4:
      return completed(star.id, attempt, { exit_code: 1 });
    default:
      return completed(star.id, attempt);
  }
}

function failedWith(taskId: string, attempt: number, value: Json): Input {
  const input = failed(taskId, attempt);
  if (input.kind !== 'attempt-ended' || input.finished.status !== 'failed') throw new Error('not a failure');
  return { ...input, finished: { status: 'failed', error: { ...input.finished.error, output: { value } } } };
}

/** Numbers out of one: the digits of a seed, so that each of them shrinks by itself. */
function* digits(seed: number): Generator<number, number> {
  for (let rest = seed; ; rest = Math.floor(rest / 7)) yield rest;
}

const NEW_NAMES = ['n1', 'n2', 'n3', 'n4'];

/**
 * A batch of edits of a run as it stands. Most of it is valid: lines lead from smaller to greater names, so they form no
 * cycle, and mostly what is PENDING is touched; the rest touches what has started, or does not exist. `hostile`: nothing of
 * that is heeded.
 */
export function batchOf(run: Run, seeds: readonly number[], hostile = false): Edit[] {
  return seeds.map((seed) => Edit.parse(editOf(run, seed, hostile)));
}

function editOf(run: Run, seed: number, hostile: boolean): unknown {
  const more = digits(Math.floor(seed / 10));
  const pick = <T>(items: readonly T[]): T | undefined => items[(more.next().value ?? 0) % Math.max(1, items.length)];
  const pending = [...run.tasks].filter(({ status }) => status === 'PENDING').map(({ star }) => star.id);
  const all = [...run.tasks].map(({ star }) => star.id);
  const touched = hostile || seed % 9 === 0 ? all : pending;
  const lines = [...run.graph.lines]
    .filter(({ to }) => hostile || seed % 9 === 0 || pending.includes(to))
    .map(({ id }) => id);
  const line = () => {
    const [one, other] = [pick([...all, ...NEW_NAMES]) ?? 'n1', pick([...touched, ...NEW_NAMES]) ?? 'n2'];
    const [from, to] = !hostile && one > other ? [other, one] : [one, other];
    return add.line(`${from}${pick(ARROWS) ?? '->'}${to}`);
  };
  switch (seed % 10) {
    case 0:
      return remove.task(pick(touched) ?? 'n1');
    case 1:
      return remove.line(pick(lines) ?? 'a-b');
    case 2:
      return change.line(pick(lines) ?? 'a-b', {
        type: pick(['unconditional', 'success-only', 'failure-only'] as const) ?? 'success-only',
      });
    case 3:
      return change.task(pick(touched) ?? 'n1', { priority: pick([0, 1, 5]) ?? 0, name: 'changed' });
    case 4:
      return change.task(
        pick(touched) ?? 'n1',
        pick([
          { retry: { attempts: 1, backoffMs: 0 } },
          { retry: { attempts: 2, backoffMs: 0 } },
          { target: { device: 'db-1' } },
          { target: { os: 'linux' } },
          { command: { tool: 'EXEC_CLI', arguments: { command: 'date' } } },
        ]) ?? {},
      );
    case 5:
      return build(partOf(run, pick([1, 2, 3]) ?? 2), (pick([0, 1]) ?? 0) === 0);
    case 6:
    case 7:
      return add.task(pick(NEW_NAMES) ?? 'n1', {
        timeoutMs: MINUTE,
        ...pick([{}, {}, { target: { device: 'db-1' } }, { target: { os: 'linux' } }]),
      });
    default:
      return line();
  }
}

/** Every n-th task as it is, the lines between them, and a new one: what a planner may say of a whole plan. */
function partOf(run: Run, every: number): TaskConstellation {
  const tasks = [...run.tasks].map(({ star }) => star).filter((_, index) => index % every === 0);
  const named = new Set(tasks.map(({ id }) => id));
  const lines = [...run.graph.lines].filter(({ from, to }) => named.has(from) && named.has(to));
  const [added] = constellation([{ id: 'n4', timeoutMs: MINUTE }]).tasks;
  return { name: 'part', tasks: added === undefined || named.has('n4') ? tasks : [...tasks, added], lines };
}

/** A permutation: by the numbers, and those of the same number as they stand. */
export function shuffled<T>(items: readonly T[], seeds: readonly number[]): T[] {
  const key = (index: number) => seeds[index % Math.max(1, seeds.length)] ?? 0;
  return items
    .map((item, index) => ({ item, at: key(index) }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
