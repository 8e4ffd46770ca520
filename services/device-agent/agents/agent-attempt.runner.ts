import type { Logger } from 'pino';
import { commandIdOf, type Verification, type WorkspaceFile } from '#proto';
import type { Loaded } from '#libs/event-log';
import type { AgentEnd, AgentKind, AgentProgram, AgentTask, EffectOutcome, ToolCalled } from '#libs/device-agent';
import {
  isLost,
  lostEnding,
  STOPPED,
  type AgentEnding,
  isExact,
  type Attempt,
  type ExactOrder,
  isKnown,
  lastFinished,
  openCommands,
  eventsOf,
  type Ending,
  agentError,
  Ends,
  wasAtScreen,
} from '#libs/attempt';
import { type AttemptCommits, AttemptSession, Halt, type Carried, type LiveAttempt } from '../live/index.js';
import { Effects, type EffectParts } from './effects.runner.js';
import { GivenDevices } from './given-device.adapter.js';
import { FileMoves } from './file-moves.runner.js';
import { resultOf, readAgentInputs } from '../inputs/index.js';
import { type Conditions, postcondition, verifiedEnding } from './verification.js';

export interface AgentAttemptParts extends EffectParts {
  readonly commits: AttemptCommits;
  readonly instance: string;
  readonly logger: Logger;
  /** The kinds of agents that this replica serves, by name. */
  readonly kinds: ReadonlyMap<string, AgentKind>;
  readonly conditions: Conditions;
}

type Refused = Extract<ToolCalled['ended'], { kind: 'refused' }>;

/** What the exact command of a task came to, as far as it is known. */
export type ExactEnd = (session: AttemptSession) => Promise<Ending | Halt['why']>;

/**
 * Carries out attempts of more than one command or move: those of agents, and exact commands that are judged or have a
 * post-condition. An agent runs from
 * its beginning each time and is told what is recorded; only what is not recorded yet is asked or done.
 */
export class AgentAttemptRunner {
  readonly #parts: AgentAttemptParts;
  readonly #given: GivenDevices;

  constructor(parts: AgentAttemptParts) {
    this.#parts = parts;
    this.#given = new GivenDevices(parts);
  }

  knows(deviceId: string): boolean {
    return this.#parts.profile(deviceId) !== undefined;
  }

  /** The agent of a device, when its profile is known and this replica serves such agents. */
  kindOf(deviceId: string): AgentKind | undefined {
    const profile = this.#parts.profile(deviceId);
    return profile === undefined ? undefined : this.#parts.kinds.get(profile.agent);
  }

  open(live: LiveAttempt, begun: Loaded<Attempt>): AttemptSession {
    return new AttemptSession(live, begun, this.#parts);
  }

  /** `ended`: the end is stored. `left`: it belongs to somebody else or to later. Throws when the log cannot be read or written. */
  carryOut(session: AttemptSession, kind: AgentKind): Promise<Carried> {
    const effects = new Effects(this.#parts, session);
    return this.#toEnd(session, effects, async () => {
      session.check();
      const files = this.#filesOf(session, effects);
      const program = await this.#begun(session, kind, await files.bring());
      const ending = await this.#follow(program, effects);
      return files.collect(await this.#verified(session, effects, ending, 'verify'));
    });
  }

  /** Nobody has to know the agent for the end of what is stopped: the device says what became of what it was given. */
  carryOutStopped(session: AttemptSession): Promise<Carried> {
    const stopped = () => Promise.reject(new Halt('stopped'));
    return this.#toEnd(session, new Effects(this.#parts, session), stopped);
  }

  /** The exact command first; then, when it succeeded, what its task says must hold. */
  carryOutVerified(session: AttemptSession, exact: ExactEnd): Promise<Carried> {
    const effects = new Effects(this.#parts, session);
    return this.#toEnd(session, effects, async () => {
      const files = this.#filesOf(session, effects);
      await files.bring();
      const ending = await this.#exactEnding(session, effects, exact);
      return files.collect(await this.#verified(session, effects, ending, 'requester'));
    });
  }

  /** The exact command with the policy's word, and a person's where the policy wants one; then what its task says must hold. */
  carryOutJudged(session: AttemptSession, { start }: ExactOrder): Promise<Carried> {
    const effects = new Effects(this.#parts, session);
    return this.#toEnd(session, effects, async () => {
      session.check();
      const files = this.#filesOf(session, effects);
      await files.bring();
      const { taskId, command } = start;
      const thought = `it is the command of task ${taskId}, which is judged before it runs`;
      const asker = { agent: 'planner', thought, plan: [] };
      const { ended } = await effects.commands.carryOut({ step: 0, index: 0, command, origin: 'plan', asker });
      if (ended.kind === 'refused' && ended.by !== 'device') return refusedEnding(ended);
      const ending = await this.#exactEnding(session, effects);
      return files.collect(await this.#verified(session, effects, ending, 'verify'));
    });
  }

  #filesOf(session: AttemptSession, { commands }: Effects): FileMoves {
    return new FileMoves(this.#parts, session, commands);
  }

  async #toEnd(session: AttemptSession, effects: Effects, work: () => Promise<AgentEnding>): Promise<Carried> {
    this.#tellAgain(session);
    const ending = await this.#endingOf(session, effects, work);
    if (typeof ending === 'string') return ending;
    const isOpen = !isLost(ending) && openCommands(session.book).length > 0;
    const carried = await session.end(ending);
    if (carried === 'ended') effects.commands.tellStored();
    if (carried === 'ended' && (isOpen || wasAtScreen(session.live.order, session.book))) this.#tellStop(session);
    const code = ending.kind === 'failed' ? ending.code : undefined;
    this.#parts.logger.info({ ...session.live.order.key, ending: ending.kind, code, carried }, 'attempt ended');
    return carried;
  }

  async #endingOf(
    session: AttemptSession,
    effects: Effects,
    work: () => Promise<AgentEnding>,
  ): Promise<AgentEnding | Carried> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Ends) return error.ending;
      if (!(error instanceof Halt)) throw error;
      switch (error.why) {
        case 'stopped':
          return this.#endingOf(session, effects, async () => {
            await effects.commands.settleOpen();
            return STOPPED;
          });
        case 'lost':
          return lostEnding(session.book, session.live.order.start.journalId === null);
        case 'finished':
          return 'ended';
        case 'shutdown':
          return this.#leave(session);
        default:
          return 'left';
      }
    }
  }

  /** Nobody waits any more for what may be running, and the screen is for whoever comes next. */
  #tellStop({ live }: AttemptSession): void {
    const { key, start } = live.order;
    this.#parts.device.tell({ kind: 'stop', attempt: key, deviceId: start.deviceId });
  }

  /** What the model has said is not to be asked again by who goes on. */
  async #leave(session: AttemptSession): Promise<Carried> {
    session.forgetIntents();
    try {
      await session.flush();
    } catch (error) {
      if (!(error instanceof Halt)) this.#parts.logger.warn({ err: error }, 'what was recorded last is not stored');
    }
    return 'left';
  }

  /** The process may have died between a result and this. */
  #tellAgain({ book, live }: AttemptSession): void {
    const last = lastFinished(book);
    if (last === undefined || last.finished === null || !isKnown(last.finished)) return;
    this.#parts.device.tell({ kind: 'stored', commandId: last.commandId, deviceId: live.order.start.deviceId });
  }

  /** The program is told what it was told when the attempt began, so that it goes the same way again. */
  async #begun(session: AttemptSession, kind: AgentKind, brought: readonly WorkspaceFile[]): Promise<AgentProgram> {
    const { order } = session.live;
    const { agent, taskId, deviceId, files, workspace } = order.start;
    if (agent === undefined) throw new Error(`attempt of ${taskId} is not for an agent`);
    const { name, description, tips, blackboard } = agent;
    const { kind: wanted, device, ref } = await this.#given.of(session.book, this.#parts.profile(deviceId), deviceId);
    session.given = ref;
    const inputs = await readAgentInputs(order, this.#parts);
    // A limit that was lowered meanwhile ends the attempt after the steps that it has, not before them.
    const stepsMax = Math.max(this.#parts.stepsMax, ...session.book.steps.keys());
    const given = workspace && { workspace: { brought, leaves: files?.out ?? [] } };
    const task = { taskId, name, description, tips, inputs, ...given, blackboard, device, stepsMax };
    return started(this.#parts.kinds.get(wanted) ?? kind, task);
  }

  async #follow(program: AgentProgram, effects: Effects): Promise<AgentEnding> {
    let at = advance(program);
    while (at.done !== true) {
      const outcome = await effects.outcomeOf(at.value);
      at = advance(program, outcome);
    }
    effects.checkEnd();
    return this.#endingBy(at.value);
  }

  async #endingBy(end: AgentEnd): Promise<AgentEnding> {
    const result = await resultOf({ result: end.result }, this.#parts.artifacts);
    const { notes } = end;
    if (end.kind === 'finished') return { kind: 'completed', result: result ?? { value: null }, notes };
    const output = end.result === '' ? null : result;
    return { kind: 'failed', code: end.code, message: end.message, output, notes };
  }

  async #verified(
    session: AttemptSession,
    effects: Effects,
    ending: AgentEnding,
    origin: 'verify' | 'requester',
  ): Promise<AgentEnding> {
    const { verify, agent } = session.live.order.start;
    if (verify === undefined || ending.kind === 'failed') return ending;
    if (session.book.checked === null) {
      const step = agent === undefined ? 1 : effects.nextStep;
      const checked = await this.#runCheck(session, effects, { verify, step, origin }).catch((error: unknown) => {
        throw error instanceof Ends ? error.keeping(ending) : error;
      });
      session.record(await postcondition(verify, { result: ending.result, checked }, this.#parts.conditions));
    }
    const { checked } = session.book;
    return checked === null ? ending : verifiedEnding(ending, checked);
  }

  async #runCheck(
    { live }: AttemptSession,
    { commands }: Effects,
    { verify, step, origin }: { verify: Verification; step: number; origin: 'verify' | 'requester' },
  ): Promise<Parameters<typeof postcondition>[1]['checked']> {
    const { command } = verify;
    if (command === undefined) return undefined;
    const asker = { agent: 'verify', thought: 'checks whether the task is done', plan: [] };
    const called = await commands.carryOut({ step, index: 0, command, origin, asker });
    return { called, commandId: commandIdOf(live.order.key, step, 0) };
  }

  /** What is recorded of the exact command, or else what the device says now; recorded before anything follows from it. */
  async #exactEnding(session: AttemptSession, effects: Effects, exact?: ExactEnd): Promise<AgentEnding> {
    const order = orderOf(session);
    const id = commandIdOf(order.key);
    const ending = recordedExact(session) ?? (await exact?.(session));
    if (ending === undefined) throw new Error(`what became of ${id} is not recorded`);
    if (typeof ending === 'string') throw new Halt(ending);
    const events = eventsOf(order, ending);
    if ((session.book.commands.get(id)?.finished ?? null) === null) {
      session.record(...events.filter(({ type }) => type === 'COMMAND_FINISHED'));
      if (ending.kind === 'outcome') effects.commands.tellLater(id);
      if (order.start.verify?.command !== undefined || order.start.files !== undefined) {
        await session.flush();
        effects.commands.tellStored();
      }
    }
    const end = events.find((event) => event.type === 'ATTEMPT_FINISHED')?.data;
    if (end === undefined) throw new Error('an exact command without an end');
    if (end.status === 'completed') return { kind: 'completed', result: end.result };
    const { code, message, outcome, output = null, sent } = end.error;
    return { kind: 'failed', code, message, outcome, output, ...(sent === false && { sent }) };
  }
}

function recordedExact({ book, live }: AttemptSession): Ending | undefined {
  const finished = book.commands.get(commandIdOf(live.order.key))?.finished ?? null;
  if (finished === null) return undefined;
  const { result, ...outcome } = finished;
  if (finished.refused === true && finished.error !== null) return { kind: 'refused', ...finished.error };
  return { kind: 'outcome', outcome: { ...outcome, result: result?.value ?? null }, result };
}

/** The order, with the command as a person left it: that one has ended. */
function orderOf({ book, live }: AttemptSession): ExactOrder {
  const { order } = live;
  if (!isExact(order)) throw new Error('the attempt has no exact command');
  const command = book.commands.get(commandIdOf(order.key))?.issued?.command;
  return command === undefined ? order : { ...order, start: { ...order.start, command } };
}

/** What an agent would be told is the end where there is none. */
function refusedEnding({ by, code, message }: Refused): AgentEnding {
  const who = by === 'policy' ? 'the command policy does not let the command run' : 'the command was not approved';
  return { kind: 'failed', code, message: `${who}: ${message}` };
}

function started(kind: AgentKind, task: AgentTask): AgentProgram {
  try {
    return kind.run(task);
  } catch (error) {
    throw agentError(error);
  }
}

function advance(program: AgentProgram, outcome?: EffectOutcome): ReturnType<AgentProgram['next']> {
  try {
    return outcome === undefined ? program.next() : program.next(outcome);
  } catch (error) {
    throw agentError(error);
  }
}
