import type { CommandCall, ContentPart } from '#proto';
import { Agent, type AgentPrompter } from '../agent/agent.js';
import type { AgentKind } from '../effects/effect.js';
import type { Middleware } from '../agent/middleware.js';
import { Processor } from '../agent/processor.js';
import { agentKind } from '../agent/session.js';
import type { AgentState } from '../agent/state.js';
import { StateRegistry } from '../agent/state-registry.js';
import { CONTINUE, continueState, FAIL, failState, FINISH, finishState } from '../agent/states.js';
import { actionExecution } from '../strategies/action-execution.js';
import { callTool, noEffects } from '../strategies/effects.js';
import { llmInteraction } from '../strategies/llm-interaction.js';
import { memoryUpdate } from '../strategies/memory-update.js';
import { agentToolsOf } from '../strategies/own-tools.js';
import type { RoundValues } from '../strategies/values.js';
import { strategyOf } from '../agent/strategy.js';
import { AppAgentReply, HostAgentReply } from './desktop-replies.js';

export const SAMPLE_AGENT = 'SampleAgent';
export const HOST = 'HostAgent';
export const APP = 'AppAgent';
export const ASSIGN = 'ASSIGN';

/** What the two agents share besides task and blackboard. */
interface Desktop {
  /** The part of the task that was given away last. */
  assigned: Assignment;
}

interface Assignment {
  readonly agent: string;
  readonly subtask: string;
}

interface Options {
  readonly host: AgentPrompter;
  readonly app: AgentPrompter;
  /** What an AppAgent looks at its device with, at the beginning of every round. */
  readonly look?: CommandCall;
  readonly middleware?: readonly Middleware[];
}

/**
 * Two agents on one device (paper section 8.6.2): a HostAgent takes the task apart and gives subtasks to an AppAgent, which
 * looks at the device before every turn and gives control back when its subtask is over.
 */
export function desktopAgent({ host, app, look = LOOK, middleware = [] }: Options): AgentKind {
  const hostStates = new StateRegistry<Desktop>(HOST, [
    continueState(hostProcessor(middleware)),
    assignState,
    finishState(),
    failState(),
  ]);
  const appStates = new StateRegistry<Desktop>(APP, [
    continueState(appProcessor(look, middleware)),
    backToHost(FINISH),
    backToHost(FAIL),
  ]);
  return agentKind<Desktop>(SAMPLE_AGENT, () => ({
    agents: [
      new Agent({ name: HOST, states: hostStates, first: CONTINUE, prompter: host }),
      new Agent({ name: APP, states: appStates, first: CONTINUE, prompter: app }),
    ],
  }));
}

const LOOK: CommandCall = { tool: 'SYS_INFO', arguments: { info_type: 'os' } };

/** Begins the subtask of another agent, which then has control. */
const assignState: AgentState<Desktop> = {
  name: ASSIGN,
  handle: (_, context) => {
    const { agent, subtask } = assignmentIn(context.get('assigned'));
    context.agent(agent).begin(subtask);
    return noEffects(undefined);
  },
  nextAgent: (_, context) => context.agent(assignmentIn(context.get('assigned')).agent),
  nextState: (_, context) => context.agent(assignmentIn(context.get('assigned')).agent).state,
  isRoundEnd: () => false,
  isSubtaskEnd: () => false,
};

/** The subtask is over, well or not; the host decides what that means for the task. */
const backToHost = (name: typeof FINISH | typeof FAIL): AgentState<Desktop> => ({
  name,
  handle: () => noEffects(undefined),
  nextAgent: (_, context) => context.agent(HOST),
  nextState: (_, context) => context.agent(HOST).states.get(CONTINUE),
  isRoundEnd: () => false,
  isSubtaskEnd: () => true,
});

type HostValues = RoundValues<HostAgentReply> & Desktop;
type AppValues = RoundValues<AppAgentReply>;

/** Shows the host what became of the subtasks that it gave away. */
const reviewSubtasks = strategyOf<HostValues, Desktop>()({
  name: 'review-subtasks',
  dependsOn: [],
  provides: ['observation'],
  execute: ({ context: { subtasks } }) =>
    noEffects({
      observation: subtasks.map((subtask): ContentPart => ({ type: 'text', text: JSON.stringify(subtask) })),
    }),
});

const assignment = strategyOf<HostValues, Desktop>()({
  name: 'assignment',
  dependsOn: ['turn'],
  provides: ['assigned'],
  execute({ agent }, { turn: { reply } }) {
    const { agent: name, subtask: text } = reply.action.arguments;
    const assigned = { agent: typeof name === 'string' ? name : '', subtask: typeof text === 'string' ? text : '' };
    if (agent.status === ASSIGN && (assigned.agent !== APP || assigned.subtask === '')) {
      agent.decide(CONTINUE);
      agent.trouble(`Nothing was assigned: ASSIGN needs a subtask, and ${APP} as its agent.`);
    }
    return noEffects({ assigned });
  },
});

function hostProcessor(middleware: readonly Middleware[]): Processor<HostValues, Desktop> {
  const agents = [{ name: APP, introduction: 'Does one thing at a time on the device, and looks before it acts.' }];
  return new Processor<HostValues, Desktop>({
    name: 'HostAgentProcessor',
    inputs: { tools: (_, { task }) => agentToolsOf(task) },
    phases: {
      DATA_COLLECTION: { strategies: [reviewSubtasks], failFast: true },
      LLM_INTERACTION: {
        strategies: [llmInteraction({ schema: HostAgentReply, view: () => ({ agents }) })],
        failFast: true,
      },
      ACTION_EXECUTION: { strategies: [actionExecution(), assignment], failFast: false },
      MEMORY_UPDATE: { strategies: [memoryUpdate()], failFast: false },
    },
    middleware,
    finalise: ['assigned'],
  });
}

const lookAt = (look: CommandCall) =>
  strategyOf<AppValues, Desktop>()({
    name: 'look',
    dependsOn: [],
    provides: ['observation'],
    *execute() {
      const { ended } = yield* callTool(look);
      const seen =
        ended.kind === 'finished' ? (ended.result?.value ?? ended.message) : `nothing to be seen: ${ended.message}`;
      return { observation: [{ type: 'text', text: typeof seen === 'string' ? seen : JSON.stringify(seen) }] };
    },
    fallback: () => ({ observation: [] }),
  });

function appProcessor(look: CommandCall, middleware: readonly Middleware[]): Processor<AppValues, Desktop> {
  return new Processor<AppValues, Desktop>({
    name: 'AppAgentProcessor',
    inputs: { tools: (_, { task }) => agentToolsOf(task) },
    phases: {
      DATA_COLLECTION: { strategies: [lookAt(look)], failFast: false },
      LLM_INTERACTION: { strategies: [llmInteraction({ schema: AppAgentReply })], failFast: true },
      ACTION_EXECUTION: { strategies: [actionExecution()], failFast: false },
      MEMORY_UPDATE: { strategies: [memoryUpdate()], failFast: false },
    },
    middleware,
  });
}

function assignmentIn(assigned: Assignment | undefined): Assignment {
  if (assigned === undefined) throw new Error(`${HOST} is in ${ASSIGN} and has assigned nothing`);
  return assigned;
}
