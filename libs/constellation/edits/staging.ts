import {
  filesTaken,
  inputTask,
  type LineId,
  stdinSources,
  type Target,
  type TaskId,
  type TaskStar,
  type TaskStarLine,
} from '#proto';
import { buildGraph, type Graph, LINE_KINDS, positionOf } from '../plan/index.js';
import { PersistentArray, sameJson } from '../values/index.js';
import {
  deadlineOf,
  JUDGED_NEVER,
  type LineState,
  needOf,
  pendingTask,
  type Run,
  type TaskState,
} from '../state/index.js';

/** The parts of a run that an edit may change. */
export type Shape = Pick<Run, 'graph' | 'tasks' | 'lines' | 'usedIds'>;

/** `at`: when the edit is made, in milliseconds since the epoch. `judged`: a model may have written it, or somebody who is no operator. */
export interface MadeEdit {
  readonly at: number;
  readonly judged: boolean;
}

/**
 * A copy of a constellation while a batch of edits is applied to it: private to the batch, so nothing of it is seen unless
 * all of it holds. Adding and changing cost what they touch; a batch that removes something costs one pass at its end.
 * It applies what it is told: whether an edit is allowed is asked before.
 */
export class Staging {
  #graph: Graph;
  #tasks: PersistentArray<TaskState>;
  #lines: PersistentArray<LineState>;
  readonly #usedIds: Set<string>;
  readonly #made: MadeEdit;
  /** As it was: positions stay while a batch is applied. */
  readonly #before: Pick<Run, 'graph' | 'tasks'>;
  /** Positions that were added or changed; of lines, those that have to be judged anew. */
  readonly touchedTasks = new Set<number>();
  readonly openedLines = new Set<number>();
  /** Positions of tasks that are new, or were given another target. */
  readonly directedTasks = new Set<number>();
  readonly #removedTasks = new Set<number>();
  readonly #removedLines = new Set<number>();
  changed = false;

  constructor({ graph, tasks, lines, usedIds }: Shape, made: MadeEdit) {
    this.#graph = graph;
    this.#before = { graph, tasks };
    this.#tasks = tasks;
    this.#lines = lines;
    this.#usedIds = new Set(usedIds);
    this.#made = made;
  }

  /** The structure as it stands, removed parts included: they have no lines any more. */
  get graph(): Graph {
    return this.#graph;
  }

  get counts(): { readonly tasks: number; readonly lines: number } {
    return {
      tasks: this.#tasks.length - this.#removedTasks.size,
      lines: this.#lines.length - this.#removedLines.size,
    };
  }

  rename(name: string): void {
    if (name === this.#graph.name) return;
    this.#graph = { ...this.#graph, name };
    this.changed = true;
  }

  /** There was a task of this id, and it was removed. */
  wasTask(id: TaskId): boolean {
    return this.#usedIds.has(id);
  }

  wasLine(id: LineId): boolean {
    return this.#usedIds.has(removedLine(id));
  }

  positionOfTask(id: TaskId): number | undefined {
    const index = this.#graph.taskIndex.get(id);
    return index === undefined || this.#removedTasks.has(index) ? undefined : index;
  }

  task(index: number): TaskState {
    return this.#tasks.at(index);
  }

  positionOfLine(id: LineId): number | undefined {
    const index = this.#graph.lineIndex.get(id);
    return index === undefined || this.#removedLines.has(index) ? undefined : index;
  }

  line(index: number): TaskStarLine {
    return this.#graph.lines.at(index);
  }

  *taskPositions(): Generator<number> {
    for (let index = 0; index < this.#tasks.length; index++) if (!this.#removedTasks.has(index)) yield index;
  }

  *linePositions(): Generator<number> {
    for (let index = 0; index < this.#lines.length; index++) if (!this.#removedLines.has(index)) yield index;
  }

  addTask(star: TaskStar): void {
    const { taskIds, taskIndex, linesFrom, linesInto } = this.#graph;
    const index = taskIds.length;
    this.#graph = {
      ...this.#graph,
      taskIds: taskIds.push(star.id),
      taskIndex: taskIndex.with(star.id, index),
      linesFrom: linesFrom.push([]),
      linesInto: linesInto.push([]),
    };
    const { at, judged } = this.#made;
    this.#tasks = this.#tasks.push({
      ...pendingTask(star, at),
      judged,
      vouched: !judged && star.replaces !== undefined,
    });
    this.directedTasks.add(index);
    this.#touch(index);
  }

  updateTask(index: number, star: TaskStar): void {
    const before = this.#tasks.at(index);
    const { at, judged } = this.#made;
    const deadlineAt = star.deadlineMs === before.star.deadlineMs ? before.deadlineAt : deadlineOf(star, at);
    const isDirected = !sameJson(before.star.target, star.target);
    if (isDirected) this.directedTasks.add(index);
    // What a person wrote for one device is not what a model makes of it on another one. The mark stays: who changes a part
    // of it later has not read the rest.
    const isJudged = before.judged || (judged && (isDirected || runsOtherwise(before.star, star)));
    const isSame = sameJson(before.star.replaces, star.replaces);
    // What a person agreed to is not what a model makes of it afterwards.
    const isVouched = isSame ? before.vouched && !(judged && doesOtherwise(before.star, star)) : !judged;
    const vouched = isVouched && star.replaces !== undefined;
    const need = needOf(star);
    const after = { ...before, star, need, deadlineAt, judged: isJudged, vouched };
    // Other devices may take it now: it has not waited for them yet.
    const isElsewhere = need !== before.need && after.status === 'PENDING';
    this.#tasks = this.#tasks.with(index, isElsewhere ? { ...after, deviceWait: null } : after);
    this.#touch(index);
  }

  /** A person agrees that it stands for what it replaces, whatever has become of it by now. */
  vouch(index: number): void {
    this.#tasks = this.#tasks.with(index, { ...this.#tasks.at(index), vouched: true });
    this.#touch(index);
  }

  /** Its lines are removed before. */
  removeTask(index: number): void {
    this.#removedTasks.add(index);
    this.#usedIds.add(this.#graph.taskIds.at(index));
    this.changed = true;
  }

  addLine(line: TaskStarLine): void {
    const { lines, lineIndex, linesFrom, linesInto, taskIndex } = this.#graph;
    const index = lines.length;
    const [from, to] = [positionOf(taskIndex, line.from), positionOf(taskIndex, line.to)];
    this.#graph = {
      ...this.#graph,
      lines: lines.push(line),
      lineIndex: lineIndex.with(line.id, index),
      linesFrom: linesFrom.with(from, linesFrom.at(from).concat(index)),
      linesInto: linesInto.with(to, linesInto.at(to).concat(index)),
    };
    this.#lines = this.#lines.push(JUDGED_NEVER);
    this.openedLines.add(index);
    this.#count(to, undefined, null);
  }

  updateLine(index: number, line: TaskStarLine): void {
    const before = this.#graph.lines.at(index);
    const { satisfied: was } = this.#lines.at(index);
    this.#graph = { ...this.#graph, lines: this.#graph.lines.with(index, line) };
    if (before.type !== line.type || before.condition !== line.condition) {
      this.#lines = this.#lines.with(index, JUDGED_NEVER);
      this.openedLines.add(index);
    }
    this.#count(positionOf(this.#graph.taskIndex, line.to), was, this.#lines.at(index).satisfied);
  }

  removeLine(index: number): void {
    const { linesFrom, linesInto, lines, taskIndex } = this.#graph;
    const { id, from, to } = lines.at(index);
    const [source, target] = [positionOf(taskIndex, from), positionOf(taskIndex, to)];
    const others = (position: number) => position !== index;
    this.#graph = {
      ...this.#graph,
      linesFrom: linesFrom.with(source, linesFrom.at(source).filter(others)),
      linesInto: linesInto.with(target, linesInto.at(target).filter(others)),
    };
    this.#removedLines.add(index);
    this.openedLines.delete(index);
    this.#usedIds.add(removedLine(id));
    this.#count(target, this.#lines.at(index).satisfied, undefined);
  }

  /** Where the edit lets tasks run. */
  directed(): Target[] {
    const directed = [...this.directedTasks].filter((index) => !this.#removedTasks.has(index));
    return directed.map((index) => this.#tasks.at(index).star.target);
  }

  /** The constellation afterwards. `moved` says where each task was before, when removals have moved them. */
  finish(): { readonly shape: Shape; readonly moved: ReadonlyMap<number, number> | null } {
    if (this.#made.judged) this.#judgeFollowers();
    const usedIds = this.#usedIds;
    if (this.#removedTasks.size === 0 && this.#removedLines.size === 0) {
      return { shape: { graph: this.#graph, tasks: this.#tasks, lines: this.#lines, usedIds }, moved: null };
    }
    const kept = [...this.taskPositions()];
    const keptLines = [...this.linePositions()];
    const graph = buildGraph({
      name: this.#graph.name,
      taskIds: kept.map((index) => this.#graph.taskIds.at(index)),
      lines: keptLines.map((index) => this.#graph.lines.at(index)),
    });
    const tasks = PersistentArray.from(kept.map((index) => this.#tasks.at(index)));
    const lines = PersistentArray.from(keptLines.map((index) => this.#lines.at(index)));
    return { shape: { graph, tasks, lines, usedIds }, moved: new Map(kept.map((was, index) => [was, index])) };
  }

  /**
   * What a person wrote runs where a person said: after that check, over that input. So it is judged, too, when a model has
   * rewritten what it reads from or what has to succeed before it, or has taken such a condition away; and what follows on that.
   */
  #judgeFollowers(): void {
    const open = [...this.touchedTasks].filter((index) => index < this.#before.tasks.length);
    const seeds = open.filter((index) => this.#isRewritten(index) || this.#isLoosened(index));
    const judged = new Set(seeds.filter((index) => this.#isLoosened(index)));
    const seen = new Set(seeds);
    for (const index of seeds) {
      const from = this.#graph.taskIds.at(index);
      for (const position of this.#graph.linesFrom.at(index)) {
        const { to, type } = this.#graph.lines.at(position);
        const follower = positionOf(this.#graph.taskIndex, to);
        if (!LINE_KINDS[type].asks && !reads(this.#tasks.at(follower).star, from)) continue;
        judged.add(follower);
        if (seen.has(follower)) continue;
        seen.add(follower);
        seeds.push(follower);
      }
    }
    for (const index of judged) this.#tasks = this.#tasks.with(index, { ...this.#tasks.at(index), judged: true });
  }

  #isRewritten(index: number): boolean {
    const [{ star: before }, { star: after }] = [this.#before.tasks.at(index), this.#tasks.at(index)];
    return doesOtherwise(before, after);
  }

  /** It had to wait for something for which it has to wait no more. */
  #isLoosened(index: number): boolean {
    const { graph } = this.#before;
    const guards = (of: Graph) => of.linesInto.at(index).map((position) => of.lines.at(position));
    const now = guards(this.#graph);
    const holds = ({ from, type, condition }: TaskStarLine): boolean =>
      now.some((line) => line.from === from && line.type === type && line.condition === condition);
    return !guards(graph).every(holds);
  }

  #touch(index: number): void {
    this.touchedTasks.add(index);
    this.changed = true;
  }

  /** A line into a task was, and is now; undefined when it was not there, or is not any more. */
  #count(target: number, was: boolean | null | undefined, is: boolean | null | undefined): void {
    const task = this.#tasks.at(target);
    this.#tasks = this.#tasks.with(target, {
      ...task,
      linesOpen: task.linesOpen - Number(was === null) + Number(is === null),
      linesUnsatisfied: task.linesUnsatisfied - Number(was === false) + Number(is === false),
    });
    this.#touch(target);
  }
}

function runsOtherwise(before: TaskStar, after: TaskStar): boolean {
  // That it may run twice is a word about the command, and lets it run again when nobody knows whether it did.
  const isRepeated = after.idempotent === true && before.idempotent !== true;
  // A script among its files is not the one that its author saw.
  const isBrought = !sameJson(before.files, after.files);
  const isWider = !sameJson(before.forEach, after.forEach);
  // Commands read what stands on the board under a name, and who chooses the name chooses what they read.
  const isNamed = !sameJson(before.board, after.board);
  if (isRepeated || isBrought || isWider || isNamed) return true;
  return !sameJson(before.command, after.command) || !sameJson(before.verify, after.verify);
}

/** Of an agent its words are what it does. */
function doesOtherwise(before: TaskStar, after: TaskStar): boolean {
  const does = ({ name, description, tips, inputs, target, command, verify, files, board, forEach }: TaskStar) =>
    command === undefined
      ? { name, description, tips, inputs, target, verify, files, board, forEach }
      : { target, command, verify, files, board, forEach };
  return !sameJson(does(before), does(after));
}

/** An agent reads, too, but what it makes of it is its own, and its commands are judged anyway. */
function reads({ command, files }: TaskStar, from: TaskId): boolean {
  if (command !== undefined && files?.in?.some((input) => filesTaken(input).from === from) === true) return true;
  return stdinSources(command).some((input) => inputTask(input) === from);
}

/** Lines and tasks may have the same ids; no id has a colon. */
function removedLine(id: LineId): string {
  return `line:${id}`;
}

/** A constellation all of whose tasks are new. */
export function shapeOf(
  { name, tasks, lines }: { name: string; tasks: readonly TaskStar[]; lines: readonly TaskStarLine[] },
  { at, judged }: MadeEdit,
): Shape {
  const graph = buildGraph({ name, taskIds: tasks.map(({ id }) => id), lines });
  const states = tasks.map((star, index) => ({
    ...pendingTask(star, at),
    judged,
    vouched: star.replaces !== undefined,
    linesOpen: graph.linesInto.at(index).length,
  }));
  return {
    graph,
    tasks: PersistentArray.from<TaskState>(states),
    lines: PersistentArray.from<LineState>(lines.map(() => JUDGED_NEVER)),
    usedIds: new Set(),
  };
}
