import { countTokens, loadChatModel, loadEmbedder, type ChatModel, type Embedder } from '#libs/llm';
import { emptyRun } from '#libs/constellation';
import { ConfigError, type Environment } from '#libs/platform';
import { PlannerPrompter, type Runbook } from '#libs/planner';
import { TemplateError } from '#libs/prompter';
import { loadPrompts, loadRunbooks, PromptFileError, runbookDirectories } from '#libs/prompts';
import type { PlannerConfig } from './planner.config.js';

/** What plans are made with: read once, when the service starts. */
export interface PlannerKit {
  /** Null: no model is configured, so there are runbooks and rules only. */
  readonly model: ChatModel | null;
  /** Null: examples are found by their words alone. */
  readonly embedder: Embedder | null;
  readonly prompter: PlannerPrompter;
  readonly runbooks: readonly Runbook[];
  /** Files of runbooks that cannot be used, and why. */
  readonly problems: readonly string[];
}

/** Throws ConfigError with one sentence when the model or the prompts cannot be used as they are. A bad runbook is only a problem. */
export async function loadPlannerKit(
  { promptsDirectory, runbooksDirectory = '' }: Pick<PlannerConfig, 'promptsDirectory' | 'runbooksDirectory'>,
  environment: Environment,
): Promise<PlannerKit> {
  const model = loadChatModel(environment);
  const embedder = loadEmbedder(environment);
  const directories = runbookDirectories({ ORRERY_RUNBOOKS_DIR: runbooksDirectory });
  const [prompter, loaded] = await Promise.all([loadPrompter(promptsDirectory), loadRunbooks(directories)]);
  return { model, embedder, prompter, ...loaded };
}

/** Nobody reads what it fences. */
const NO_BOUNDARY = 'prompts-without-a-reader';

/**
 * Makes prompts of nothing: the first real one then finds the tables of the tokenizer loaded and the templates compiled. Takes a
 * quarter of a second, in which nothing else is done.
 */
export function warmPrompts(prompter: Pick<PlannerPrompter, 'creation' | 'editing'>): void {
  const nothing = { fenceBoundary: NO_BOUNDARY, profiles: [], learnt: [] };
  prompter.creation({ ...nothing, goal: '' });
  prompter.editing({ ...nothing, goal: null, run: emptyRun(''), triggers: [], violations: [] });
}

async function loadPrompter(directory: string | undefined): Promise<PlannerPrompter> {
  try {
    return new PlannerPrompter(await loadPrompts(directory), countTokens);
  } catch (error) {
    if (error instanceof PromptFileError || error instanceof TemplateError) throw new ConfigError(`${error.message}.`);
    throw error;
  }
}
