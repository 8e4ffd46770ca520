import {
  fieldsOf,
  isObject,
  LinuxAgentReply,
  type CommandCall,
  type ContentPart,
  type Json,
  type ToolInfo,
} from '#proto';
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
  strategyOf,
  type Work,
} from '../agent/index.js';
import type { AgentKind, AgentTask } from '../effects/index.js';
import {
  actionExecution,
  agentToolsOf,
  callTool,
  llmInteraction,
  memoryUpdate,
  isOwnTool,
  type RoundValues,
} from '../strategies/index.js';

export const MOBILE_AGENT = 'MobileAgent';

interface Options {
  readonly prompter: AgentPrompter;
  readonly middleware?: readonly Middleware[];
}

/** What the agent keeps from one turn to the next. */
interface Phone {
  /** Applications that are installed, as they were told once. */
  applications: string;
}

type PhoneValues = RoundValues<LinuxAgentReply> & Phone;

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

const LIST_APPLICATIONS: CommandCall = {
  tool: 'get_mobile_app_target_info',
  arguments: { include_system_apps: false },
};
const LIST_CONTROLS: CommandCall = { tool: 'get_app_window_controls_target_info', arguments: {} };

/**
 * The agent of a phone: one agent, three states, four phases in CONTINUE. Before every turn it looks at the screen, so that what it chooses
 * from is there; which applications there are it asks once.
 */
export function mobileAgent({ prompter, middleware = [] }: Options): AgentKind {
  const states = new StateRegistry<Phone>(MOBILE_AGENT, [
    continueState(mobileAgentProcessor(middleware)),
    finishState(),
    failState(),
  ]);
  return agentKind<Phone>(MOBILE_AGENT, () => ({
    agents: [new Agent({ name: MOBILE_AGENT, states, first: CONTINUE, prompter })],
  }));
}

function mobileAgentProcessor(middleware: readonly Middleware[]): Processor<PhoneValues, Phone> {
  return new Processor<PhoneValues, Phone>({
    name: 'MobileAgentProcessor',
    inputs: { tools: (_, { task }) => phoneToolsOf(task) },
    phases: {
      DATA_COLLECTION: { strategies: [lookAtPhone], failFast: false },
      LLM_INTERACTION: { strategies: [llmInteraction({ schema: LinuxAgentReply })], failFast: true },
      ACTION_EXECUTION: { strategies: [actionExecution()], failFast: false },
      MEMORY_UPDATE: { strategies: [memoryUpdate()], failFast: false },
    },
    middleware,
    finalise: ['applications'],
  });
}

const phoneToolsOf = (task: AgentTask): readonly ToolInfo[] =>
  agentToolsOf(task).filter(({ name }) => PHONE_TOOLS.has(name) || isOwnTool(name));

const lookAtPhone = strategyOf<PhoneValues, Phone>()({
  name: 'look-at-phone',
  dependsOn: [],
  provides: ['observation', 'applications'],
  *execute({ context }) {
    const applications = context.get('applications') ?? applicationsIn(yield* seen(LIST_APPLICATIONS));
    const controls = controlsIn(yield* seen(LIST_CONTROLS));
    return { observation: [textOf(applications), textOf(controls)], applications };
  },
  fallback: () => ({ observation: [], applications: 'Applications that are installed: nothing is known of them.' }),
});

const textOf = (text: string): ContentPart => ({ type: 'text', text });

/** What a look gave, or the words for why it gave nothing. */
function* seen(call: CommandCall): Work<Json> {
  const { ended } = yield* callTool(call);
  if (ended.kind === 'finished' && ended.state === 'COMPLETED') return ended.result?.value ?? null;
  return `Nothing was seen: ${ended.message ?? 'no reason was given'}`;
}

/** Ours says `{result, ...}`; foreign servers give the list alone, and null when it is empty. */
const listIn = (said: Json): readonly Json[] | null => {
  const list = isObject(said) ? (said['result'] ?? null) : (said ?? []);
  return Array.isArray(list) ? list : null;
};

function applicationsIn(said: Json): string {
  const names = listIn(said)?.map((one) => {
    const { name, listed } = fieldsOf(one);
    return `${JSON.stringify(name ?? null)}${listed === true ? ' (meant for you)' : ''}`;
  });
  return names === undefined
    ? `Applications that are installed: ${wordsOf(said)}`
    : `Applications that are installed, ${names.length}:\n${names.join('\n')}`;
}

function controlsIn(said: Json): string {
  const controls = listIn(said);
  if (controls === null) return `The screen now: ${wordsOf(said)}`;
  const { window, more } = fieldsOf(said);
  const { application } = fieldsOf(window);
  const lines = controls.map((one) => {
    const { id, name, type, rect, state, value } = fieldsOf(one);
    const states = Array.isArray(state) && state.length > 0 ? { state } : {};
    return JSON.stringify({ id, name, type, rect, ...states, ...(value === undefined ? {} : { value }) });
  });
  return [
    `The screen now${typeof application === 'string' ? `, of the application ${JSON.stringify(application)}` : ''}; its controls, ${lines.length}:`,
    ...lines,
    ...(typeof more === 'number' && more > 0 ? [`(${more} more are left out; swipe, and they come nearer)`] : []),
  ].join('\n');
}

const wordsOf = (said: Json): string => (typeof said === 'string' ? said : JSON.stringify(said));
