import { usageOfCalls } from '#proto';
import type { Metrics } from '#libs/platform';
import type { ChatModel } from './chat-model.js';

/** From a stand-in to a model that thinks for long. */
const SECONDS = [0.05, 0.2, 1, 3, 10, 30, 90, 300];

/**
 * The same model, with what it is asked, what it takes and what it costs as metrics: counts of what this process has asked; bills
 * are made of events. Without a model the metrics are there all the same.
 */
export function meteredModel<M extends ChatModel | null>(model: M, metrics: Metrics): ChatModel | M {
  const calls = metrics.counter('model_calls_total', 'Requests to models, by how they ended', ['agent', 'outcome']);
  const seconds = metrics.histogram('model_seconds', 'Time of a request to a model', {
    labelNames: ['agent'],
    buckets: SECONDS,
  });
  const tokens = metrics.counter('model_tokens_total', 'Tokens of prompts and replies', ['agent']);
  const cost = metrics.counter('model_cost_usd_total', 'Cost by the price table, in US dollars', ['agent']);
  if (model === null) return model;
  return {
    ask: async (request) => {
      const { agent } = request;
      const answers = await model.ask(request);
      for (const answer of answers) {
        calls.inc({ agent, outcome: answer.error?.code ?? 'REPLY' });
        seconds.observe({ agent }, answer.durationMs / 1_000);
        const used = usageOfCalls([{ ...answer, problems: [] }]);
        tokens.inc({ agent }, used.tokens);
        cost.inc({ agent }, used.costUsd);
      }
      return answers;
    },
  };
}
