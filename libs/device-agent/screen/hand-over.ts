import { NEEDS_DEVICE, type ScreenHostReply, type ToolInfo } from '#proto';
import { CONTINUE, FAIL, failed, type StrategyCall } from '../agent/index.js';
import { callProblem, type Done } from '../strategies/index.js';
import { ASSIGN, type Screen } from './screen.js';

/** Gives a part to another device of the run. A HostAgent serves it by itself: no device hears of it. */
export const HAND_OVER_TOOL: ToolInfo = {
  name: 'HAND_OVER',
  description:
    'With ASSIGN: has current_subtask done by another device of the run. This task ends here; who plans the run has the part done there, and what came of it is given to a new task that goes on on this device. Say in result what has been done until now.',
  readOnly: true,
  inputSchema: {
    type: 'object',
    properties: {
      to: {
        type: 'string',
        description: 'Which device: its id where you know it, otherwise what it has to be or to have.',
        minLength: 1,
        maxLength: 500,
      },
    },
    required: ['to'],
    additionalProperties: false,
  },
};

const SUBTASK_CHARS_MAX = 1_500;

/**
 * Ends the task as one that needs another device, in words that whoever plans the run reads. An agent itself gives nobody work: what it is
 * told by a screen would reach other machines without the bounds that a plan has.
 */
export function handOver({ agent }: StrategyCall<Screen>, reply: ScreenHostReply, tools: readonly ToolInfo[]): Done {
  const call = { tool: HAND_OVER_TOOL.name, arguments: { ...reply.arguments } };
  const problem =
    callProblem(call, tools) ?? (reply.status === ASSIGN ? null : `${call.tool} was not done: it comes with ASSIGN.`);
  const nothing = { calls: [], answers: [], reads: [] };
  const hopeless = agent.repeats.hopeless(call);
  if (hopeless !== null) {
    agent.fail(failed(`gave up: ${call.tool} was called ${hopeless} times with the same outcome`), reply.result);
    return { ...nothing, problems: [], status: FAIL };
  }
  if (problem !== null) {
    const told = agent.repeats.note(call, problem, true);
    agent.decide(CONTINUE);
    return { ...nothing, problems: [problem, ...told], status: CONTINUE };
  }
  const { to } = call.arguments;
  const part = reply.current_subtask.slice(0, SUBTASK_CHARS_MAX);
  const message = `needs another device (${JSON.stringify(to)}) for: ${part}`;
  agent.fail({ code: NEEDS_DEVICE, message }, reply.result);
  return { ...nothing, problems: [], status: FAIL };
}
