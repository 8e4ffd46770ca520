import type { Edit, LineId, TaskConstellation, TaskId, TaskStar, TaskStarLine } from '#proto';
import type { Successors } from '../plan/index.js';
import { sameJson } from '../values/index.js';

/** What one edit may change (paper table 3). */
export type PlanChange =
  | 'addedTasks'
  | 'removedTasks'
  | 'modifiedTasks'
  | 'addedDependencies'
  | 'removedDependencies'
  | 'modifiedDependencies';

export interface ConstellationSize {
  readonly tasks: number;
  readonly lines: number;
}

/** The constellation as far as it takes to say what an edit changed; kept by one walk over the events of a run. */
export class MeasuredPlan {
  readonly #tasks = new Map<TaskId, { readonly star: TaskStar; readonly pending: boolean }>();
  readonly #lines = new Map<LineId, TaskStarLine>();
  /** Of tasks on several devices what ran, or runs, in each wave. */
  readonly #waves = new Map<TaskId, (readonly TaskId[])[]>();

  get size(): ConstellationSize {
    return { tasks: this.#tasks.size, lines: this.#lines.size };
  }

  structure(): { ids: TaskId[]; successors: Successors } {
    const ids = [...this.#tasks.keys()];
    const positions = new Map(ids.map((id, position) => [id, position]));
    const successors: number[][] = ids.map(() => []);
    for (const { from, to } of this.#lines.values()) {
      const target = positions.get(to);
      if (target !== undefined) successors[positions.get(from) ?? -1]?.push(target);
    }
    return { ids, successors };
  }

  /** The same with a task on several devices as often as it has devices at a time. */
  widened(): Successors {
    const { ids, successors } = this.structure();
    const copies = ids.map((id) => Math.max(1, ...this.wavesOf(id).map(({ length }) => length)));
    const wide = ids.map((): number[] => []);
    const copiesAt = copies.map((count, position) => [
      position,
      ...Array.from({ length: count - 1 }, () => wide.push([]) - 1),
    ]);
    for (const [position, targets] of successors.entries()) {
      const reached = targets.flatMap((target) => copiesAt[target] ?? []);
      for (const copy of copiesAt[position] ?? []) wide[copy] = reached;
    }
    return wide;
  }

  wavesOf(id: TaskId): readonly (readonly TaskId[])[] {
    return this.#waves.get(id) ?? [];
  }

  startWave(id: TaskId, parts: readonly TaskId[]): void {
    this.#waves.set(id, [...this.wavesOf(id), parts]);
    this.settle(id, false);
  }

  addTask(star: TaskStar, pending: boolean): void {
    this.#tasks.set(star.id, { star, pending });
  }

  addLine(line: TaskStarLine): void {
    this.#lines.set(line.id, line);
  }

  settle(id: TaskId, pending: boolean): void {
    const task = this.#tasks.get(id);
    // What has begun on some of its devices is changed by no edit, also when the others are tried again.
    const isPending = pending && !this.#waves.has(id);
    if (task !== undefined && task.pending !== isPending) this.#tasks.set(id, { ...task, pending: isPending });
  }

  /** Changes what a recorded edit changed, and says what that was. */
  apply(edit: Edit): PlanChange[] {
    switch (edit.tool) {
      case 'add_task':
        return this.#putTask(edit.task);
      case 'remove_task':
        return this.#removeTask(edit.taskId);
      case 'update_task': {
        const task = this.#tasks.get(edit.taskId);
        return task === undefined ? [] : this.#putTask(changed(task.star, edit.change));
      }
      case 'add_dependency':
        return this.#putLine(edit.line);
      case 'remove_dependency':
        return this.#removeLine(edit.lineId);
      case 'update_dependency': {
        const line = this.#lines.get(edit.lineId);
        const { type = line?.type } = edit.change;
        const change = type === 'conditional' ? edit.change : { ...edit.change, condition: null };
        return line === undefined ? [] : this.#putLine(changed(line, change));
      }
      case 'build_constellation':
        return this.#build(edit.constellation, edit.clear);
    }
  }

  #build({ tasks, lines }: TaskConstellation, clear: boolean): PlanChange[] {
    const cleared = clear ? this.#clear(new Set(tasks.map(({ id }) => id)), new Set(lines.map(({ id }) => id))) : [];
    return [
      ...cleared,
      ...tasks.flatMap((task) => this.#putTask(task)),
      ...lines.flatMap((line) => this.#putLine(line)),
    ];
  }

  /** Only what is PENDING gives way to a new plan: tasks, and lines into such tasks. */
  #clear(taskIds: ReadonlySet<TaskId>, lineIds: ReadonlySet<LineId>): PlanChange[] {
    const tasks = [...this.#tasks].flatMap(([id, { pending }]) => (pending && !taskIds.has(id) ? [id] : []));
    const lines = [...this.#lines.values()].filter(
      ({ id, to }) => !lineIds.has(id) && this.#tasks.get(to)?.pending === true,
    );
    return [...lines.flatMap(({ id }) => this.#removeLine(id)), ...tasks.flatMap((id) => this.#removeTask(id))];
  }

  #putTask(star: TaskStar): PlanChange[] {
    const before = this.#tasks.get(star.id);
    this.#tasks.set(star.id, { star, pending: before?.pending ?? true });
    if (before === undefined) return ['addedTasks'];
    return sameJson(before.star, star) ? [] : ['modifiedTasks'];
  }

  #removeTask(id: TaskId): PlanChange[] {
    if (!this.#tasks.delete(id)) return [];
    const lines = [...this.#lines.values()].filter(({ from, to }) => from === id || to === id);
    return ['removedTasks', ...lines.flatMap((line) => this.#removeLine(line.id))];
  }

  #putLine(line: TaskStarLine): PlanChange[] {
    const before = this.#lines.get(line.id);
    this.#lines.set(line.id, line);
    if (before === undefined) return ['addedDependencies'];
    return sameJson(before, line) ? [] : ['modifiedDependencies'];
  }

  #removeLine(id: LineId): PlanChange[] {
    return this.#lines.delete(id) ? ['removedDependencies'] : [];
  }
}

/** An absent field stays as it is, null takes one away. */
function changed<T extends object>(before: T, change: object): T {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const fields = Object.entries({ ...before, ...Object.fromEntries(given) }).filter(([, value]) => value !== null);
  return Object.fromEntries(fields) as T;
}
