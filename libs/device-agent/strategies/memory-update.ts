import type { AgentReply } from '../effects/index.js';
import type { MemoryItem } from '../memory/index.js';
import { strategyOf, type Strategy } from '../agent/index.js';
import { noEffects } from './effects.js';
import type { RoundValues } from './values.js';

/**
 * Remembers the round: what the model said, what was done, what came of it, what went wrong. Facts that the model noted go to
 * the blackboard, where the other agents see them.
 */
export function memoryUpdate<R extends AgentReply, G extends object = object>(): Strategy<RoundValues<R>, G> {
  return strategyOf<RoundValues<R>, G>()({
    name: 'memory-update',
    dependsOn: ['turn', 'done'],
    provides: ['remembered'],
    execute({ agent, context }, { turn: { step, reply }, done }) {
      const { observation, thought, plan, comment, notes } = reply;
      const remembered: MemoryItem = {
        step,
        agent: agent.name,
        ...(agent.subtask === null ? {} : { subtask: agent.subtask }),
        observation,
        thought,
        plan,
        comment,
        notes,
        ...done,
        problems: [...agent.problems, ...done.problems],
      };
      agent.memory = agent.memory.add(remembered);
      agent.problems = [];
      for (const note of notes) context.note(agent.name, note);
      return noEffects({ remembered });
    },
  });
}
