import type { Json, TaskConstellation, TaskStar, TaskStarLine } from '#proto';
import { hasPlan, plannedOf, type Run } from '../state/index.js';
import { sameJson } from '../values/index.js';

/** One field of a task or a line that is not what it was; undefined where it is not set. */
export interface FieldChange {
  readonly field: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

export interface ItemsDiff<T> {
  readonly added: readonly T[];
  readonly removed: readonly T[];
  readonly changed: readonly { readonly id: string; readonly fields: readonly FieldChange[] }[];
}

/** What has to be done to one plan to get the other one. */
export interface ConstellationDiff {
  readonly name: { readonly before: string; readonly after: string } | null;
  readonly tasks: ItemsDiff<TaskStar>;
  readonly lines: ItemsDiff<TaskStarLine>;
  readonly isEmpty: boolean;
}

/** Compares definitions by id, whatever became of the tasks. Order counts for nothing. */
export function diffConstellations(before: TaskConstellation, after: TaskConstellation): ConstellationDiff {
  const name = before.name === after.name ? null : { before: before.name, after: after.name };
  const tasks = diffItems(before.tasks, after.tasks);
  const lines = diffItems(before.lines, after.lines);
  const isEmpty = name === null && [tasks, lines].every(isSame);
  return { name, tasks, lines, isEmpty };
}

/** The constellation of a run as it is defined now; null before there is one. */
export function constellationOf({ graph, tasks, revision }: Run): TaskConstellation | null {
  if (!hasPlan({ revision })) return null;
  return { name: graph.name, tasks: plannedOf(tasks), lines: [...graph.lines] };
}

function diffItems<T extends { readonly id: string }>(before: readonly T[], after: readonly T[]): ItemsDiff<T> {
  const was = new Map(before.map((item) => [item.id, item]));
  const is = new Map(after.map((item) => [item.id, item]));
  return {
    added: after.filter(({ id }) => !was.has(id)),
    removed: before.filter(({ id }) => !is.has(id)),
    changed: after.flatMap((item) => {
      const old = was.get(item.id);
      const fields = old === undefined ? [] : fieldsChanged(old, item);
      return fields.length === 0 ? [] : [{ id: item.id, fields }];
    }),
  };
}

function fieldsChanged<T extends object>(before: T, after: T): FieldChange[] {
  const [was, is] = [before, after] as readonly Readonly<Record<string, Json | undefined>>[];
  const fields = [...new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})])];
  return fields.flatMap((field) =>
    sameJson(was?.[field], is?.[field]) ? [] : [{ field, before: was?.[field], after: is?.[field] }],
  );
}

function isSame({ added, removed, changed }: ItemsDiff<unknown>): boolean {
  return added.length + removed.length + changed.length === 0;
}
