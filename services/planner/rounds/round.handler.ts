import type { Logger } from 'pino';
import type { Cause, EditViolation, Json, PlanEvent, RunId, Usage } from '#proto';
import { NO_USAGE, sentenceOf, addUsage, usageOfCalls } from '#proto';
import { isTerminal, type Editing, type Run } from '#libs/constellation';
import { CorruptLogError, unchanged, type Loaded, type RunLog } from '#libs/event-log';
import {
  matchGoal,
  nextMove,
  planOfRunbook,
  rebase,
  tryOf,
  type AskMove,
  type Move,
  type ProposedPlan,
  type Runbook,
  type StageCircumstances,
} from '#libs/planner';
import type { Clock } from '#libs/platform';
import { type PlanningFleet, untilKnown } from '../fleet/index.js';
import { follow, FollowedRun } from './followed-run.adapter.js';
import { KeptRuns, type KeptLimits } from './kept-runs.js';
import type { LiveRounds } from './live-rounds.runner.js';
import { budgetOf, usedInRound, type RoundOrder } from './order.js';
import type { PlanCommits, StoredPlan } from './plan-commits.adapter.js';
import {
  failedFact,
  NO_MODEL_ASKED,
  planFacts,
  proposedFact,
  together,
  type ModelsAsked,
  type Plan,
} from './plan-facts.js';
import { computed, PlannerFault } from './planner-fault.js';
import type { Emit } from './round-records.adapter.js';
import { openRound, type Thinking, type Thought } from './thinking.runner.js';

/** How often is looked whether a round is still open while a model thinks about it. */
const LOOK_MS = 1_000;
/** Replies that could not be stored yet. */
const UNSTORED_MAX = 1_000;
/** Of runs whose rounds go on: read on from when the next one opens. In memory they take up to twice as much. */
const KEPT: KeptLimits = { runsMax: 1_000, bytesMax: 64 * 1024 * 1024 };
/** Of what the trace of a plan says. */
const OBSERVATION_CHARS_MAX = 20_000;

export interface RoundParts {
  readonly runs: RunLog;
  readonly commits: PlanCommits;
  readonly live: LiveRounds;
  /** Null: no model is configured. */
  readonly thinking: Thinking | null;
  /** Those that there are now. */
  readonly runbooks: () => readonly Runbook[];
  readonly fleet: PlanningFleet;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly emit: Emit;
  readonly lookMs?: number;
  readonly kept?: KeptLimits;
}

/** `proposed`, `failed`: it is stored. `over`: nobody wants it any more. `left`: this replica stops, another one may take it. */
export type CarriedRound = 'proposed' | 'failed' | 'over' | 'left';

/** What came of a try, and what is to be stored of it. */
interface Made {
  readonly carried: CarriedRound;
  readonly events: readonly PlanEvent[];
  readonly source: Plan['source'] | null;
  readonly used: Usage;
  /** Why there is no plan. */
  readonly code?: string;
}

/** One try as it stands while it is worked on. */
interface Round {
  readonly order: RoundOrder;
  readonly followed: FollowedRun;
  readonly run: Run;
  readonly editing: Editing;
  readonly stored: StoredPlan;
}

type Done =
  | { readonly kind: 'left' }
  | { readonly kind: 'over' }
  | { readonly kind: 'made'; readonly made: Made; readonly mode: Plan['mode'] };

interface Refused {
  readonly reply: Json;
  readonly violations: readonly EditViolation[];
}

/**
 * Carries out one try of an edit round: reads the run and what was planned for it, makes a plan or takes the one that is there,
 * stores it with all that led to it, and is done. It may die after each line: what was not stored is made again. What was read is kept
 * and read on from in the next round, so a round costs what has happened since the one before, however long the run is by then.
 */
export class RoundHandler {
  readonly #parts: RoundParts;
  /** What a model has said and could not be stored, because the log was away: it is not asked for again when the message comes again. */
  readonly #unstored = new Map<string, Extract<Thought, { kind: 'planned' }>>();
  /** Written in turn only; what it holds never changes, so a call that works with some of it may go on when it is let go. */
  readonly #kept: KeptRuns;

  constructor(parts: RoundParts) {
    this.#parts = parts;
    this.#kept = new KeptRuns(parts.kept ?? KEPT);
  }

  /** Throws when the logs cannot be read or written. */
  carryOut(order: RoundOrder): Promise<CarriedRound> {
    return this.#parts.live.inTurn(order.runId, async () => {
      try {
        return await this.#carryOut(order);
      } catch (error) {
        if (error instanceof CorruptLogError) this.letGo(order.runId);
        throw error;
      }
    });
  }

  /** The run has ended: nothing of it is needed any more, and it is read anew when it is opened again. */
  letGo(runId: RunId): void {
    this.#kept.letGo(runId);
  }

  async #carryOut(order: RoundOrder): Promise<CarriedRound> {
    const { runs, commits, live, fleet } = this.#parts;
    if (live.signal.aborted) return 'left';
    const began = performance.now();
    const kept = this.#kept.get(order.runId);
    const followed = new FollowedRun(runs, order.runId, kept?.read);
    /** Of what was made in vain, too: somebody else wrote first. */
    let used = NO_USAGE;
    const { value: done, after } = await commits.change<Done>(
      order.runId,
      async (stored, { loaded }) => {
        if (live.signal.aborted) return unchanged({ kind: 'left' });
        this.#keep(followed, loaded);
        const { run } = followed;
        const editing = openRound(run, order);
        if (run === undefined || editing === undefined) return unchanged({ kind: 'over' });
        await untilKnown(fleet);
        const made = await this.#make({ order, followed, run, editing, stored });
        used = addUsage(used, made.used);
        const value = { kind: 'made', made, mode: editing.mode } as const;
        return { value, events: made.events, causes: [causeOf(order)] };
      },
      // Both at once: the order came after all that it needs of either, and an append on plans that are not the last ones conflicts.
      { known: kept?.plan, beside: () => followed.look() },
    );
    if (done.kind === 'left') return 'left';
    if (done.kind === 'over') return this.#forget(order, 'over');
    this.#keep(followed, after);
    return this.#end(order, { ...done.made, used }, { mode: done.mode, began });
  }

  /** Not of a run that has ended meanwhile. */
  #keep({ runId, read }: FollowedRun, plan: Loaded<StoredPlan>): void {
    if (read === null || isTerminal(read.run)) this.#kept.letGo(runId);
    else this.#kept.put(runId, { read, plan });
  }

  #end(
    order: RoundOrder,
    { carried, source, used, code }: Made,
    { mode, began }: { readonly mode: Plan['mode']; readonly began: number },
  ): CarriedRound {
    const durationMs = performance.now() - began;
    const why = code === undefined ? {} : { code };
    this.#parts.emit({ ...order, mode, source, outcome: carried, ...why, used, durationMs });
    return this.#forget(order, carried);
  }

  async #make(round: Round): Promise<Made> {
    const { run, stored, order } = round;
    const options = {
      model: this.#parts.thinking !== null,
      runbooks: this.#parts.runbooks().map(({ info }) => info.name),
    };
    try {
      const move = computed('say what comes next', () => nextMove(run, stored.state, order, options));
      return await this.#follow(round, move);
    } catch (error) {
      if (!(error instanceof PlannerFault)) throw error;
      this.#parts.logger.error({ err: error, ...order }, 'a round failed');
      return failed(order, { code: 'PLANNER_FAULT', message: error.message, asked: NO_MODEL_ASKED });
    }
  }

  #follow(round: Round, move: Move): Promise<Made> | Made {
    const { order, run } = round;
    switch (move.kind) {
      case 'over':
      case 'stored':
        return NOT_WANTED;
      case 'rebase':
        return this.#rebase(round, move);
      case 'runbook':
        return this.#fromRunbook(round, move);
      case 'ask':
        return this.#ask(round, move, null);
      case 'rule': {
        const { mode, proposal } = move;
        return proposed(order, { ...UNASKED, mode, source: 'rule', revision: run.revision, planned: proposal });
      }
      case 'give-up':
        return failed(order, { code: move.code, message: move.message, asked: NO_MODEL_ASKED });
    }
  }

  /** What was paid for once is put to the constellation as it is now. */
  #rebase(round: Round, { mode, planned, otherwise }: Extract<Move, { kind: 'rebase' }>): Promise<Made> | Made {
    const { order, run, stored } = round;
    const { reply, source, calls } = planned;
    const made = computed('use a reply again', () => rebase(planned, run, this.#circumstances()));
    if (!made.ok) {
      if (otherwise.kind !== 'ask') return this.#follow(round, otherwise);
      return this.#ask(round, otherwise, { reply, violations: made.problems.map(asViolation) });
    }
    if (tryOf(stored.state, order.editId, order.try)?.planned !== undefined) {
      // Its facts are there, and what it cost is said with the proposal.
      const used = usageOfCalls(calls);
      return {
        carried: 'proposed',
        source,
        used,
        events: [proposedFact(order, { source, planned: made.proposal, used })],
      };
    }
    // What the model was shown stays the same, however often its reply is used.
    const { revision } = planned;
    return proposed(order, { ...UNASKED, mode, source, reply, revision, planned: made.proposal });
  }

  #fromRunbook(round: Round, { otherwise }: Extract<Move, { kind: 'runbook' }>): Promise<Made> | Made {
    const { order, run } = round;
    const found = computed('look for a runbook', () => matchGoal(run.request?.goal ?? '', this.#parts.runbooks()));
    if (found === null) return this.#follow(round, otherwise);
    const made =
      'issues' in found
        ? { ok: false as const, issues: found.issues }
        : computed('use a runbook', () => planOfRunbook(found.runbook, found.parameters, this.#circumstances()));
    if (!made.ok) {
      const message = made.issues.map(sentenceOf).join(' ');
      return failed(order, { code: 'RUNBOOK_REFUSED', message, asked: NO_MODEL_ASKED });
    }
    const { constellation, use, leftOut } = made;
    const without = leftOut.map(({ deviceId, why }) => `${deviceId} (${why})`).join(', ');
    const planned: ProposedPlan = {
      baseRevision: run.revision,
      state: 'CONTINUE',
      edits: [{ tool: 'build_constellation', constellation, clear: true }],
      trace: {
        ...(without !== '' && { observation: `left out: ${without}`.slice(0, OBSERVATION_CHARS_MAX) }),
        thought: `the goal is what the runbook ${use.name} is for`,
      },
    };
    const { revision } = run;
    return proposed(order, { ...UNASKED, mode: 'creation', source: 'runbook', revision, runbook: use, planned });
  }

  async #ask(round: Round, ask: AskMove, refused: Refused | null): Promise<Made> {
    const { order, run } = round;
    const { mode, previous } = ask;
    const known = this.#unstored.get(keyOf(order));
    const again = known && computed('use a reply again', () => rebase({ ...known, mode }, run, this.#circumstances()));
    if (known !== undefined && again?.ok === true) {
      return proposedByModel(order, { ...known, planned: again.proposal }, mode);
    }
    const { violations, reply } = refused ?? { violations: ask.violations, reply: previous };
    const thought = await this.#think(round, { violations, tried: violations.length === 0 ? null : reply });
    const asked = known === undefined ? thought.asked : together(known.asked, thought.asked);
    const used = usageOfCalls(asked.calls);
    switch (thought.kind) {
      case 'over':
        return this.#parts.live.signal.aborted ? { ...NOT_WANTED, carried: 'left', used } : unwanted(order, asked);
      case 'failed':
        return failed(order, { ...thought, asked });
      case 'planned':
        this.#remember(order, { ...thought, asked });
        return proposedByModel(order, { ...thought, asked }, mode);
    }
  }

  /** Asks, and looks meanwhile whether anybody still wants to know. */
  async #think(
    { order, followed, editing, stored }: Round,
    told: { readonly violations: readonly EditViolation[]; readonly tried: Json },
  ): Promise<Thought> {
    const { thinking, live, logger, lookMs = LOOK_MS } = this.#parts;
    if (thinking === null) throw new PlannerFault('The planner has no model to ask.');
    const opening = followed.read?.opening ?? null;
    const unwanted = new AbortController();
    const stillOpen = (): Run | undefined => (openRound(followed.run, order) === undefined ? undefined : followed.run);
    const following = follow(followed, {
      everyMs: lookMs,
      moved: () => {
        if (stillOpen() === undefined) unwanted.abort();
      },
      report: (error) => logger.warn({ err: error, ...order }, 'the run could not be looked at'),
    });
    const over = live.enter(order.runId, { nudge: () => following.nudge(), abandon: () => unwanted.abort() });
    try {
      return await thinking.think({
        order,
        editing,
        run: stillOpen,
        conversation: () => followed.read?.conversation ?? [],
        look: async () => void (await followed.look()),
        signal: unwanted.signal,
        budget: budgetOf(opening === null ? [] : [opening], order.editId),
        used: usedInRound(stored.commits, order.editId),
        ...told,
      });
    } finally {
      following.stop();
      over();
    }
  }

  #remember(order: RoundOrder, thought: Extract<Thought, { kind: 'planned' }>): void {
    if (this.#unstored.size >= UNSTORED_MAX) this.#unstored.clear();
    this.#unstored.set(keyOf(order), thought);
  }

  #forget(order: RoundOrder, carried: CarriedRound): CarriedRound {
    this.#unstored.delete(keyOf(order));
    return carried;
  }

  #circumstances(): StageCircumstances {
    return { fleet: this.#parts.fleet.view, now: this.#parts.clock.now() };
  }
}

const UNASKED = { asked: NO_MODEL_ASKED, reply: null } as const;

function proposed(order: RoundOrder, plan: Plan): Made {
  const events = planFacts(order, plan);
  return { carried: 'proposed', events, source: plan.source, used: usageOfCalls(plan.asked.calls) };
}

function proposedByModel(
  order: RoundOrder,
  { reply, planned, revision, asked }: Extract<Thought, { kind: 'planned' }>,
  mode: Plan['mode'],
): Made {
  return proposed(order, { mode, source: 'model', asked, revision, reply, planned });
}

function failed(order: RoundOrder, why: { code: string; message: string; asked: ModelsAsked }): Made {
  const { code, asked } = why;
  return { carried: 'failed', events: [failedFact(order, why)], source: null, used: usageOfCalls(asked.calls), code };
}

const NOT_WANTED: Made = { carried: 'over', events: [], source: null, used: NO_USAGE };

/** What was asked in vain has cost something all the same, and is recorded; the run, which has moved on, takes no notice. */
function unwanted(order: RoundOrder, asked: ModelsAsked): Made {
  if (asked.calls.length === 0) return NOT_WANTED;
  const message = 'nobody waited for the plan any more when it was made';
  return { ...failed(order, { code: 'ROUND_IS_OVER', message, asked }), carried: 'over' };
}

/** A reply that was recorded for another revision does not fit; the paths are in the words. */
function asViolation(message: string): EditViolation {
  return { code: 'STALE_REVISION', path: '', message };
}

function keyOf({ runId, editId, try: tried }: RoundOrder): string {
  return `${runId}.${editId}.${tried}`;
}

/** The commit of the run that asked. */
function causeOf({ commit }: RoundOrder): Cause {
  return { kind: 'run', id: commit };
}
