import { ScreenAppReply, ScreenHostReply } from '#proto';
import {
  Agent,
  agentKind,
  type AgentPrompter,
  type AgentState,
  CONTINUE,
  continueState,
  FAIL,
  failState,
  FINISH,
  finishState,
  type Middleware,
  passingState,
  Processor,
  StateRegistry,
} from '../agent/index.js';
import type { AgentKind } from '../effects/index.js';
import {
  APP_AGENT,
  appAction,
  appTools,
  assignApp,
  ASSIGN,
  CONFIRM,
  HOST_AGENT,
  hostAction,
  hostTools,
  lookAtDesktop,
  lookAtWindow,
  PENDING,
  type Screen,
  SCREENSHOT,
  type ScreenValues,
} from '../screen/index.js';
import { llmInteraction, memoryUpdate, noEffects } from '../strategies/index.js';

/** Of a Windows machine behind a client of UFO's. */
export const WINDOWS_AGENT = 'WindowsAgent';
/** Of a Linux desktop with the tools of this project. */
export const DESKTOP_AGENT = 'DesktopAgent';

interface Options {
  /** The kind that devices name. */
  readonly name: string;
  readonly host: AgentPrompter;
  readonly app: AgentPrompter;
  /** Whose model is shown pictures: for the others none are taken. */
  readonly sees: (agent: string) => boolean;
  readonly middleware?: readonly Middleware[];
}

/**
 * The agents of a screen (paper section 8.6.2): a HostAgent looks at the desktop, takes the task apart and chooses a window for
 * each subtask; an AppAgent works in that window, looks before every turn, and gives control back when its subtask is over, well or
 * not. What a subtask that failed means for the task, the HostAgent decides.
 */
export function screenAgent({ name, host, app, sees, middleware = [] }: Options): AgentKind {
  const hostStates = new StateRegistry<Screen>(HOST_AGENT, [
    continueState(hostProcessor(sees(HOST_AGENT), middleware)),
    passingState(PENDING, () => noEffects(undefined)),
    assignState,
    finishState(),
    failState(),
  ]);
  const appStates = new StateRegistry<Screen>(APP_AGENT, [
    continueState(appProcessor(sees(APP_AGENT), middleware)),
    ...[SCREENSHOT, PENDING, CONFIRM].map((state) => passingState<Screen>(state, () => noEffects(undefined))),
    backToHost(FINISH),
    backToHost(FAIL),
  ]);
  return agentKind<Screen>(name, () => ({
    agents: [
      new Agent({ name: HOST_AGENT, states: hostStates, first: CONTINUE, prompter: host }),
      new Agent({ name: APP_AGENT, states: appStates, first: CONTINUE, prompter: app }),
    ],
  }));
}

const assignState: AgentState<Screen> = {
  name: ASSIGN,
  handle: (_, context) => assignApp(context, APP_AGENT),
  nextAgent: (_, context) => context.agent(APP_AGENT),
  nextState: (_, context) => context.agent(APP_AGENT).state,
  isRoundEnd: () => false,
  isSubtaskEnd: () => false,
};

/** The subtask is over; the host looks again before it decides. */
const backToHost = (name: typeof FINISH | typeof FAIL): AgentState<Screen> => ({
  name,
  handle: () => noEffects(undefined),
  nextAgent: (_, context) => context.agent(HOST_AGENT),
  nextState: (_, context) => context.agent(HOST_AGENT).states.get(CONTINUE),
  isRoundEnd: () => false,
  isSubtaskEnd: () => true,
});

function hostProcessor(
  sees: boolean,
  middleware: readonly Middleware[],
): Processor<ScreenValues<ScreenHostReply>, Screen> {
  return new Processor<ScreenValues<ScreenHostReply>, Screen>({
    name: 'HostAgentProcessor',
    inputs: { tools: (_, { task }) => hostTools(task) },
    phases: {
      DATA_COLLECTION: { strategies: [lookAtDesktop(sees)], failFast: true },
      LLM_INTERACTION: { strategies: [llmInteraction({ schema: ScreenHostReply })], failFast: true },
      ACTION_EXECUTION: { strategies: [hostAction()], failFast: false },
      MEMORY_UPDATE: { strategies: [memoryUpdate()], failFast: false },
    },
    middleware,
  });
}

function appProcessor(
  sees: boolean,
  middleware: readonly Middleware[],
): Processor<ScreenValues<ScreenAppReply>, Screen> {
  return new Processor<ScreenValues<ScreenAppReply>, Screen>({
    name: 'AppAgentProcessor',
    inputs: { tools: (_, context) => appTools(context.task, context.get('chosen')?.application ?? '') },
    phases: {
      DATA_COLLECTION: { strategies: [lookAtWindow(sees)], failFast: true },
      LLM_INTERACTION: { strategies: [llmInteraction({ schema: ScreenAppReply })], failFast: true },
      ACTION_EXECUTION: { strategies: [appAction()], failFast: false },
      MEMORY_UPDATE: { strategies: [memoryUpdate()], failFast: false },
    },
    middleware,
  });
}
