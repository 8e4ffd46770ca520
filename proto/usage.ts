import { NO_USAGE, type Usage } from './budget.js';
import type { ModelCall } from './model.js';

/** What a call used. One that never left has used nothing. */
export function usageOf({ tokens, costUsd, error }: Pick<ModelCall, 'tokens' | 'costUsd' | 'error'>): Usage {
  const asked = error === null || !NOT_ASKED.has(error.code) || tokens.prompt > 0;
  if (!asked) return NO_USAGE;
  return { llmCalls: 1, tokens: tokens.prompt + tokens.completion, commands: 0, costUsd: costUsd ?? 0 };
}

const NOT_ASKED = new Set(['CIRCUIT_OPEN', 'ABORTED', 'NOT_RECORDED', 'UNREACHABLE']);

export function addUsage(...parts: readonly Usage[]): Usage {
  return parts.reduce(
    (sum, part) => ({
      llmCalls: sum.llmCalls + part.llmCalls,
      tokens: sum.tokens + part.tokens,
      commands: sum.commands + part.commands,
      costUsd: roundedUsd(sum.costUsd + part.costUsd),
    }),
    NO_USAGE,
  );
}

export const usageOfCalls = (calls: readonly ModelCall[]): Usage => addUsage(...calls.map(usageOf));

/** To a billionth, so that sums do not end in 0.30000000000000004. */
export const roundedUsd = (dollars: number): number => Math.round(dollars * 1e9) / 1e9;
