import {
  type Edit,
  type EditViolation,
  LIMITS,
  type LineResult,
  inputTask,
  type TaskChange,
  type TaskConstellation,
  type TaskInput,
  type TaskStar,
  type TaskStarLine,
} from '#proto';
import {
  answererOf,
  checkForEach,
  findCycleThrough,
  checkCondition,
  checkFiles,
  type Judge,
  checkSelector,
  checkVerification,
  type TaskEnding,
  listOfIds,
  parseStdin,
  PatternCount,
  sourceOf,
  STDIN_FORMS,
  takesOutputs,
  targetOf,
  unknownField,
} from '../plan/index.js';
import { mayChangeLine, mayChangeTask } from './edit-locality.js';
import { judgeLine, isTerminalTask, type Run } from '../state/index.js';
import { inherited } from './replacement.js';
import { sameJson } from '../values/index.js';
import { type MadeEdit, Staging } from './staging.js';

/** Nobody reads more. */
export const VIOLATIONS_MAX = 20;

export type Applied =
  | {
      readonly ok: true;
      readonly staging: Staging;
      /** New or changed lines whose predecessor has ended: they are judged before the edit is decided. */
      readonly owed: readonly OwedLine[];
      /** Where in the batch each task stands that was added or given another definition. */
      readonly defined: ReadonlyMap<number, string>;
    }
  | { readonly ok: false; readonly violations: readonly EditViolation[] };

export interface OwedLine {
  readonly line: TaskStarLine;
  readonly ending: TaskEnding;
  /** Where in the batch it stands. */
  readonly path: string;
}

/**
 * Applies a batch of edits to the constellation of a run, all or nothing (paper section 5.3). Each primitive is idempotent:
 * what is so already is no change. Every violation says where in the batch it is and what would be valid. Needs nothing of
 * the fleet. `at`: when the edit is made, in milliseconds since the epoch. `judged`: a model may have written it.
 */
export function applyEdits(run: Run, edits: readonly Edit[], at: number, judged = false): Applied {
  return new Batch(run, { at, judged }, new PatternCount()).applyAll(edits);
}

/**
 * The same for a recorded batch: it was judged before it was recorded, so a violation means that log and code disagree. Its
 * conditions are not looked at: what was valid then stays what it was.
 */
export function applyRecorded(run: Run, edits: readonly Edit[], at: number, judged = false): Applied {
  return new Batch(run, { at, judged }, null).applyAll(edits);
}

export function stageRecorded(run: Run, edits: readonly Edit[], { at, judged }: MadeEdit): Staging {
  const applied = applyRecorded(run, edits, at, judged);
  if (applied.ok) return applied.staging;
  throw new Error(`a recorded edit cannot be applied: ${applied.violations[0]?.message ?? ''}`);
}

/** What the lines come to that an edit puts behind tasks that have ended. What has to be found out first is left out. */
export function judgeOwed({ owed }: Extract<Applied, { ok: true }>, judge: Judge): LineResult[] {
  return owed.flatMap(({ line, ending }) => judgeLine(line, ending, judge) ?? []);
}

/** An author of such a line still can say something that can be judged. */
export function undecidedOwed(
  { owed }: Extract<Applied, { ok: true }>,
  judged: readonly LineResult[],
): EditViolation[] {
  const results = new Map(judged.map((result) => [result.id, result]));
  return owed.flatMap(({ line, path }): EditViolation[] => {
    const { undecided, reason = '' } = results.get(line.id) ?? {};
    if (undecided !== true) return [];
    const message = `nobody can say whether the condition of line "${line.id}" holds: ${reason}; "${line.from}" has ended with the result it has`;
    return [{ code: 'INVALID_CONDITION', path: `${path}.condition`, message }];
  });
}

class Batch {
  readonly #staging: Staging;
  readonly #judged: boolean;
  readonly #violations: EditViolation[] = [];
  readonly #defined = new Map<number, string>();
  readonly #linePaths = new Map<number, string>();
  /** Null: the conditions are taken as they are. */
  readonly #patterns: PatternCount | null;

  constructor(run: Run, made: MadeEdit, patterns: PatternCount | null) {
    this.#staging = new Staging(run, made);
    this.#judged = made.judged;
    this.#patterns = patterns;
  }

  applyAll(edits: readonly Edit[]): Applied {
    edits.forEach((edit, index) => this.apply(edit, `edits[${index}]`));
    return this.end();
  }

  apply(edit: Edit, path: string): void {
    switch (edit.tool) {
      case 'add_task':
        return this.#addTask(edit.task, `${path}.task`);
      case 'remove_task':
        return this.#removeTask(edit.taskId, `${path}.taskId`);
      case 'update_task':
        return this.#updateTask(edit.taskId, edit.change, path);
      case 'add_dependency':
        return this.#addLine(edit.line, `${path}.line`);
      case 'remove_dependency':
        return this.#removeLine(edit.lineId, `${path}.lineId`);
      case 'update_dependency': {
        const index = this.#staging.positionOfLine(edit.lineId);
        if (index === undefined) return this.#unknownLine(edit.lineId, `${path}.lineId`);
        const { type, condition, description } = edit.change;
        const before = this.#staging.line(index);
        return this.#replaceLine(
          index,
          without({
            ...before,
            ...(type === undefined ? {} : { type, condition: type === 'conditional' ? before.condition : null }),
            ...(condition === undefined ? {} : { condition }),
            ...(description === undefined ? {} : { description }),
          }),
          `${path}.change`,
        );
      }
      case 'build_constellation':
        return this.#build(edit.constellation, edit.clear, `${path}.constellation`);
    }
  }

  end(): Applied {
    const staging = this.#staging;
    this.#checkSize();
    const cycle = findCycleThrough(staging.graph, staging.openedLines);
    if (cycle !== undefined) {
      const path = [...cycle, cycle[0]].join(' -> ');
      this.#refuse('I2_ACYCLIC', 'edits', `the lines would form a cycle: ${path}; a constellation must be acyclic`);
    }
    for (const index of staging.touchedTasks) this.#checkInputs(index);
    this.#checkReaders();
    for (const [index, path] of this.#defined) {
      this.#checkConditions(index, path);
      this.#checkReplaced(index, path);
    }
    this.#checkTypes();
    if (this.#violations.length > 0) return { ok: false, violations: this.#violations.slice(0, VIOLATIONS_MAX) };
    return { ok: true, staging, owed: this.#owed(), defined: this.#defined };
  }

  #owed(): OwedLine[] {
    const staging = this.#staging;
    return [...staging.openedLines].flatMap((index): OwedLine[] => {
      const line = staging.line(index);
      const { status, result } = staging.task(staging.positionOfTask(line.from) ?? -1);
      if (!isTerminalTask(status)) return [];
      return [{ line, ending: { status, result }, path: this.#linePaths.get(index) ?? 'edits' }];
    });
  }

  #addTask(given: TaskStar, path: string): void {
    const star = this.#heldTo(given, path);
    const index = this.#staging.positionOfTask(star.id);
    if (index === undefined) {
      if (this.#staging.wasTask(star.id)) return this.#used(star.id, `${path}.id`);
      this.#staging.addTask(star);
      this.#defined.set(this.#staging.positionOfTask(star.id) ?? -1, path);
      return;
    }
    if (sameJson(this.#staging.task(index).star, star)) return;
    this.#refuse('DUPLICATE_ID', `${path}.id`, `there is a task "${star.id}" already; use update_task or another id`);
  }

  #removeTask(taskId: string, path: string): void {
    const staging = this.#staging;
    const index = staging.positionOfTask(taskId);
    if (index === undefined) {
      if (staging.wasTask(taskId)) return; // removed before
      return this.#unknownTask(taskId, path);
    }
    const why = mayChangeTask(staging.task(index));
    if (why !== undefined) return this.#refuse('I3_ONLY_PENDING', path, why);
    const { linesFrom, linesInto } = staging.graph;
    for (const line of [...linesInto.at(index), ...linesFrom.at(index)]) this.#removeLine(staging.line(line).id, path);
    if (staging.graph.linesFrom.at(index).length === 0) staging.removeTask(index);
  }

  #updateTask(taskId: string, change: TaskChange, path: string): void {
    const index = this.#staging.positionOfTask(taskId);
    if (index === undefined) return this.#unknownTask(taskId, `${path}.taskId`);
    const given = Object.entries(change).filter(([, value]) => value !== undefined);
    this.#vouch(index, change);
    this.#define(index, without({ ...this.#staging.task(index).star, ...Object.fromEntries(given) }), {
      path: `${path}.change`,
      idPath: `${path}.taskId`,
    });
  }

  #define(index: number, given: TaskStar, { path, idPath }: { path: string; idPath: string }): void {
    const before = this.#staging.task(index);
    const star = this.#heldTo(given, path);
    if (sameJson(before.star, star)) return;
    const why = mayChangeTask(before);
    if (why !== undefined) return this.#refuse('I3_ONLY_PENDING', idPath, why);
    this.#staging.updateTask(index, star);
    this.#defined.set(index, path);
  }

  #addLine(line: TaskStarLine, path: string): void {
    const staging = this.#staging;
    const index = staging.positionOfLine(line.id);
    if (index !== undefined) {
      if (sameJson(staging.line(index), line)) return;
      const message = `there is a line "${line.id}" already; use update_dependency or another id`;
      return this.#refuse('DUPLICATE_ID', `${path}.id`, message);
    }
    const [from, to] = [staging.positionOfTask(line.from), staging.positionOfTask(line.to)];
    if (from === undefined) this.#unknownTask(line.from, `${path}.from`);
    if (to === undefined) return this.#unknownTask(line.to, `${path}.to`);
    const why = mayChangeLine(line, staging.task(to));
    if (why !== undefined) return this.#refuse('I3_ONLY_PENDING', `${path}.to`, why);
    if (from === undefined || !this.#conditionHolds(line, path)) return;
    staging.addLine(line);
    this.#linePaths.set(staging.positionOfLine(line.id) ?? -1, path);
  }

  #removeLine(lineId: string, path: string): void {
    const staging = this.#staging;
    const index = staging.positionOfLine(lineId);
    if (index === undefined) {
      if (staging.wasLine(lineId)) return; // removed before
      return this.#unknownLine(lineId, path);
    }
    const why = this.#whyNotLine(index);
    if (why === undefined) staging.removeLine(index);
    else this.#refuse('I3_ONLY_PENDING', path, why);
  }

  #replaceLine(index: number, line: TaskStarLine, path: string): void {
    if (sameJson(this.#staging.line(index), line)) return;
    const why = this.#whyNotLine(index);
    if (why !== undefined) return this.#refuse('I3_ONLY_PENDING', path, why);
    if ((line.type === 'conditional') !== (line.condition !== undefined)) {
      const message = 'a conditional line needs a condition, and only a conditional line may have one';
      return this.#refuse('INVALID_CONDITION', `${path}.condition`, message);
    }
    if (!this.#conditionHolds(line, path)) return;
    this.#staging.updateLine(index, line);
    this.#linePaths.set(index, path);
  }

  /** What has started stays with the lines that led to it; the rest becomes what is named. */
  #build({ name, tasks, lines }: TaskConstellation, clear: boolean, path: string): void {
    const staging = this.#staging;
    if (clear) {
      staging.rename(name);
      const namedLines = new Set(lines.map(({ id }) => id));
      for (const index of staging.linePositions()) {
        const { id, to } = staging.line(index);
        if (namedLines.has(id) || this.#hasStarted(staging.positionOfTask(to) ?? -1)) continue;
        staging.removeLine(index);
      }
      const named = new Set(tasks.map(({ id }) => id));
      for (const index of staging.taskPositions()) {
        const { id } = staging.task(index).star;
        if (!named.has(id) && !this.#hasStarted(index)) this.#removeTask(id, path);
      }
    }
    this.#checkUnique(tasks, `${path}.tasks`);
    this.#checkUnique(lines, `${path}.lines`);
    tasks.forEach((star, at) => {
      const index = staging.positionOfTask(star.id);
      const taskPath = `${path}.tasks[${at}]`;
      if (index === undefined) this.#addTask(star, taskPath);
      else this.#define(index, star, { path: taskPath, idPath: `${taskPath}.id` });
    });
    lines.forEach((line, at) => {
      const index = staging.positionOfLine(line.id);
      const linePath = `${path}.lines[${at}]`;
      if (index === undefined) return this.#addLine(line, linePath);
      const { from, to } = staging.line(index);
      if (from === line.from && to === line.to) return this.#replaceLine(index, line, linePath);
      this.#removeLine(line.id, linePath);
      if (staging.positionOfLine(line.id) === undefined) this.#addLine(line, linePath);
    });
  }

  /** A task that waits for its next try has: an editor who left it out has seen it run, and the failure came meanwhile. */
  #hasStarted(index: number): boolean {
    const { status, attempt, fanOut, part } = this.#staging.task(index);
    return status !== 'PENDING' || attempt > 0 || fanOut !== null || part !== null;
  }

  /** Else the last of two would silently be the one that counts. */
  #checkUnique(items: readonly { readonly id: string }[], path: string): void {
    const firstAt = new Map<string, number>();
    items.forEach(({ id }, at) => {
      const first = firstAt.get(id);
      if (first === undefined) firstAt.set(id, at);
      else
        this.#refuse('DUPLICATE_ID', `${path}[${at}].id`, `"${id}" is the id of ${path}[${first}] too; ids are unique`);
    });
  }

  #whyNotLine(index: number): string | undefined {
    const line = this.#staging.line(index);
    return mayChangeLine(line, this.#staging.task(this.#staging.positionOfTask(line.to) ?? -1));
  }

  #conditionHolds({ condition }: TaskStarLine, path: string): boolean {
    const wrong = condition === undefined ? undefined : this.#patterns?.check(condition);
    if (wrong === undefined) return true;
    this.#refuse('INVALID_CONDITION', `${path}.condition`, `the condition ${wrong}`);
    return false;
  }

  /** What lines ask of tools whose answers are known, as the batch leaves both. */
  #checkTypes(): void {
    if (this.#patterns === null) return;
    const staging = this.#staging;
    const lines = new Map(this.#linePaths);
    for (const [index, path] of this.#defined) {
      for (const line of staging.graph.linesFrom.at(index)) if (!lines.has(line)) lines.set(line, path);
    }
    for (const [index, path] of lines) {
      const { id, from, condition } = staging.line(index);
      if (condition === undefined || staging.positionOfLine(id) === undefined) continue;
      const answerer = answererOf(staging.task(staging.positionOfTask(from) ?? -1).star);
      const wrong = answerer === undefined ? undefined : checkCondition(condition, answerer);
      const at = this.#linePaths.has(index) ? `${path}.condition` : `${path}.command`;
      if (wrong !== undefined) this.#refuse('INVALID_CONDITION', at, `the condition of line "${id}" ${wrong}`);
    }
  }

  #checkSize(): void {
    const { tasks, lines } = this.#staging.counts;
    if (tasks > LIMITS.tasksMax && this.#staging.changed) {
      this.#refuse('TOO_LARGE', 'edits', `there would be ${tasks} tasks; at most ${LIMITS.tasksMax} are taken`);
    }
    if (lines > LIMITS.linesMax && this.#staging.changed) {
      this.#refuse('TOO_LARGE', 'edits', `there would be ${lines} lines; at most ${LIMITS.linesMax} are taken`);
    }
  }

  /** A task may take the outputs of its direct predecessors only: those are there when it starts. */
  #checkInputs(index: number): void {
    const staging = this.#staging;
    const { star, status } = staging.task(index);
    if (status !== 'PENDING' || staging.positionOfTask(star.id) === undefined) return;
    // A line that went away is what is wrong then, wherever in the batch that was.
    const defined = this.#defined.get(index);
    const at = (field: string) => (defined === undefined ? 'edits' : `${defined}.${field}`);
    if (star.inputs !== undefined) this.#checkPredecessors(index, star.inputs, at('inputs'));
    this.#checkFiles(index, at);
    const stdin = star.command?.arguments['stdin'];
    if (!takesOutputs(stdin)) return;
    const path = at('command.arguments.stdin');
    const parsed = parseStdin(stdin);
    if (parsed.ok) this.#checkPredecessors(index, parsed.value.from, path);
    else if (parsed.at === '') this.#refuse('INVALID_INPUT', path, `the stdin of "${star.id}" is ${STDIN_FORMS}`);
    else this.#refuse('INVALID_INPUT', `${path}${parsed.at}`, parsed.message);
  }

  /** What takes files of a task that leaves others now. */
  #checkReaders(): void {
    const { graph, touchedTasks } = this.#staging;
    for (const [index, path] of this.#defined) {
      const readers = graph.linesFrom.at(index).map((line) => targetOf(graph, line));
      for (const reader of new Set(readers)) {
        const isOpen = !touchedTasks.has(reader) && this.#staging.task(reader).status === 'PENDING';
        if (isOpen) this.#checkFiles(reader, () => `${path}.files`);
      }
    }
  }

  #checkFiles(index: number, at: (field: string) => string): void {
    const { graph } = this.#staging;
    const before = graph.linesInto.at(index).map((line) => {
      const { star } = this.#staging.task(sourceOf(graph, line));
      return [star.id, star] as const;
    });
    for (const { path, message } of checkFiles(this.#staging.task(index).star, new Map(before)))
      this.#refuse('INVALID_INPUT', at(path), message);
  }

  #checkPredecessors(index: number, taken: readonly TaskInput[], path: string): void {
    const { graph } = this.#staging;
    const before = graph.linesInto.at(index).map((line) => graph.lines.at(line).from);
    for (const input of taken) {
      const source = this.#staging.positionOfTask(inputTask(input));
      const unknown = source === undefined ? undefined : unknownField(input, this.#staging.task(source).star);
      if (unknown !== undefined) return this.#refuse('INVALID_INPUT', path, unknown);
    }
    const stranger = taken.map(inputTask).find((id) => !before.includes(id));
    if (stranger === undefined) return;
    const id = graph.taskIds.at(index);
    const message = `"${id}" takes the output of "${stranger}", which is not its predecessor; those are ${listOfIds(before)}`;
    this.#refuse('INVALID_INPUT', path, message);
  }

  #checkConditions(index: number, path: string): void {
    if (this.#patterns === null) return;
    const { star } = this.#staging.task(index);
    const wrong = checkVerification(star, this.#patterns);
    if (wrong !== undefined) this.#refuse('INVALID_CONDITION', `${path}.verify.condition`, wrong);
    const where = checkSelector(star, this.#patterns);
    if (where !== undefined) this.#refuse('INVALID_CONDITION', `${path}.target.where`, where);
    const forEach = checkForEach(star);
    if (forEach !== undefined) this.#refuse('INVALID_INPUT', `${path}.forEach`, forEach);
  }

  /** Who says once more what a task replaces agrees to it, also when it has run. */
  #vouch(index: number, { replaces }: TaskChange): void {
    const { star, vouched } = this.#staging.task(index);
    const isAgreed = !this.#judged && replaces !== undefined && replaces !== null && sameJson(star.replaces, replaces);
    if (isAgreed && !vouched) this.#staging.vouch(index);
  }

  /** What a model puts in the place of another task has to meet what that one had to meet. */
  #heldTo(star: TaskStar, path: string): TaskStar {
    if (!this.#judged || star.replaces === undefined) return star;
    const replaced = star.replaces.flatMap((id) => this.#staging.positionOfTask(id) ?? []);
    const held = inherited(
      star,
      replaced.map((index) => this.#staging.task(index).star),
    );
    if (held.ok) return held.star;
    this.#refuse('INVALID_INPUT', `${path}.verify`, held.message);
    return star;
  }

  #checkReplaced(index: number, path: string): void {
    const { star } = this.#staging.task(index);
    for (const [at, id] of (star.replaces ?? []).entries()) {
      if (id === star.id) this.#refuse('INVALID_INPUT', `${path}.replaces[${at}]`, `"${id}" cannot replace itself`);
      else if (this.#staging.positionOfTask(id) === undefined) this.#unknownTask(id, `${path}.replaces[${at}]`);
    }
    // One that was defined further down had no check yet when this one was held to it.
    if (this.#violations.length === 0 && !sameJson(this.#heldTo(star, path), star)) {
      const message = `"${star.id}" replaces what is defined after it in this batch; define it last`;
      this.#refuse('INVALID_INPUT', `${path}.replaces`, message);
    }
  }

  #unknownTask(taskId: string, path: string): void {
    if (this.#isToldEnough) return;
    const known = listOfIds([...this.#staging.taskPositions()].map((index) => this.#staging.task(index).star.id));
    this.#refuse('UNKNOWN_TASK', path, `there is no task "${taskId}"; known are ${known}`);
  }

  #unknownLine(lineId: string, path: string): void {
    if (this.#isToldEnough) return;
    const known = listOfIds([...this.#staging.linePositions()].map((index) => this.#staging.line(index).id));
    this.#refuse('UNKNOWN_LINE', path, `there is no line "${lineId}"; known are ${known}`);
  }

  /** Nobody reads more, and saying what is known costs a look at everything. */
  get #isToldEnough(): boolean {
    return this.#violations.length >= VIOLATIONS_MAX;
  }

  #used(id: string, path: string): void {
    this.#refuse('ID_USED', path, `"${id}" was removed before; a task id is never used twice in a run`);
  }

  #refuse(code: EditViolation['code'], path: string, message: string): void {
    this.#violations.push({ code, path, message });
  }
}

/** Fields that are null are removed: absent is how a star and a line say "none". */
function without<T extends object>(value: { readonly [K in keyof T]: T[K] | null }): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null && field !== undefined)) as T;
}
