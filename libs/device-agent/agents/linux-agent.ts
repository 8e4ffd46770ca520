import { LinuxAgentReply } from '#proto';
import {
  type AgentPrompter,
  type Middleware,
  Processor,
  singleAgent,
  StateRegistry,
  continueState,
  failState,
  finishState,
} from '../agent/index.js';
import type { AgentKind } from '../effects/index.js';
import { actionExecution, llmInteraction, memoryUpdate, agentToolsOf, type RoundValues } from '../strategies/index.js';

export const LINUX_AGENT = 'LinuxAgent';

interface Options {
  readonly prompter: AgentPrompter;
  readonly middleware?: readonly Middleware[];
}

/**
 * The agent of a Linux device (paper section 8.6.1): one agent, three states, and three phases in CONTINUE. It collects no data
 * by itself; what it wants to know of the device it asks with SYS_INFO and EXEC_CLI.
 */
export function linuxAgent({ prompter, middleware = [] }: Options): AgentKind {
  return singleAgent({ name: LINUX_AGENT, states: linuxAgentStates(middleware), prompter });
}

/** CONTINUE, FINISH and FAIL; FAIL goes to FINISH. */
export function linuxAgentStates(middleware: readonly Middleware[] = []): StateRegistry {
  return new StateRegistry(LINUX_AGENT, [continueState(linuxAgentProcessor(middleware)), finishState(), failState()]);
}

export function linuxAgentProcessor(middleware: readonly Middleware[]): Processor<RoundValues<LinuxAgentReply>> {
  return new Processor<RoundValues<LinuxAgentReply>>({
    name: 'LinuxAgentProcessor',
    inputs: { tools: (_, { task }) => agentToolsOf(task), observation: () => [] },
    phases: {
      LLM_INTERACTION: { strategies: [llmInteraction({ schema: LinuxAgentReply })], failFast: true },
      ACTION_EXECUTION: { strategies: [actionExecution()], failFast: false },
      MEMORY_UPDATE: { strategies: [memoryUpdate()], failFast: false },
    },
    middleware,
  });
}
