// The ConstellationAgent as a state machine (paper section 5.2, figure 5). Its state is nobody's variable: it is what the events
// of the run say, and what it has recorded itself. What it does next is a function of both.
//
//            goal                   a plan was taken
//   START ---------> (creation) --------------------> CONTINUE <---+
//     |                  |                             |   |       | results, failures: (editing)
//     |                  | FINISH: nothing to do       |   +-------+
//     |                  v                             |
//     |                FINISH <------------------------+ FINISH, or the plan has ended
//     |                                                |
//     +--> FAIL <--------------------------------------+ FAIL, deadline, budget, nobody can plan, or may any more
//
// A person's retry, or something said to the run, takes FINISH and FAIL back to CONTINUE.
import {
  DEFAULTS,
  type EditId,
  type EditTrigger,
  type EditViolation,
  type Json,
  type Proposal,
  type RoundPlanned,
} from '#proto';
import { isTerminal, type Editing, type Run, hasPlan, hasWords } from '#libs/constellation';
import { judgementOf } from './judgement.js';
import type { ProposedPlan } from './plan-creation.js';
import { type PlanState, type PlanTry, roundsAsked, tryOf } from './plan-state.js';
import { violationsOfReply } from './rebase.js';

/** Nobody can plan, or nobody may: ROUND_FAILED with this. */
export interface GiveUp {
  readonly kind: 'give-up';
  readonly mode: Mode;
  readonly try: number;
  readonly code: 'NO_MODEL' | 'TOO_MANY_ROUNDS' | 'RUNBOOK_REFUSED' | 'RULE_REFUSED';
  readonly message: string;
}

export interface AskMove {
  readonly kind: 'ask';
  readonly mode: Mode;
  readonly try: number;
  readonly triggers: readonly EditTrigger[];
  /** What was wrong with `previous`, in the words of a reply; empty when it was not refused. */
  readonly violations: readonly EditViolation[];
  /** The reply that the try before was made of; null when there was none. */
  readonly previous: Json;
}

export type Mode = 'creation' | 'editing';

export type Move =
  /** There is nothing to do any more. */
  | { readonly kind: 'over'; readonly reason: string }
  /** This try is in PLANS already; `proposal` is null when it is recorded there that there will be none. */
  | { readonly kind: 'stored'; readonly try: number; readonly proposal: Proposal | null }
  /** A reply that was paid for is used for the constellation as it is now; where it does not fit any more, `otherwise`. */
  | {
      readonly kind: 'rebase';
      readonly mode: Mode;
      readonly try: number;
      readonly planned: RoundPlanned;
      readonly otherwise: AskMove | GiveUp | RuledMove;
    }
  /** A reviewed plan is looked for; where none fits the goal, `otherwise`. */
  | { readonly kind: 'runbook'; readonly mode: 'creation'; readonly try: number; readonly otherwise: AskMove | GiveUp }
  | AskMove
  | RuledMove
  | GiveUp;

/** No judgement is needed. */
export interface RuledMove {
  readonly kind: 'rule';
  readonly mode: 'editing';
  readonly try: number;
  readonly proposal: ProposedPlan;
}

export interface MoveOptions {
  /** A model is configured. */
  readonly model: boolean;
  /** Names of the runbooks that there are, for people who have no model. */
  readonly runbooks?: readonly string[];
}

/**
 * What the planner does next about a round. Total and pure: the same facts give the same move, wherever and however often it is
 * asked, so a crash costs at most what was not recorded.
 */
export function nextMove(
  run: Run,
  plan: PlanState,
  { editId }: { readonly editId: EditId },
  options: MoveOptions,
): Move {
  const { editing } = run;
  const over = whyOver(run, editId);
  if (over !== undefined || editing === null) return { kind: 'over', reason: over ?? 'no edit round is open' };
  const number = editing.tries + 1;
  const stored = plan.tries.findLast((one) => one.editId === editId && one.try >= number && isSaid(one));
  if (stored !== undefined) return { kind: 'stored', try: stored.try, proposal: stored.proposal };
  const last = tryOf(plan, editId, editing.tries);
  const round: Round = {
    run,
    plan,
    editing,
    options,
    number,
    last,
    said: last === undefined ? null : replyUpTo(plan, editing),
  };
  const begun = tryOf(plan, editId, number)?.planned ?? null;
  // Recorded but not proposed: the reply of this try is there.
  if (hasReply(begun)) return rebase(round, begun);
  if (hasReply(round.said) && isStale(editing)) return rebase(round, round.said);
  return editing.mode === 'creation' ? create(round) : edit(round);
}

interface Round {
  readonly run: Run;
  readonly plan: PlanState;
  readonly editing: Editing;
  readonly options: MoveOptions;
  readonly number: number;
  /** The try that was refused last, where it was ours. */
  readonly last: PlanTry | undefined;
  /** What that try was made of: a reply that was rebased was recorded with an earlier one. */
  readonly said: RoundPlanned | null;
}

function whyOver(run: Run, editId: EditId): string | undefined {
  const { phase, ending, editing, request } = run;
  if (phase === 'NONE') return 'there is no such run';
  if (isTerminal(run)) return `the run is ${phase}`;
  if (request?.options.planner === 'external') return 'a program plans for this run';
  if (ending !== null) return 'the run is about to end';
  if (editing === null || editing.editId !== editId) return `the round ${editId} is over`;
  return undefined;
}

function isSaid({ proposal, failed }: PlanTry): boolean {
  return proposal !== null || failed !== null;
}

function replyUpTo({ tries }: PlanState, { editId, tries: last }: Editing): RoundPlanned | null {
  return tries.findLast((one) => one.editId === editId && one.try <= last && one.planned !== null)?.planned ?? null;
}

function hasReply(planned: RoundPlanned | null): planned is RoundPlanned {
  return planned !== null && planned.reply !== null; // where no model was asked there is none
}

/** The last try was refused for nothing but what had changed meanwhile. */
function isStale({ violations }: Editing): boolean {
  return violations.every(({ code }) => code === 'STALE_REVISION');
}

function rebase(round: Round, planned: RoundPlanned): Move {
  const { mode } = round.editing;
  const otherwise = mode === 'creation' ? askOrGiveUp(round) : edit(round);
  return { kind: 'rebase', mode, try: round.number, planned, otherwise };
}

/** START. */
function create(round: Round): Move {
  const { number, last, said, editing } = round;
  if (last?.source === 'model') return askOrGiveUp(round);
  if (last?.source === 'runbook' && !isStale(editing)) {
    const name = said?.runbook?.name ?? '';
    return giveUp(round, 'RUNBOOK_REFUSED', `the runbook "${name}" cannot be used: ${firstOf(editing)}`);
  }
  // A runbook is for the goal alone, and knows nothing of what was said since.
  if (hasWords(editing.triggers) && round.options.model) return ask(round);
  return { kind: 'runbook', mode: 'creation', try: number, otherwise: askOrGiveUp(round) };
}

/** CONTINUE. */
function edit(round: Round): AskMove | RuledMove | GiveUp {
  const { run, editing, options, number, last } = round;
  if (last?.source === 'rule' && !isStale(editing)) {
    if (options.model) return ask(round);
    return giveUp(round, 'RULE_REFUSED', `what follows by rule was refused: ${firstOf(editing)}`);
  }
  const judgement = judgementOf(run, editing.triggers, { model: options.model, reviewed: isReviewed(run) });
  if (judgement.needed) return ask(round);
  const { state, because } = judgement;
  // That nothing changes holds for every revision; that nothing is left to do does not.
  const baseRevision = state === 'CONTINUE' ? null : run.revision;
  const proposal = { baseRevision, state, edits: [], trace: { thought: because } };
  return { kind: 'rule', mode: 'editing', try: number, proposal };
}

/** The plan that the run began with came from a runbook, and be it that of the run that this one was forked from. */
function isReviewed({ planSource }: Run): boolean {
  return planSource === 'runbook';
}

function askOrGiveUp(round: Round): AskMove | GiveUp {
  const { model, runbooks = [] } = round.options;
  return model ? ask(round) : giveUp(round, 'NO_MODEL', noModel(runbooks));
}

/** A model, unless it was asked in as many rounds as it may: the repair of a plan belongs to the round of that plan. */
function ask(round: Round): AskMove | GiveUp {
  const { run, plan, editing, number, last, said } = round;
  const { rounds = DEFAULTS.rounds } = run.request?.options ?? {};
  const asked = roundsAsked(plan);
  if (asked.size >= rounds && !asked.has(editing.editId)) return giveUp(round, 'TOO_MANY_ROUNDS', tooMany(rounds));
  const { mode, triggers } = editing;
  const violations = violationsOfReply(editing.violations, mode, last?.proposal ?? null);
  return { kind: 'ask', mode, try: number, triggers, violations, previous: said?.reply ?? null };
}

function giveUp({ editing, number }: Round, code: GiveUp['code'], message: string): GiveUp {
  return { kind: 'give-up', mode: editing.mode, try: number, code, message };
}

function tooMany(rounds: number): string {
  if (rounds === 0) return 'options.rounds lets no model be asked in this run';
  return `a model was asked in ${rounds} ${rounds === 1 ? 'round' : 'rounds'} of this run, and options.rounds allows no more`;
}

function firstOf({ violations }: Editing): string {
  return violations[0]?.message ?? 'it was refused';
}

const RUNBOOKS_NAMED_MAX = 20;

/** What is missing when no runbook fits a goal and nobody is there who could plan it, and what can be done. */
export function noModel(runbooks: readonly string[]): string {
  const named = runbooks.slice(0, RUNBOOKS_NAMED_MAX).join(', ');
  const more = runbooks.length > RUNBOOKS_NAMED_MAX ? ` and ${runbooks.length - RUNBOOKS_NAMED_MAX} more` : '';
  const use = named === '' ? '' : `, or ask for one of the runbooks: ${named}${more}`;
  return `no runbook fits this goal and no model is configured that could plan it; set OPENAI_BASE_URL, OPENAI_API_KEY and ORRERY_MODEL for the planner${use}`;
}

/** States of the ConstellationAgent (paper section 5.2). */
export type PlanningState = 'START' | 'CONTINUE' | 'FINISH' | 'FAIL';

/** In which state the planner of a run is, for people. A run that was cancelled was given up, too. */
export function plannerStateOf({ phase, ending, revision }: Pick<Run, 'phase' | 'ending' | 'revision'>): PlanningState {
  if (phase === 'COMPLETED') return 'FINISH';
  if (phase === 'FAILED' || phase === 'CANCELLED') return 'FAIL';
  if (ending !== null) return ending.reason === 'finished' ? 'FINISH' : 'FAIL';
  return hasPlan({ revision }) ? 'CONTINUE' : 'START';
}
