import {
  CommandCall,
  commandIdOf,
  parseWith,
  sentenceOf,
  type Json,
  type OutputChunk,
  type Prompt,
  addUsage,
  usageOfCalls,
} from '#proto';
import {
  BoundaryTaken,
  type AgentReply,
  type AskModel,
  type AskPerson,
  type CallTool,
  type Effect,
  type ModelFailed,
  type ModelReplied,
  type EffectOutcome,
  type BoardUsed,
  type PersonAnswered,
  type ToolCalled,
  type UseBoard,
} from '#libs/device-agent';
import { countPromptTokens, mayCallModel, type ModelDesk, type StructuredReply } from '#libs/llm';
import type { AttemptSession } from '../live/index.js';
import {
  agentError,
  Ends,
  agentName,
  answerOutcome,
  boardOutcome,
  boardUsed,
  diverged,
  isCallOf,
  modelOutcome,
  type Diverged,
  repairedJson,
  askedQuestion,
  questionOf,
  stepFailed,
  stepPlanned,
} from '#libs/attempt';
import { type BoardDesk, readInputLines, readOutputLines } from '../inputs/index.js';
import { StepCommands, type StepParts } from './step-command.runner.js';
import { ThoughtChunks } from './thought-chunks.js';

const BOUNDARY_TRIES = 3;
/** Of one step, whatever the program is made of: one that never comes to an end would keep everybody else from working. */
const EFFECTS_MAX = 1_000;

export interface EffectParts extends StepParts {
  readonly desk: ModelDesk;
  readonly board: BoardDesk;
  /** A random text, new in every call: what nobody who wrote a device's output could have known. */
  readonly random: () => string;
  /** For people who watch; may be lost. */
  readonly publish: (chunk: OutputChunk) => void;
  readonly stepsMax: number;
}

/**
 * Carries the effects of one agent out, in order. What is recorded is never asked or done again: the program is told what it
 * was told before, and where it wants something else than before, the attempt ends.
 */
export class Effects {
  readonly commands: StepCommands;
  readonly #parts: EffectParts;
  readonly #session: AttemptSession;
  /** Calls that come before the first turn of the model belong to step 1, too. */
  #step = 1;
  #index = 0;
  #asked = false;
  #effects = 0;

  constructor(parts: EffectParts, session: AttemptSession) {
    this.#parts = parts;
    this.#session = session;
    this.commands = new StepCommands(parts, session);
  }

  /** The step that comes after everything the program did. */
  get nextStep(): number {
    return this.#step + 1;
  }

  /** Throws Halt when the attempt is not to go on, and Ends when it ends here. */
  async outcomeOf(effect: Effect): Promise<EffectOutcome> {
    if (++this.#effects > EFFECTS_MAX)
      throw agentError(new Error(`it wanted ${this.#effects} things done in one step`));
    switch (effect.kind) {
      case 'ask-model':
        return this.#askModel(effect);
      case 'call-tool':
        return this.#callTool(effect);
      case 'ask-person':
        return this.#askPerson(effect);
      case 'read-output':
        return readOutputLines(this.#session, effect, this.#parts.artifacts);
      case 'read-input':
        return readInputLines(this.#session.live.order, effect, this.#parts);
      case 'use-board':
        return this.#useBoard(effect);
      default:
        return effect satisfies never;
    }
  }

  /** Throws Ends when there are facts of the agent that the program, now at its end, has not come to. */
  checkEnd(): void {
    const { steps, commands } = this.#session.book;
    const later = [...commands.values()].find(
      ({ step, index, judged }) => judged.at(0)?.origin !== 'verify' && this.#isLater({ step, index }),
    );
    if (later !== undefined) throw ended(diverged(`${later.commandId} is recorded, now the agent has come to its end`));
    if (this.#session.book.board.some((one) => this.#isLater(one)))
      throw ended(diverged('a use of the board is recorded, now the agent has come to its end'));
    const next = this.#asked ? this.#step + 1 : this.#step;
    if (steps.has(next)) throw ended(diverged(`step ${next} is recorded, now the agent has ended`));
  }

  async #askModel(effect: AskModel): Promise<ModelReplied | ModelFailed> {
    this.#nextStep();
    const step = this.#step;
    const known = modelOutcome(this.#session.book, step, effect);
    if (known !== undefined) return agreed(known);
    this.#checkWanted();
    if (step > this.#parts.stepsMax) {
      throw new Ends({
        kind: 'failed',
        code: 'STEP_LIMIT',
        message: `it did not end in ${this.#parts.stepsMax} steps`,
      });
    }
    await this.#session.flush();
    this.#session.check();
    await this.#recordTurn(effect, step, this.#promptOf(effect));
    const told = modelOutcome(this.#session.book, step, effect);
    if (told === undefined) throw new Error(`step ${step} was not recorded`);
    return agreed(told);
  }

  #isLater({ step, index }: { readonly step: number; readonly index: number }): boolean {
    return step > this.#step || (step === this.#step && index >= this.#index);
  }

  /** Throws Ends when a command of the step that is over is recorded and was not wanted again. */
  #nextStep(): void {
    if (this.#asked) {
      this.#checkWanted();
      [this.#step, this.#index] = [this.#step + 1, 0];
    }
    this.#asked = true;
    this.#effects = 0;
  }

  #checkWanted(): void {
    const id = this.#idAt(this.#index);
    const { commands, board } = this.#session.book;
    if (!commands.has(id) && !board.some((one) => one.step === this.#step && one.index === this.#index)) return;
    throw ended(diverged(`${id} is recorded, now the model is to be asked`));
  }

  /** A boundary that stands in some text already, which nobody could have known, is simply not used. */
  #promptOf({ prompt }: AskModel): Prompt {
    for (let tries = 1; ; tries++) {
      try {
        return prompt(this.#parts.random());
      } catch (error) {
        if (!(error instanceof BoundaryTaken) || tries === BOUNDARY_TRIES) throw agentError(error);
      }
    }
  }

  async #recordTurn(effect: AskModel, step: number, prompt: Prompt): Promise<void> {
    const answered = await this.#askDesk(effect, step, prompt);
    const place = { step, agent: agentName(effect.agent) };
    if (answered.kind === 'reply') {
      this.#session.record(stepPlanned({ ...place, told: effect.told ?? [] }, prompt, answered.calls, answered.value));
      return;
    }
    // Nobody wanted the reply any more: what it would have been is not a fact.
    if (answered.code === 'ABORTED') this.#session.check();
    this.#session.record(stepFailed(place, answered.calls, answered));
  }

  async #askDesk({ agent, schema }: AskModel, step: number, prompt: Prompt): Promise<StructuredReply<AgentReply>> {
    const { desk, clock, publish } = this.#parts;
    const { live, book } = this.#session;
    const { key, start } = live.order;
    const { budget = {} } = start;
    const least = budget.tokens === undefined ? {} : { tokens: countPromptTokens(prompt.messages) };
    const chunks = new ThoughtChunks({ commandId: this.#idAt(this.#index), deviceId: start.deviceId });
    return desk.ask({
      agent,
      prompt,
      schema,
      signal: live.halted,
      deadlineMs: Math.max(1, Date.parse(start.timeoutAt) - clock.now()),
      turn: `${key.runId}.${key.taskId}.${key.attempt}.${step}`,
      mayCall: (calls) => mayCallModel(budget, addUsage(book.used, usageOfCalls(calls)), least),
      onText: (soFar) => {
        const chunk = chunks.next(soFar, clock.now());
        if (chunk !== null) publish(chunk);
      },
    });
  }

  async #callTool(effect: CallTool): Promise<ToolCalled> {
    const step = this.#step;
    const index = this.#index++;
    const { command, problem } = recordable(effect.command);
    if (problem !== null) {
      // The same each time it is wanted, so there is nothing to record.
      const ended = { kind: 'refused', by: 'policy', code: 'INVALID_COMMAND', message: problem } as const;
      return { kind: 'called', step, index, command, ended };
    }
    const record = this.#session.book.commands.get(commandIdOf(this.#session.live.order.key, step, index));
    if (record !== undefined && !isCallOf(record, { command })) {
      throw ended(diverged(`${record.commandId} is recorded with another command than the one that is wanted now`));
    }
    return this.commands.carryOut({
      step,
      index,
      command,
      origin: 'agent',
      asker: this.#asker(),
      ...(effect.confirm && { confirm: true }),
      ...(effect.shows && { shows: effect.shows }),
    });
  }

  async #askPerson({ question }: AskPerson): Promise<PersonAnswered> {
    const step = this.#step;
    const id = this.#idAt(this.#index++);
    const session = this.#session;
    const record = session.book.commands.get(id);
    if (session.live.order.start.approval === 'never') {
      return { kind: 'answered', step, text: null, note: 'the run asks nobody' };
    }
    const asked = record?.ask?.kind === 'question' ? record.ask.question : undefined;
    if (record !== undefined && asked !== questionOf(question)) {
      throw ended(diverged(`${id} is recorded, but not with the question that is asked now`));
    }
    if (asked === undefined) {
      session.check();
      session.record(askedQuestion({ ...this.#asker(), ...this.commands.askShape(step) }, id, question));
      await session.flush('ask');
    }
    const decided = session.book.commands.get(id);
    if (decided?.decided === null) await this.commands.waitForPerson(id);
    const answer = session.book.commands.get(id);
    const told = answer === undefined ? undefined : answerOutcome(answer);
    if (told === undefined) throw new Error(`${id} was not answered`);
    return told;
  }

  /** What stood there is told again as it was; a write is sent again under its id until its outcome is recorded. */
  async #useBoard({ use }: UseBoard): Promise<BoardUsed> {
    const session = this.#session;
    const place = { step: this.#step, index: this.#index++ };
    const known = boardOutcome(session.book, place, use);
    if (known?.kind === 'diverged') throw ended(known);
    if (known !== undefined) return known;
    const id = this.#idAt(place.index);
    if (session.book.commands.has(id)) throw ended(diverged(`${id} is recorded, now the board is wanted`));
    session.check();
    await session.flush();
    session.record(boardUsed(place, use, await this.#parts.board.use(session.live.order.key, id, use)));
    const told = boardOutcome(session.book, place, use);
    if (told?.kind !== 'used-board') throw new Error(`${id} was not recorded`);
    return told;
  }

  #idAt(index: number): string {
    return commandIdOf(this.#session.live.order.key, this.#step, index);
  }

  #asker(): { agent: string; thought: string; plan: readonly string[] } {
    const record = this.#session.book.steps.get(this.#step);
    if (record?.kind !== 'planned') return { agent: record?.agent ?? '', thought: '', plan: [] };
    return { agent: record.agent, thought: record.thought, plan: record.plan };
  }
}

/** A budget that is used up is the end, not something an agent could do anything about. */
function agreed(outcome: ModelReplied | ModelFailed | Diverged): ModelReplied | ModelFailed {
  if (outcome.kind === 'diverged') throw ended(outcome);
  if (outcome.kind === 'replied' || outcome.code !== 'BUDGET_EXHAUSTED') return outcome;
  throw new Ends({ kind: 'failed', code: outcome.code, message: outcome.message });
}

/** A command as the log can hold it. Devices name their tools as they like, and agents their arguments: what cannot be held is not run. */
function recordable(wanted: CommandCall): { readonly command: CommandCall; readonly problem: string | null } {
  const command = repairedJson(plainJson(wanted)) as unknown as CommandCall;
  const parsed = parseWith(CommandCall, command);
  return { command, problem: parsed.ok ? null : parsed.issues.map(sentenceOf).join('; ') };
}

function plainJson(value: CommandCall): Json {
  try {
    return JSON.parse(JSON.stringify(value)) as Json;
  } catch (error) {
    throw agentError(error);
  }
}

function ended({ message }: Diverged): Ends {
  return new Ends({ kind: 'failed', code: 'NOT_DETERMINISTIC', message });
}
