import type { z } from 'zod';
import {
  CreationReply,
  EditingReply,
  LIMITS,
  type Budget,
  type ConversationItem,
  type EditViolation,
  type Experience,
  type Json,
  type ModelCall,
  type RunbookInfo,
  type Usage,
  addUsage,
  usageOfCalls,
} from '#proto';
import { BOUNDS, isTerminal, type Editing, type Run } from '#libs/constellation';
import { countPromptTokens, mayCallModel, type ModelDesk } from '#libs/llm';
import {
  rebase,
  type Planned,
  type PlannerPrompt,
  type PlannerPrompter,
  type ProposedPlan,
  type StageCircumstances,
} from '#libs/planner';
import type { Clock } from '#libs/platform';
import { BoundaryTaken } from '#libs/prompter';
import type { PlanningFleet } from '../fleet/index.js';
import type { RoundOrder } from './order.js';
import { NO_MODEL_ASKED, together, type ModelsAsked } from './plan-facts.js';
import { computed } from './planner-fault.js';
import { PLANNING_AGENT } from './round-records.adapter.js';
import { wellFormed } from './well-formed.js';

/** Before the deadline of a round nothing is asked any more: what was said has to be stored and judged. At most; of a short round a tenth. */
const MARGIN_MS_MAX = 2_000;
const BOUNDARY_TRIES = 3;

/** What a model came to. `over`: nobody wants a plan any more, or there is no time left for one. */
export type Thought =
  | {
      readonly kind: 'planned';
      readonly reply: Json;
      readonly planned: ProposedPlan;
      /** The one that the model was shown; what it planned is for the one that is there now. */
      readonly revision: number;
      readonly asked: ModelsAsked;
    }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly asked: ModelsAsked }
  | { readonly kind: 'over'; readonly asked: ModelsAsked };

/** One try that a model is asked for. */
export interface RoundQuestion {
  readonly order: RoundOrder;
  readonly editing: Editing;
  /** The run as far as it is known now; undefined when the round is over. */
  readonly run: () => Run | undefined;
  /** What was said in it so far. */
  readonly conversation: () => readonly ConversationItem[];
  /** Reads on: after it, `run` is the run as it is stored. */
  readonly look: () => Promise<void>;
  /** Aborted when nobody wants the reply any more. */
  readonly signal: AbortSignal;
  /** What the round may use up, and has used up in earlier tries. */
  readonly budget: Budget | undefined;
  readonly used: Usage;
  /** Why the last try was refused, and the reply it was made of. */
  readonly violations: readonly EditViolation[];
  readonly tried: Json | null;
}

export interface ThinkingParts {
  readonly desk: ModelDesk;
  readonly prompter: Pick<PlannerPrompter, 'creation' | 'editing'>;
  readonly fleet: PlanningFleet;
  /** Those that there are now. */
  readonly runbooks: () => readonly RunbookInfo[];
  /** Examples of earlier runs that are like this goal; none when they cannot be read. */
  readonly examples: (goal: string) => Promise<readonly Experience[]>;
  readonly clock: Clock;
  /** A text that nobody could guess, for the fences of a prompt. */
  readonly random: () => string;
}

/** Makes plans with a model: asks, checks what it says on the run as it is then, and asks again as long as it may. */
export class Thinking {
  readonly #parts: ThinkingParts;

  constructor(parts: ThinkingParts) {
    this.#parts = parts;
  }

  think(question: RoundQuestion): Promise<Thought> {
    if (question.editing.mode === 'creation') return this.#think(question, CreationReply);
    return this.#think(question, EditingReply);
  }

  async #think<T>(question: RoundQuestion, schema: z.ZodType<T>): Promise<Thought> {
    const { order, signal, run, editing } = question;
    const { mode } = editing;
    const learnt = await this.#parts.examples(run()?.request?.goal ?? '');
    let asked: ModelsAsked = NO_MODEL_ASKED;
    let last: Refused | null = null;
    for (let spent = 0; ;) {
      const now = run();
      const leftMs = timeLeft(editing, this.#parts.clock.now());
      if (now === undefined || (leftMs <= 0 && asked.calls.length === 0)) return { kind: 'over', asked };
      if (leftMs <= 0) return { kind: 'failed', code: 'DEADLINE', message: 'no time is left to make a plan', asked };
      const { revision } = now;
      const planOf = (reply: Json, at: Run) =>
        computed('use a reply', () => rebase({ mode, reply, revision }, at, this.#circumstances()));
      const prompt = computed('make a prompt', () =>
        this.#promptOf(question, now, { learnt, last, calls: asked.calls }),
      );
      const checks: Checked[] = [];
      const answered = await this.#parts.desk.ask({
        agent: PLANNING_AGENT,
        prompt,
        schema,
        check: (value) => {
          const at = run();
          if (at === undefined) return []; // found out below
          const made = planOf(wellFormed(value), at);
          checks.push({ at, made });
          return made.ok ? [] : made.problems;
        },
        repairsMax: LIMITS.replyRepairsMax - spent,
        signal,
        deadlineMs: leftMs,
        turn: `${order.runId}.${order.editId}.${order.try}`,
        mayCall: this.#mayCall(question, asked.calls, prompt),
      });
      asked = together(asked, { ...prompt, calls: answered.calls });
      if (signal.aborted || run() === undefined) return { kind: 'over', asked };
      if (answered.kind === 'failed') return { kind: 'failed', code: answered.code, message: answered.message, asked };
      await question.look();
      const at = run();
      if (at === undefined) return { kind: 'over', asked };
      const reply = wellFormed(answered.value);
      const checked = checks.at(-1);
      const made = checked?.at === at ? checked.made : planOf(reply, at);
      if (made.ok) return { kind: 'planned', reply, planned: made.proposal, revision, asked };
      // The run has moved in the very moment between the check and this look.
      spent = asked.calls.filter(({ problems }) => problems.length > 0).length + 1;
      last = { reply, problems: made.problems };
      if (spent > LIMITS.replyRepairsMax) return { kind: 'failed', ...noLongerFits(made.problems), asked };
    }
  }

  /** A boundary that stands in some text already, which nobody could have known, is simply not used. */
  #promptOf(question: RoundQuestion, run: Run, said: Said): PlannerPrompt {
    for (let tries = 1; ; tries++) {
      try {
        return this.#prompt(question, run, { ...said, fenceBoundary: this.#parts.random() });
      } catch (error) {
        if (!(error instanceof BoundaryTaken) || tries === BOUNDARY_TRIES) throw error;
      }
    }
  }

  #prompt(
    { editing, budget, used, ...question }: RoundQuestion,
    run: Run,
    { learnt, last, calls, fenceBoundary }: Said & { readonly fenceBoundary: string },
  ): PlannerPrompt {
    const { prompter, fleet, runbooks } = this.#parts;
    const tried = last?.reply ?? question.tried ?? undefined;
    const violations = last === null ? question.violations : last.problems.map(asViolation);
    const said = { conversation: question.conversation(), triggers: editing.triggers };
    const budgetLeft = left(budget, used, calls);
    const common = { fenceBoundary, profiles: fleet.profiles, learnt, tried, budgetLeft, ...said };
    const { goal = null, metadata } = run.request ?? {};
    if (editing.mode === 'editing') return prompter.editing({ ...common, goal, run, violations });
    const problems = violations.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
    return prompter.creation({ ...common, goal: goal ?? '', metadata, runbooks: runbooks(), problems });
  }

  #mayCall({ budget, used }: RoundQuestion, before: readonly ModelCall[], { messages }: PlannerPrompt) {
    if (budget === undefined) return () => null;
    const least = budget.tokens === undefined ? {} : { tokens: countPromptTokens(messages) };
    return (calls: readonly ModelCall[]) =>
      mayCallModel(budget, addUsage(used, usageOfCalls([...before, ...calls])), least);
  }

  #circumstances(): StageCircumstances {
    return { fleet: this.#parts.fleet.view, now: this.#parts.clock.now() };
  }
}

/** What came of the last reply on the run as it was then. */
interface Checked {
  readonly at: Run;
  readonly made: Planned;
}

interface Refused {
  readonly reply: Json;
  readonly problems: readonly string[];
}

/** What is known by now besides the question. */
interface Said {
  readonly learnt: readonly Experience[];
  readonly last: Refused | null;
  readonly calls: readonly ModelCall[];
}

/** The round when this try of it is still wanted. */
export function openRound(run: Run | undefined, { editId, try: tried }: RoundOrder): Editing | undefined {
  if (run === undefined || isTerminal(run) || run.ending !== null) return undefined;
  const { editing } = run;
  return editing?.editId === editId && editing.tries + 1 === tried ? editing : undefined;
}

/** Milliseconds in which a model may answer. */
export function timeLeft({ openedAt, deadlineAt }: Editing, now: number): number {
  const endsAt = Date.parse(deadlineAt);
  const margin = Math.min(MARGIN_MS_MAX, (endsAt - Date.parse(openedAt)) / 10);
  return Math.floor(endsAt - margin - now);
}

/** Proposals a model may make for one round, and with which words it is told that one did not fit any more. */
function noLongerFits(problems: readonly string[]): { code: string; message: string } {
  const message = `The constellation moved on while the model thought, and its plan does not fit any more: ${problems.slice(0, 3).join('; ')}`;
  return { code: 'MODEL_REPLY_INVALID', message: message.slice(0, MESSAGE_CHARS_MAX).toWellFormed() };
}

const MESSAGE_CHARS_MAX = 1_000;

function asViolation(message: string): EditViolation {
  return { code: 'STALE_REVISION', path: '', message };
}

function left(budget: Budget | undefined, used: Usage, calls: readonly ModelCall[]): Budget | undefined {
  if (budget === undefined) return undefined;
  const spent = addUsage(used, usageOfCalls(calls));
  const rest: Budget = {};
  for (const bound of BOUNDS) {
    const most = budget[bound];
    if (most !== undefined) rest[bound] = Math.max(0, most - spent[bound]);
  }
  return rest;
}
