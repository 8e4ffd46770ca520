import type { Json, LinuxAgentReply, LinuxAgentStatus, Prompt, ToolInfo } from '#proto';
import type { AgentPrompter } from '../agent/agent.js';
import type { AgentTask } from '../effects/effect.js';
import type { PromptView } from '../prompter/view.js';

export const EXEC_CLI_TOOL: ToolInfo = {
  name: 'EXEC_CLI',
  description: 'Runs one command line.',
  readOnly: false,
  inputSchema: {
    type: 'object',
    properties: { command: { type: 'string', minLength: 1 }, timeout: { type: 'number' } },
    required: ['command'],
    additionalProperties: false,
  },
};

export const SYS_INFO_TOOL: ToolInfo = {
  name: 'SYS_INFO',
  description: 'Reads facts about the machine.',
  readOnly: true,
  inputSchema: {
    type: 'object',
    properties: { info_type: { type: 'string', enum: ['memory', 'disk', 'cpu', 'network', 'hardware', 'os'] } },
    required: ['info_type'],
  },
};

/** A task on a Linux device with the two tools of its client. */
export function sampleTask(changes: Partial<AgentTask> = {}): AgentTask {
  return {
    taskId: 'backup',
    name: 'Back the data up',
    description: 'Put /data into an archive if there is room for it.',
    tips: [],
    inputs: [],
    blackboard: [],
    device: {
      deviceId: 'web-1',
      os: 'linux',
      arch: 'x86_64',
      hostname: 'web-1',
      tools: [EXEC_CLI_TOOL, SYS_INFO_TOOL],
    },
    stepsMax: 50,
    ...changes,
  };
}

interface Saying extends Partial<Omit<LinuxAgentReply, 'action'>> {
  /** A command line for EXEC_CLI. */
  readonly run?: string;
  readonly call?: readonly [tool: string, args: Record<string, Json>];
  readonly status?: LinuxAgentStatus;
}

/** What a model of a LinuxAgent says in one step. */
export function say({ run, call, status = 'CONTINUE', ...said }: Saying): LinuxAgentReply {
  const [name, args] = call ?? (run === undefined ? ['', {}] : ['EXEC_CLI', { command: run }]);
  return {
    observation: '',
    thought: 'I think.',
    plan: [],
    comment: '',
    notes: [],
    result: '',
    ...said,
    action: { function: name, arguments: args, status },
  };
}

export const finish = (result: string): LinuxAgentReply => say({ status: 'FINISH', result });
export const fail = (result: string): LinuxAgentReply => say({ status: 'FAIL', result });

/** Remembers what it was shown; its prompt is what can be seen of that as text. */
export class SpyPrompter implements AgentPrompter {
  readonly views: PromptView[] = [];

  prompt(view: PromptView, boundary: string): Prompt {
    this.views.push(view);
    const { items } = view.memory;
    const content = JSON.stringify({ boundary, items, plan: view.plan, notes: view.blackboard.entries });
    return { messages: [{ role: 'user', content }], templates: [] };
  }

  /** What was shown in that step, from 1. */
  at(step: number): PromptView {
    const view = this.views[step - 1];
    if (view === undefined) throw new Error(`nobody asked for a prompt ${step} times`);
    return view;
  }
}
