import type { ContentPart, ToolInfo } from '#proto';
import type { Blackboard, Memory } from '../memory/index.js';
import type { AgentTask } from '../effects/index.js';

/** All that a prompt is made of, besides its templates and its boundary. */
export interface PromptView {
  readonly task: AgentTask;
  readonly memory: Memory;
  readonly blackboard: Blackboard;
  /** What the agent may call. */
  readonly tools: readonly ToolInfo[];
  /** What the agent meant to do next when it spoke last. */
  readonly plan: readonly string[];
  /** The part of the task that was given to this agent. */
  readonly subtask?: string;
  /** What is to be seen now: screens, windows, controls. */
  readonly observation?: readonly ContentPart[];
  /** Documents that may help. */
  readonly knowledge?: readonly string[];
  /** Whom this agent may give a part of its task to. */
  readonly agents?: readonly { readonly name: string; readonly introduction: string }[];
  /** Turns that are left, this one included. */
  readonly stepsLeft: number;
}
