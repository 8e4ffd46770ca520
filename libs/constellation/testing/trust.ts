import type { RunEvent, RunEventData, Target, TaskStar, TaskStarLine } from '#proto';
import type { FleetView } from '../edits/fleet-view.js';
import { satisfies } from '../edits/satisfies.js';
import type { Run } from '../state/run.js';

/** What a proposal says of itself when a model wrote it: tests know it by this, whatever became of it. */
export const IMAGINED = { thought: 'a model wrote this' } as const;

/** The same of an edit of somebody who is no operator. */
export const REQUESTED = { thought: 'somebody who is no operator wrote this' } as const;

type Fleet = Pick<FleetView, 'devices'>;

interface Known {
  readonly star: TaskStar;
  readonly isJudged: boolean;
}

/**
 * What may be believed of one run as its events tell it, in the words of the contract and not in those of the core: what a
 * model wrote, or who is no operator, is judged where it starts and goes nowhere but where the plan was made for, nothing starts before a plan is
 * accepted, and the answer hides nothing.
 */
export class TrustAudit {
  readonly #tasks = new Map<string, Known>();
  #lines: readonly TaskStarLine[] = [];
  #scope: Target[] | null = null;
  #isPlanned = false;
  #isGoal = false;
  #isOperators = true;
  #mustWait = false;

  /** What is wrong with the next event; `after` is the run with it. */
  *take(event: RunEvent, after: Run, fleet: Fleet): Generator<string> {
    switch (event.type) {
      case 'RUN_REQUESTED':
        this.#isGoal = event.data.goal !== null;
        this.#isOperators = event.data.judgeCommands !== true;
        this.#mustWait = this.#isGoal && event.data.options.plan === 'approve';
        return;
      case 'RUN_FORKED':
        return this.#fork(event.data);
      case 'CONSTELLATION_MODIFIED':
        return yield* this.#modify(event.data, after, fleet);
      case 'RUN_RESUMED':
        if (!this.#mustWait || !this.#isPlanned) return;
        if (event.data.by.kind !== 'person') yield `${event.data.by.id} accepted the plan and is no person`;
        this.#mustWait = false;
        return;
      case 'RUN_REOPENED':
        this.#mustWait = false; // the RETRY is the word of a person
        return;
      case 'TASK_STARTED':
        return yield* this.#start(event.data);
      case 'RUN_COMPLETED':
      case 'RUN_FAILED':
        return yield* this.#answer(event.data.answer, after);
      default:
    }
  }

  #fork({ tasks, lines, scope = null, goal, waitsFor, judgeCommands }: RunEventData<'RUN_FORKED'>): void {
    this.#isOperators = judgeCommands !== true;
    this.#lines = lines.map(({ line }) => line);
    for (const { star, judge = false } of tasks) this.#tasks.set(star.id, { star, isJudged: judge });
    this.#scope = scope === null ? null : [...scope];
    this.#isPlanned = true;
    this.#isGoal = goal !== null;
    this.#mustWait = waitsFor !== undefined;
  }

  *#modify(data: RunEventData<'CONSTELLATION_MODIFIED'>, after: Run, { devices }: Fleet): Generator<string> {
    const { judgeCommands = false, trace, spare = [], source, edits } = data;
    const isWrittenByAnybody = trace?.thought === IMAGINED.thought || trace?.thought === REQUESTED.thought;
    const isUnbelieved = isWrittenByAnybody || (source !== undefined && !this.#isOperators);
    if (isUnbelieved !== judgeCommands) yield 'nobody knows whether the edit may be believed';
    const isAskedFor = edits === undefined && !this.#isOperators;
    const directed: Target[] = [];
    const before = new Map(this.#tasks);
    this.#tasks.clear();
    for (const { star } of after.tasks) {
      const known = before.get(star.id);
      const isMoved = JSON.stringify(known?.star.target) !== JSON.stringify(star.target);
      const isOther = isMoved || runs(known?.star) !== runs(star);
      if (isMoved) directed.push(star.target);
      this.#tasks.set(star.id, {
        star,
        isJudged: known?.isJudged === true || isAskedFor || (judgeCommands && isOther),
      });
    }
    const lines = [...after.graph.lines];
    if (judgeCommands) this.#judgeFollowers(before, lines);
    this.#lines = lines;
    if (!this.#isPlanned) this.#scope = [...directed, ...spare];
    else if (!judgeCommands) this.#scope?.push(...directed);
    else {
      const reached = (target: Target) => [...devices.values()].filter((device) => satisfies(device, target));
      const meant = new Set((this.#scope ?? [{ tags: [] }]).flatMap(reached));
      const beyond = directed.flatMap(reached).filter((device) => !meant.has(device));
      if (beyond.length > 0) yield `a model has reached ${beyond.map(({ deviceId }) => deviceId).join(', ')}`;
    }
    this.#isPlanned ||= after.tasks.length > 0;
  }

  /** What a person wrote counts no more as a person's when a model has changed what it reads, or what it had to wait for. */
  #judgeFollowers(before: ReadonlyMap<string, Known>, lines: readonly TaskStarLine[]): void {
    const does = ({ name, description, tips, command, verify, inputs, target }: TaskStar) =>
      JSON.stringify([target, verify ?? null, command ?? [name, description, tips, inputs ?? null]]);
    const isLost = ({ from, to, type, condition }: TaskStarLine) =>
      !lines.some((line) => line.from === from && line.to === to && line.type === type && line.condition === condition);
    const changed = new Set(this.#lines.filter(isLost).map(({ to }) => to));
    const judge = new Set(changed);
    for (const [id, { star }] of this.#tasks) {
      const known = before.get(id);
      if (known !== undefined && does(known.star) !== does(star)) changed.add(id);
    }
    for (let size = -1; size < changed.size;) {
      size = changed.size;
      for (const { from, to, type } of lines) {
        const stdin = this.#tasks.get(to)?.star.command?.arguments['stdin'] as { from?: string[] } | undefined;
        if (!changed.has(from) || (type === 'unconditional' && stdin?.from?.includes(from) !== true)) continue;
        changed.add(to);
        judge.add(to);
      }
    }
    for (const id of judge) {
      const known = this.#tasks.get(id);
      if (known !== undefined) this.#tasks.set(id, { ...known, isJudged: true });
    }
  }

  *#start({ taskId, judge }: RunEventData<'TASK_STARTED'>): Generator<string> {
    if (this.#mustWait) yield `${taskId} was started and nobody had accepted the plan`;
    const isJudged = this.#tasks.get(taskId)?.isJudged === true || this.#readsModel(taskId);
    if (isJudged !== (judge === true)) yield `${taskId} was started ${isJudged ? 'unjudged' : 'judged'}`;
  }

  /** Something of what it reads went through an agent or a command that a model may have written. */
  #readsModel(taskId: string): boolean {
    const stdin = this.#tasks.get(taskId)?.star.command?.arguments['stdin'] as
      { from?: (string | { task: string })[] } | undefined;
    return (stdin?.from ?? []).some((input) => {
      const id = typeof input === 'string' ? input : input.task;
      const source = this.#tasks.get(id);
      if (source === undefined) return false;
      return source.isJudged || source.star.command === undefined || this.#readsModel(id);
    });
  }

  *#answer(answer: RunEventData<'RUN_COMPLETED'>['answer'], { tasks }: Run): Generator<string> {
    if (answer === undefined) {
      if (this.#isGoal) yield 'a goal ended without an answer';
      return;
    }
    const told = new Set(answer.failures.map(({ taskId }) => taskId));
    for (const { star, status } of tasks)
      if (status === 'FAILED' && !told.has(star.id)) yield `${star.id} is kept back`;
    const evidence = new Set(answer.evidence.map(({ taskId, attempt }) => `${taskId}.${attempt}`));
    for (const { star, attempt } of tasks) evidence.delete(`${star.id}.${attempt}`);
    if (evidence.size > 0) yield `the answer rests on ${[...evidence].join(', ')}`;
  }
}

function runs(star: TaskStar | undefined): string {
  return JSON.stringify([star?.command ?? null, star?.verify ?? null, star?.idempotent === true]);
}
