import { expect, it } from '@jest/globals';
import { PlannerPrompter } from '#libs/planner';
import { loadPrompts } from '#libs/prompts';
import { warmPrompts } from './planner-kit.adapter.js';

it('prompts of nothing use the tokenizer, which is loaded by being used, and need no run and no devices', async () => {
  let counted = 0;
  const countTokens = (text: string): number => {
    counted += 1;
    return text.length;
  };
  const prompter = new PlannerPrompter(await loadPrompts(), countTokens);
  expect(counted).toBe(0);
  warmPrompts(prompter);
  expect(counted).toBeGreaterThan(0);
});
