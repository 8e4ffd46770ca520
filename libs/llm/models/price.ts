import { z } from 'zod';

/** Of one model, in US dollars per million tokens. */
export const Price = z.strictObject({
  promptPerMillion: z.number().min(0),
  completionPerMillion: z.number().min(0),
});
export type Price = z.infer<typeof Price>;

/** By the name of the model as it is configured. Empty unless somebody fills it: prices change, and a wrong one is worse than none. */
export type PriceTable = Readonly<Record<string, Price>>;

export interface Tokens {
  readonly prompt: number;
  readonly completion: number;
}

/** US dollars; null when the price of the model is not known. */
export function costOf(tokens: Tokens, model: string, prices: PriceTable): number | null {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (price === undefined) return null;
  const dollars = tokens.prompt * price.promptPerMillion + tokens.completion * price.completionPerMillion;
  // To a billionth of a dollar: the same sum on every machine, whatever it is added to.
  return Math.round(dollars * 1_000) / 1_000_000_000;
}
