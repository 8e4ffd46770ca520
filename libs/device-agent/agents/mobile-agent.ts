import { LinuxAgentReply, type ToolInfo } from '#proto';
import {
  Agent,
  agentKind,
  type AgentPrompter,
  CONTINUE,
  continueState,
  failState,
  finishState,
  type Middleware,
  Processor,
  StateRegistry,
} from '../agent/index.js';
import type { AgentKind, AgentTask } from '../effects/index.js';
import { lookAtPhone, MOBILE_AGENT, placedOnPhone, type PhoneMemory } from '../screen/index.js';
import {
  actionExecution,
  agentToolsOf,
  llmInteraction,
  memoryUpdate,
  isOwnTool,
  type RoundValues,
} from '../strategies/index.js';

interface Options {
  readonly prompter: AgentPrompter;
  /** Whether its model is shown pictures: for the others none are taken. */
  readonly sees?: boolean;
  readonly middleware?: readonly Middleware[];
}

type PhoneValues = RoundValues<LinuxAgentReply> & Pick<PhoneMemory, 'applications'>;

/**
 * What the agent may do, beside what it serves itself. The computer that the phone is connected to has tools of its own, and a command line
 * there could do to the phone what its tools refuse: it is not the agent's.
 */
const PHONE_TOOLS: ReadonlySet<string> = new Set([
  'click_control',
  'type_text',
  'tap',
  'swipe',
  'press_key',
  'back',
  'launch_app',
  'wait',
  'get_device_info',
  'get_mobile_app_target_info',
  'capture_screenshot',
]);

/**
 * The agent of a phone: one agent, three states, four phases in CONTINUE. Before every turn it looks at the screen, so that what it chooses
 * from is there; which applications there are it asks once.
 */
export function mobileAgent({ prompter, sees = false, middleware = [] }: Options): AgentKind {
  const states = new StateRegistry<PhoneMemory>(MOBILE_AGENT, [
    continueState(mobileAgentProcessor(sees, middleware)),
    finishState(),
    failState(),
  ]);
  return agentKind<PhoneMemory>(MOBILE_AGENT, () => ({
    agents: [new Agent({ name: MOBILE_AGENT, states, first: CONTINUE, prompter })],
  }));
}

function mobileAgentProcessor(sees: boolean, middleware: readonly Middleware[]): Processor<PhoneValues, PhoneMemory> {
  return new Processor<PhoneValues, PhoneMemory>({
    name: 'MobileAgentProcessor',
    inputs: { tools: (_, { task }) => phoneToolsOf(task) },
    phases: {
      DATA_COLLECTION: { strategies: [lookAtPhone<LinuxAgentReply>(sees)], failFast: false },
      LLM_INTERACTION: { strategies: [llmInteraction({ schema: LinuxAgentReply })], failFast: true },
      ACTION_EXECUTION: {
        strategies: [actionExecution<LinuxAgentReply, PhoneMemory>(placedOnPhone)],
        failFast: false,
      },
      MEMORY_UPDATE: { strategies: [memoryUpdate()], failFast: false },
    },
    middleware,
    finalise: ['applications'],
  });
}

const phoneToolsOf = (task: AgentTask): readonly ToolInfo[] =>
  agentToolsOf(task).filter(({ name }) => PHONE_TOOLS.has(name) || isOwnTool(name));
