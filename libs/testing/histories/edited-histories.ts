import {
  DEFAULTS,
  type Edit,
  type LockPolicy,
  type Proposal,
  type RunCommit,
  type RunEventData,
  type TaskConstellation,
  type TaskStar,
} from '#proto';
import { foldRun, forkedFrom, type Input, isTerminal, type Run } from '#libs/constellation';
import { runIdOf } from '#libs/event-log';
import { constellationOf, runCommitsOf } from './histories.js';
import { History, instant, randomOf, START, type HistoryStep } from './history-writer.js';

export interface EditedHistoryOptions {
  readonly seed: number;
  readonly tasks?: number;
  readonly lockPolicy?: LockPolicy;
  /** Asked for in words: then the first round makes the plan. */
  readonly goal?: boolean;
}

const STEPS_MAX = 400;
const ADDED_MAX = 6;
const VERBS_MAX = 6;
const EDIT_DEADLINE_MS = 5_000;

const OPERATOR = { kind: 'person', id: 'operator' } as const;

/**
 * One whole run that is edited while it runs: rounds that end with an edit, with nothing, after refusals or at their
 * deadline, edits of an operator, pauses, retries, and for some seeds a cancellation. The same seed gives the same history.
 */
export function generateEditedHistory(options: EditedHistoryOptions): HistoryStep[] {
  const { seed, tasks = 5, lockPolicy = seed % 2 === 0 ? 'scoped' : 'strict', goal = false } = options;
  const random = randomOf(seed);
  const plan = constellationOf(random, tasks);
  const requestId = `edited-${seed}`;
  const writer = new EditedHistory(new History(runIdOf('default', requestId)), random, plan);
  const requested: RunEventData<'RUN_REQUESTED'> = {
    requestId,
    namespace: 'default',
    contentHash: 'c'.repeat(64),
    goal: goal ? 'do what is needed' : null,
    constellation: goal ? null : plan,
    options: { editPolicy: 'every-result', lockPolicy, editDeadlineMs: EDIT_DEADLINE_MS },
    metadata: {},
    requestedBy: { kind: 'external', id: 'ops' },
    requestedAt: instant(START),
    deadlineAt: instant(START + DEFAULTS.runDeadlineMs),
  };
  writer.history.decide([{ kind: 'submit', requested }]);
  writer.play();
  return writer.history.steps;
}

export interface ForkOptions {
  /** The fork goes on from the last whole commit at or before this event. */
  readonly at: number;
  readonly seed: number;
}

/** A whole run that begins where another one stood. */
export function forkHistory(parent: readonly HistoryStep[], { at, seed }: ForkOptions): HistoryStep[] {
  const random = randomOf(seed);
  const run = foldRun(commitsUntil(runCommitsOf(parent), at));
  if (run === undefined) throw new Error('there is nothing to fork before this event');
  const requestId = `fork-${seed}`;
  const writer = new EditedHistory(new History(runIdOf(`fork:${run.runId}`, requestId)), random, null);
  const forked = forkedFrom({ run, by: OPERATOR, requestId, now: writer.history.now });
  writer.history.decide([{ kind: 'fork', id: requestId, forked }]);
  writer.play();
  return writer.history.steps;
}

function commitsUntil(commits: readonly RunCommit[], at: number): RunCommit[] {
  return commits.filter(({ events }) => (events.at(-1)?.sequence ?? 0) <= at);
}

/** A planner, an operator and devices that do what chance says. */
class EditedHistory {
  readonly history: History;
  readonly #random: () => number;
  /** What the first round answers when the run has no constellation yet. */
  readonly #plan: TaskConstellation | null;
  #added = 0;
  #verbs = 0;

  constructor(history: History, random: () => number, plan: TaskConstellation | null) {
    this.history = history;
    this.#random = random;
    this.#plan = plan;
  }

  play(): void {
    const { history } = this;
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      if (isTerminal(history.run) && !this.#retryAfterEnd()) return;
      history.now += 1 + Math.floor(this.#random() * 2_000);
      const inputs = [...this.#ends(steps), ...this.#proposals(), ...this.#operator()];
      history.decide(inputs.length > 0 ? inputs : [{ kind: 'wake' }]);
    }
    throw new Error(`history ${history.run.runId} did not end`);
  }

  #ends(step: number): Input[] {
    const { run } = this.history;
    const running = [...run.running].map((index) => run.tasks.at(index));
    return running
      .filter(() => this.#random() < 0.6)
      .map((task) => this.history.endAttempt(task, this.#random() < 0.25, `${step}`));
  }

  #proposals(): Input[] {
    const { editing } = this.history.run;
    if (editing === null || this.#random() < 0.3) return [];
    const { editId, tries, mode } = editing;
    const about = { editId, try: tries + 1, baseRevision: null };
    const thought = `round ${editId}\nas \u0007chance | says`;
    const propose = (change: Partial<Proposal>): Input[] => {
      const proposal: Proposal = { ...about, state: 'CONTINUE', edits: [], trace: { thought }, ...change };
      return [this.history.proposing(proposal)];
    };
    if (mode === 'creation' && this.#plan !== null) {
      return propose({ edits: [{ tool: 'build_constellation', constellation: this.#plan, clear: true }] });
    }
    const chance = this.#random();
    if (chance < 0.2) return propose({ edits: [{ tool: 'remove_task', taskId: 'nobody' }] });
    if (chance < 0.3) return propose({ edits: this.#touchWhatEnded() });
    if (chance < 0.5) return propose({});
    if (chance > 0.96) return propose({ state: 'FINISH' });
    return propose({ edits: this.#edits() });
  }

  /** Refused by I3, when anything has started. */
  #touchWhatEnded(): Edit[] {
    const started = [...this.history.run.tasks].find(({ status }) => status !== 'PENDING');
    return started === undefined ? [] : [{ tool: 'remove_task', taskId: started.star.id }];
  }

  #edits(): Edit[] {
    const { run } = this.history;
    const edits: Edit[] = [];
    const pending = [...run.tasks].filter(({ status }) => status === 'PENDING').map(({ star }) => star.id);
    const [victim, other] = [this.#one(pending), this.#one(pending)];
    if (victim !== undefined && this.#random() < 0.3) edits.push({ tool: 'remove_task', taskId: victim });
    if (other !== undefined && other !== victim) {
      edits.push({ tool: 'update_task', taskId: other, change: { priority: Math.floor(this.#random() * 5) } });
    }
    if (this.#added < ADDED_MAX) edits.push(...this.#addition(run, victim));
    return edits;
  }

  /** A task that hangs from one that is there, whatever has become of it. */
  #addition({ tasks }: Run, gone: string | undefined): Edit[] {
    const id = `n${++this.#added}`;
    const command = { tool: 'EXEC_CLI', arguments: { command: `echo ${id}` } };
    const task: TaskStar = { id, name: id, description: '', tips: [], target: { device: 'web-1' }, command };
    const from = this.#one([...tasks].map(({ star }) => star.id).filter((taskId) => taskId !== gone));
    if (from === undefined) return [{ tool: 'add_task', task }];
    const type = this.#random() < 0.7 ? 'unconditional' : 'success-only';
    return [
      { tool: 'add_task', task },
      { tool: 'add_dependency', line: { id: `l${id}`, from, to: id, type } },
    ];
  }

  #operator(): Input[] {
    const { run } = this.history;
    if (run.phase === 'PAUSED') return this.#random() < 0.5 ? [this.#verb({ verb: 'RESUME' })] : [];
    if (this.#verbs >= VERBS_MAX) return [];
    const chance = this.#random();
    if (chance < 0.04) return [this.#verb({ verb: 'PAUSE', reason: 'a look at it' })];
    if (chance < 0.06) return [this.#verb({ verb: 'CANCEL', reason: 'not needed' })];
    const task = this.#one([...run.tasks].filter(({ status }) => status === 'FAILED' || status === 'RUNNING'));
    if (chance < 0.12 && task !== undefined) return [this.#verb({ verb: 'RETRY', taskId: task.star.id })];
    const pending = this.#one([...run.tasks].filter(({ status }) => status === 'PENDING'));
    if (chance > 0.95 && pending !== undefined) {
      const edits: Edit[] = [{ tool: 'update_task', taskId: pending.star.id, change: { name: `${chance}` } }];
      const proposal: Proposal = { editId: null, try: 1, baseRevision: null, state: 'CONTINUE', edits };
      return [this.#verb({ verb: 'PROPOSE', proposal, delegated: false })];
    }
    return [];
  }

  /** Takes the end back where that is possible, for some. */
  #retryAfterEnd(): boolean {
    const { run } = this.history;
    const failed = [...run.tasks].find(({ status }) => status === 'FAILED' || status === 'CANCELLED');
    if (failed === undefined || this.#verbs >= VERBS_MAX || this.#random() < 0.5) return false;
    this.history.decide([this.#verb({ verb: 'RETRY', taskId: failed.star.id })]);
    return !isTerminal(this.history.run);
  }

  #verb(action: Extract<Input, { kind: 'verb' }>['action']): Input {
    return { kind: 'verb', id: `v${++this.#verbs}`, by: OPERATOR, action };
  }

  #one<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }
}
