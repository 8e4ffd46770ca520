import type { AgentState } from './state.js';

/** Names of the states that every agent of the template has. */
export const CONTINUE = 'CONTINUE';
export const FINISH = 'FINISH';
export const FAIL = 'FAIL';
const NONE = 'NONE';

/** The task goes on: one round of the processor, then the state that the agent has decided on. */
export function continueState<G extends object>(processor: { process: AgentState<G>['handle'] }): AgentState<G> {
  return {
    ...unmoved,
    name: CONTINUE,
    handle: (agent, context) => processor.process(agent, context),
    nextState: (agent) => agent.states.get(agent.status),
  };
}

/** Something is done before the agent goes on in the state `next`. */
export function passingState<G extends object>(
  name: string,
  handle: AgentState<G>['handle'],
  next: string = CONTINUE,
): AgentState<G> {
  return { ...unmoved, name, handle, nextState: (agent) => agent.states.get(next) };
}

/** The task is done; stays so. `cleanUp` is work to be done at the end of a task, whether it failed or not. */
export function finishState<G extends object>(cleanUp: AgentState<G>['handle'] = nothing): AgentState<G> {
  return { ...ended, name: FINISH, handle: cleanUp };
}

/** The task cannot be done. Goes to FINISH for clean-up; that it failed stays. */
export function failState<G extends object>(): AgentState<G> {
  return { ...ended, name: FAIL };
}

export function noneState<G extends object>(): AgentState<G> {
  return { ...ended, name: NONE };
}

/** What all states without a purpose of their own are made of: nothing is done, and the agent stays. */
const unmoved = {
  handle: nothing,
  nextAgent: <T>(agent: T): T => agent,
  isRoundEnd: () => false,
  isSubtaskEnd: () => false,
};

const ended = {
  ...unmoved,
  nextState: <G extends object>(agent: { readonly states: { get(name: string): AgentState<G> } }) =>
    agent.states.get(FINISH),
  isRoundEnd: () => true,
  isSubtaskEnd: () => true,
};

function* nothing(): Generator<never, void> {
  // A state in which nothing is to be done.
}
