import { roundedUsd, type Budget, type Usage } from '#proto';

export interface Exhausted {
  readonly code: 'BUDGET_EXHAUSTED';
  readonly message: string;
}

/**
 * Whether a model may be called once more; null when it may. `next`: what the call will use at least, as far as one can know
 * before (the tokens of the prompt, and what they cost).
 */
export function mayCallModel(
  budget: Budget,
  used: Usage,
  next: { readonly tokens?: number; readonly costUsd?: number } = {},
): Exhausted | null {
  const { llmCalls, tokens, costUsd } = budget;
  if (llmCalls !== undefined && used.llmCalls + 1 > llmCalls) return exhausted('model calls', used.llmCalls, llmCalls);
  if (tokens !== undefined && (used.tokens >= tokens || used.tokens + (next.tokens ?? 0) > tokens)) {
    return exhausted('tokens', used.tokens, tokens);
  }
  if (costUsd !== undefined && (used.costUsd >= costUsd || roundedUsd(used.costUsd + (next.costUsd ?? 0)) > costUsd)) {
    return exhausted('US dollars', used.costUsd, costUsd);
  }
  return null;
}

/** Whether a command may be issued once more; null when it may. */
export function mayRunCommand({ commands }: Budget, used: Usage): Exhausted | null {
  if (commands === undefined || used.commands + 1 <= commands) return null;
  return exhausted('commands', used.commands, commands);
}

function exhausted(what: string, used: number, bound: number): Exhausted {
  const message = `The budget of ${bound} ${what} does not allow another one: ${used} used.`;
  return { code: 'BUDGET_EXHAUSTED', message };
}
