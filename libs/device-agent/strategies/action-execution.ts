import type { CommandCall } from '#proto';
import {
  failed,
  CONTINUE,
  FAIL,
  FINISH,
  type Work,
  strategyOf,
  type Strategy,
  type StrategyCall,
} from '../agent/index.js';
import type { ShownPlace } from '../effects/index.js';
import { callProblem } from './call-problems.js';
import { READ_INPUT_TOOL } from '../prompter/index.js';
import { askPerson, callTool, readInput, readOutput, useBoard } from './effects.js';
import { ASK_TOOL, boardUseOf, inputReadOf, isOwnTool, questionAsked, readOf } from './own-tools.js';
import { isFailing, outcomeText } from '../memory/index.js';
import type { ActingReply, Done, RoundValues } from './values.js';

/**
 * Makes the call of the reply, and lets the agent go where the reply says. What cannot be called, was refused or went wrong is
 * told to the model; nothing of it ends the task, unless the model says so or goes on repeating what did not help.
 */
export function actionExecution<R extends ActingReply, G extends object = object>(
  placing: Placing<G> = (_, command) => ({ command }),
): Strategy<RoundValues<R>, G> {
  return strategyOf<RoundValues<R>, G>()({
    name: 'action-execution',
    dependsOn: ['turn', 'tools'],
    provides: ['done'],
    *execute(at, { turn: { reply }, tools }) {
      const { action, result } = reply;
      const call: CommandCall = { tool: action.function, arguments: { ...action.arguments } };
      if (action.status === FAIL) {
        at.agent.fail(failed(result), result);
        return { done: { ...NOTHING, status: FAIL } };
      }
      if (call.tool === '') {
        at.agent.decide(action.status, result);
        return { done: { ...NOTHING, status: action.status } };
      }
      const hopeless = at.agent.repeats.hopeless(call);
      if (hopeless !== null) {
        at.agent.fail(failed(`gave up: ${call.tool} was called ${hopeless} times with the same outcome`), result);
        return { done: { ...NOTHING, status: FAIL } };
      }
      const problem = callProblem(call, tools);
      const placed = problem === null ? placing(at, call) : { problem };
      const done = 'problem' in placed ? untried(at, call, placed.problem) : yield* act(at, call, placed);
      return { done: conclude(at, reply, done) };
    },
    fallback: ({ turn }) => ({ done: { ...NOTHING, status: turn.reply.action.status === FAIL ? FAIL : CONTINUE } }),
  });
}

/** A call with what its agent has seen where it acts, or why it is not made, in words for the model. */
export type ActionPlace =
  | {
      readonly command: CommandCall;
      readonly shows?: ShownPlace | undefined;
      /** What the screen shows: the same answer before another screen is another outcome. */
      readonly before?: string;
    }
  | { readonly problem: string };

type Placing<G extends object> = (at: StrategyCall<G>, call: CommandCall) => ActionPlace;

type Acted = Omit<Done, 'status'> & {
  /** What was wanted was done and went well. */
  readonly succeeded: boolean;
};

const NOTHING: Omit<Done, 'status'> = { calls: [], answers: [], reads: [], problems: [] };

function* act<G extends object>(
  at: StrategyCall<G>,
  call: CommandCall,
  placed: Extract<ActionPlace, { command: CommandCall }>,
): Work<Acted> {
  if (isOwnTool(call.tool)) return yield* ownCall(at, call);
  const { index, command, ended } = yield* callTool(placed.command, { shows: placed.shows });
  const failing = isFailing(ended);
  const seen = failing ? '' : (placed.before ?? '');
  const told = at.agent.repeats.note(call, outcomeText(ended) + seen, failing);
  return { ...NOTHING, calls: [{ index, command, ended }], problems: told, succeeded: !failing };
}

/** A call of a tool that the agent serves by itself. */
export function* ownCall<G extends object>({ agent }: StrategyCall<G>, call: CommandCall): Work<Acted> {
  if (call.tool === ASK_TOOL.name) {
    const question = questionAsked(call);
    const { text, note } = yield* askPerson(question);
    const told = agent.repeats.note(call, text ?? note, text === null);
    return { ...NOTHING, answers: [{ question, text, note }], problems: told, succeeded: text !== null };
  }
  if (call.tool === READ_INPUT_TOOL.name) {
    const { taskId: task, field, ...window } = inputReadOf(call);
    const named = field === undefined ? {} : { field };
    const { text } = yield* readInput({ taskId: task, ...named, ...window });
    const told = agent.repeats.note(call, text, false);
    return { ...NOTHING, reads: [{ task, ...named, text }], problems: told, succeeded: true };
  }
  const use = boardUseOf(call);
  if (use !== undefined) {
    const { text, done } = yield* useBoard(use);
    const told = agent.repeats.note(call, text, !done);
    return { ...NOTHING, reads: [{ board: use.does, text }], problems: told, succeeded: done };
  }
  const read = readOf(call);
  const { text } = yield* readOutput(read);
  const told = agent.repeats.note(call, text, false);
  return { ...NOTHING, reads: [{ step: read.step, index: read.index, text }], problems: told, succeeded: true };
}

function untried<G extends object>({ agent }: StrategyCall<G>, call: CommandCall, problem: string): Acted {
  const told = agent.repeats.note(call, problem, true);
  return { ...NOTHING, problems: [problem, ...told], succeeded: false };
}

/** A FINISH whose own call went wrong was said too early. */
function conclude<G extends object>({ agent }: StrategyCall<G>, reply: ActingReply, acted: Acted): Done {
  const { succeeded, ...done } = acted;
  const { status } = reply.action;
  if (status !== FINISH || succeeded) {
    agent.decide(status, reply.result);
    return { ...done, status };
  }
  agent.decide(CONTINUE);
  const problem = 'FINISH was not taken: the call that came with it did not succeed.';
  return { ...done, status: CONTINUE, problems: [...done.problems, problem] };
}
