import { type Question, truthOrQuestion, type Truth, undecided } from '#libs/constellation';
import { ArtifactError } from '#libs/messaging';
import { Slots } from '#libs/slots';
import { type ArtifactRef, LIMITS, type TaskResult, type TaskStatus } from '#proto';
import { ConditionProcess, type ProcessLimits } from './condition-process.adapter.js';
import type { JudgingTask } from './condition-process.runner.js';

export interface JudgeLimits extends ProcessLimits {
  /** Processes beside this one; each holds one value at a time. */
  readonly processes: number;
}

/** A value of 64 MiB takes a few times as much of a heap. */
export const JUDGE_LIMITS: JudgeLimits = { processes: 2, heapMb: 1_024, ms: LIMITS.conditionMs };

/** A process that was ended for one condition leaves the others over that value to the next: so often, then they are given up. */
const PROCESSES_PER_VALUE = 3;

export interface ConditionJudgeParts {
  /** The whole of what was stored, checked. Throws ArtifactError when it is gone; anything else is infrastructure. */
  readonly artifact: (sha256: string) => Promise<Uint8Array>;
  readonly limits?: Partial<JudgeLimits>;
}

/**
 * Judges conditions over whole values, in processes of their own. One run asks about one value at a time, so a run that asks much
 * does not keep the others waiting for more than one of its values.
 *
 *   question ──► a process is free ──► the whole value is fetched ──► process ──► truth
 *                                            └── it is gone: undecided    └── too long, too large, died: undecided, another process
 */
export class ConditionJudge {
  readonly #parts: ConditionJudgeParts;
  readonly #limits: JudgeLimits;
  readonly #idle: ConditionProcess[] = [];
  readonly #all = new Set<ConditionProcess>();
  readonly #places: Slots;
  #isClosed = false;

  constructor(parts: ConditionJudgeParts) {
    this.#parts = parts;
    this.#limits = { ...JUDGE_LIMITS, ...parts.limits };
    this.#places = new Slots(this.#limits.processes);
  }

  /** One truth for each question, in order. Throws when the infrastructure is away, which says nothing about any of them. */
  async judge(questions: readonly Question[]): Promise<Truth[]> {
    const truths = new Map<Question, Truth>();
    for (const group of groupsOf(questions)) {
      const found = await this.#places.use(() => this.#judgeOver(group));
      group.forEach((question, index) => truths.set(question, found[index] ?? NOT_REACHED));
    }
    return questions.map((question) => truths.get(question) ?? NOT_REACHED);
  }

  /** The same for one condition over what an event holds of a result. */
  async truthOf(condition: string, status: TaskStatus, result: TaskResult | null): Promise<Truth> {
    const asked = truthOrQuestion(condition, { status, result });
    if ('truth' in asked) return asked;
    const [truth = NOT_REACHED] = await this.judge([asked]);
    return truth;
  }

  async end(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((one) => one.stop()));
  }

  /** All over the same value. */
  async #judgeOver(questions: readonly Question[]): Promise<Truth[]> {
    const truths: Truth[] = [];
    for (let tries = 0; tries < PROCESSES_PER_VALUE && truths.length < questions.length; tries++) {
      const left = questions.slice(truths.length);
      let assignment: JudgingTask;
      try {
        assignment = await this.#assignmentOf(left);
      } catch (error) {
        if (!(error instanceof ArtifactError)) throw error;
        return [...truths, ...left.map(() => undecided(`the whole result is not there: ${error.message}`))];
      }
      truths.push(...(await this.#ask(assignment)));
    }
    return truths;
  }

  async #assignmentOf(questions: readonly Question[]): Promise<JudgingTask> {
    const [first] = questions;
    if (first === undefined) throw new Error('nothing is asked');
    const fetched = Object.entries(first.streams).map(async ([name, ref]) => [name, await this.#bytesOf(ref)] as const);
    return {
      result: 'artifact' in first.result ? { json: await this.#bytesOf(first.result.artifact) } : first.result,
      streams: Object.fromEntries(await Promise.all(fetched)),
      asked: questions.map(({ condition, status, board }) => ({ condition, status, board })),
    };
  }

  async #bytesOf({ sha256, bytes }: ArtifactRef): Promise<Uint8Array> {
    const content = await this.#parts.artifact(sha256);
    if (content.length !== bytes) throw new ArtifactError(sha256, `has ${content.length} bytes, not ${bytes}`);
    return content;
  }

  async #ask(assignment: JudgingTask): Promise<Truth[]> {
    if (this.#isClosed) throw new Error(CLOSED);
    const judging = await this.#process();
    const truths = await judging.judge(assignment);
    if (this.#isClosed) throw new Error(CLOSED);
    if (judging.isOver) this.#all.delete(judging);
    else this.#idle.push(judging);
    return truths;
  }

  async #process(): Promise<ConditionProcess> {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (!idle.isOver) return idle;
      this.#all.delete(idle);
    }
    const started = new ConditionProcess(this.#limits);
    this.#all.add(started);
    try {
      await started.start();
      return started;
    } catch (error) {
      this.#all.delete(started);
      throw error;
    }
  }
}

const CLOSED = 'conditions are judged no more: the process ends';
const NOT_REACHED = undecided('other conditions over the same result took all the time');

/** Those over the same value together: it is fetched once. */
function groupsOf(questions: readonly Question[]): Question[][] {
  const groups = new Map<string, Question[]>();
  for (const question of questions) {
    const key = JSON.stringify([question.result, question.streams]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [question]);
    else group.push(question);
  }
  return [...groups.values()];
}
