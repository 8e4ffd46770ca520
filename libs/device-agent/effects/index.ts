/**
 * What an agent wants done in the world, and what it is told of it. Nobody here carries anything out.
 */
export type {
  AgentEnd,
  AgentInput,
  AgentKind,
  AgentProgram,
  AgentReply,
  AgentTask,
  Effect,
  EffectOutcome,
  OutputRead,
  PersonAnswered,
  ReadInput,
  ReadOutput,
  ToolCalled,
} from './effect.js';
