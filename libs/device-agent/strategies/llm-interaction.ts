import type { z } from 'zod';
import type { AgentReply } from '../effects/index.js';
import { Blackboard } from '../memory/index.js';
import type { PromptView } from '../prompter/index.js';
import { strategyOf, type Strategy, type StrategyCall } from '../agent/index.js';
import { askModel } from './effects.js';
import type { RoundValues } from './values.js';

interface Options<R extends AgentReply, G extends object> {
  readonly schema: z.ZodType<R>;
  /** What the prompter is to know besides what every agent knows. */
  readonly view?: (at: StrategyCall<G>) => Partial<PromptView>;
}

/**
 * Asks the model what to do next. Depends on what is seen and what can be called, provides the reply. Belongs into a phase that
 * fails fast: without a reply there is nothing to do.
 */
export function llmInteraction<R extends AgentReply, G extends object = object>({
  schema,
  view: more,
}: Options<R, G>): Strategy<RoundValues<R>, G> {
  return strategyOf<RoundValues<R>, G>()({
    name: 'llm-interaction',
    dependsOn: ['tools', 'observation'],
    provides: ['turn'],
    *execute(at, { tools, observation }) {
      const { agent, context } = at;
      // The prompt may be made later, when the context has gone on: it is given what is there now.
      const view: PromptView = {
        task: context.task,
        memory: agent.memory,
        blackboard: ofOthers(context.blackboard, agent.name),
        tools,
        plan: agent.plan,
        stepsLeft: context.stepsLeft,
        ...(agent.subtask === null ? {} : { subtask: agent.subtask }),
        ...(observation.length === 0 ? {} : { observation }),
        ...more?.(at),
      };
      const prompt = (boundary: string) => agent.prompter.prompt(view, boundary);
      const told = agent.memory.items.at(-1)?.problems ?? [];
      const turn = yield* askModel({ agent: agent.name, prompt, schema, ...(told.length > 0 && { told }) });
      agent.plan = turn.reply.plan;
      return { turn };
    },
  });
}

/** What an agent has noted itself it remembers anyway. */
function ofOthers({ entries }: Blackboard, name: string): Blackboard {
  return Blackboard.of(entries.filter(({ agent, taskId }) => agent !== name || taskId !== undefined));
}
