import { Agent, type AgentDefinition } from './agent.js';
import { type Failure, CODES, failed, failureOf } from './failure.js';
import { AttemptContext, type SubtaskEnd } from './attempt-context.js';
import type { AgentEnd, AgentKind, AgentProgram, AgentTask, Effect } from '../effects/index.js';
import type { Work } from './state.js';
import { CONTINUE, FAIL, FINISH } from './states.js';

/** The agents of one attempt, made anew for each: the first one has the task. */
export interface Team<G extends object = object> {
  readonly agents: readonly [Agent<G>, ...Agent<G>[]];
  readonly shared?: Partial<G>;
}

/** Far more than any team needs to hand work over; an agent that turns in circles without its model ends here. */
const IDLE_ROUNDS_MAX = 16;
/** Effects between two replies of the model. */
const EFFECTS_MAX = 64;
/** States on the way from FAIL to the end of the clean-up. */
const CLEAN_UP_MAX = 4;

/** A kind of agent that works alone. */
export function singleAgent<G extends object>({
  first = CONTINUE,
  ...definition
}: Omit<AgentDefinition<G>, 'first'> & { readonly first?: string }): AgentKind {
  return agentKind<G>(definition.name, () => ({ agents: [new Agent({ ...definition, first })] }));
}

/** A kind of agent that devices can have: `team` makes the agents of one attempt. */
export function agentKind<G extends object>(name: string, team: (task: AgentTask) => Team<G>): AgentKind {
  return {
    name,
    *run(task: AgentTask): AgentProgram {
      let made: Team<G>;
      try {
        made = team(task);
      } catch (error) {
        return { kind: 'failed', ...failureOf(error), result: null, notes: [] };
      }
      return yield* runSession(task, made);
    },
  };
}

/**
 * Carries one attempt out, round by round: the state handles, then says which state and which agent come next, until a state
 * ends the round. Never throws: whatever happens, the attempt ends in a stated outcome.
 */
export function* runSession<G extends object>(task: AgentTask, { agents, shared }: Team<G>): AgentProgram {
  const context = new AttemptContext<G>(task, agents);
  for (const key of Object.keys(shared ?? {}) as (keyof G)[]) {
    const value = shared?.[key];
    if (value !== undefined) context.set(key, value);
  }
  const ended: Ended = { failure: null, result: null, over: false };
  try {
    yield* bounded(rounds(agents[0], context, ended), context);
  } catch (error) {
    // What already failed stays what it was; a clean-up that goes wrong makes no success of it.
    if (ended.failure === null) {
      ended.failure = error instanceof LimitReached ? error.failure : failureOf(error);
      if (!ended.over) ended.result = null;
    }
  }
  return endOf(ended, context);
}

/** How the attempt ends, as far as it is known yet. */
interface Ended {
  failure: Failure | null;
  result: AgentEnd['result'];
  over: boolean;
}

function endOf({ failure, result }: Ended, { notes }: { readonly notes: AgentEnd['notes'] }): AgentEnd {
  if (failure === null) return { kind: 'finished', result, notes };
  return { kind: 'failed', ...failure, result, notes };
}

function* rounds<G extends object>(first: Agent<G>, context: AttemptContext<G>, ended: Ended): Work<void> {
  let agent = first;
  agent.begin();
  for (let idle = 0; !agent.state.isRoundEnd(); idle++) {
    if (idle > IDLE_ROUNDS_MAX) throw new Error(`${agent.name} turns in circles and does not ask its model`);
    const before = context.stepsLeft;
    const { state } = agent;
    yield* state.handle(agent, context);
    if (context.stepsLeft < before) idle = 0;
    const next = state.nextAgent(agent, context);
    next.state = state.nextState(agent, context);
    agent = next;
    if (agent.state.isSubtaskEnd() && !agent.state.isRoundEnd()) context.endSubtask(subtaskEnd(agent));
  }
  Object.assign(ended, { failure: failureAt(agent), result: agent.result, over: true });
  yield* cleanUp(agent, context);
}

function subtaskEnd<G extends object>({ name, subtask, failure, result }: Agent<G>): SubtaskEnd {
  const text = failure?.message ?? (typeof result === 'string' ? result : JSON.stringify(result));
  return { agent: name, subtask: subtask ?? '', outcome: failure === null ? 'finished' : 'failed', text };
}

/** A state that is the end of the attempt's failure or success speaks for itself. */
function failureAt<G extends object>({ name, state, failure }: Agent<G>): Failure | null {
  if (failure !== null) return failure;
  if (state.name === FINISH) return null;
  if (state.name === FAIL) return failed(`${name} failed and did not say why`);
  return { code: CODES.error, message: `${name} ended in the state ${state.name}` };
}

/** FAIL goes to FINISH, which may have something to put in order. */
function* cleanUp<G extends object>(agent: Agent<G>, context: AttemptContext<G>): Work<void> {
  for (let turns = 0; turns < CLEAN_UP_MAX; turns++) {
    yield* agent.state.handle(agent, context);
    const next = agent.state.nextState(agent, context);
    if (next.name === agent.state.name) return;
    agent.state = next;
  }
}

/** Lets an agent take as many turns as its task allows, and no more effects in a turn than make sense. */
function* bounded<G extends object>(work: Work<void>, context: AttemptContext<G>): Work<void> {
  let effects = 0;
  try {
    for (let turn = work.next(); turn.done !== true;) {
      const effect: Effect = turn.value;
      effects = effect.kind === 'ask-model' ? 0 : effects + 1;
      if (effects > EFFECTS_MAX) {
        throw new LimitReached({
          code: CODES.error,
          message: `the agent wanted more than ${EFFECTS_MAX} things done in one turn`,
        });
      }
      if (effect.kind === 'ask-model') {
        if (context.stepsLeft === 0) throw new LimitReached(outOfSteps(context.task));
        context.stepsLeft -= 1;
      }
      turn = work.next(yield effect);
    }
  } finally {
    work.return();
  }
}

const outOfSteps = ({ stepsMax }: AgentTask): Failure => ({
  code: CODES.stepLimit,
  message: `the agent has not come to an end in ${stepsMax} ${stepsMax === 1 ? 'step' : 'steps'}`,
});

/** Not for agents to catch: it is thrown outside of them. */
class LimitReached extends Error {
  override readonly name = 'LimitReached';

  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}
