import type { Logger } from 'pino';
import { countTokens, loadChatModel, loadEmbedder, loadModelsInUse, type ChatModel, type Embedder } from '#libs/llm';
import { emptyRun } from '#libs/constellation';
import { ConfigError, token, type Environment } from '#libs/platform';
import { PlannerPrompter } from '#libs/planner';
import { TemplateError } from '#libs/prompter';
import { loadPrompts, loadedPrompts, PromptFileError, runbookDirectories, type PromptText } from '#libs/prompts';
import type { SettingsInUse } from '#proto';
import { RunbookShelf } from './runbook-shelf.adapter.js';

/** What plans are made with. Model and prompts are read once, when the service starts; the runbooks are those that there are. */
export interface PlannerKit {
  /** Null: no model is configured, so there are runbooks and rules only. */
  readonly model: ChatModel | null;
  /** Null: examples are found by their words alone. */
  readonly embedder: Embedder | null;
  readonly prompter: PlannerPrompter;
  readonly shelf: RunbookShelf;
  /** What all this was read from; `texts`: the files of the prompts. */
  readonly inUse: Omit<SettingsInUse, 'instance'>;
  readonly texts: readonly PromptText[];
}

export const PLANNER_KIT = token<PlannerKit>('PLANNER_KIT');

/** Undefined: those of the installation alone. */
export interface KitFiles {
  readonly promptsDirectory?: string | undefined;
  readonly runbooksDirectory?: string | undefined;
}

/** Throws ConfigError with one sentence when the model or the prompts cannot be used as they are. A bad runbook is only a problem. */
export async function loadPlannerKit(
  { promptsDirectory, runbooksDirectory = '' }: KitFiles,
  environment: Environment,
  logger: Logger,
): Promise<PlannerKit> {
  const model = loadChatModel(environment);
  const embedder = loadEmbedder(environment);
  const directories = runbookDirectories({ ORRERY_RUNBOOKS_DIR: runbooksDirectory });
  const [loaded, shelf] = await Promise.all([loadPrompter(promptsDirectory), RunbookShelf.open(directories, logger)]);
  const { prompter, texts } = loaded;
  const prompts = loadedPrompts(texts);
  const inUse = { policy: null, prompts, ...loadModelsInUse(environment), visual: false };
  return { model, embedder, prompter, shelf, inUse, texts };
}

/** What the first prompt needs is loaded then, in milliseconds after the beginning. */
const WARM_AFTER_MS = 250;
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

/** Makes the prompts of nothing once the service is ready and has a moment; who has no model makes no prompts. */
export class Warming {
  readonly #kit: Pick<PlannerKit, 'model' | 'prompter'>;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;

  constructor(kit: Pick<PlannerKit, 'model' | 'prompter'>, logger: Logger) {
    this.#kit = kit;
    this.#logger = logger;
  }

  begin(): void {
    if (this.#kit.model !== null) this.#timer = setTimeout(() => this.#warm(), WARM_AFTER_MS).unref();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #warm(): void {
    try {
      warmPrompts(this.#kit.prompter);
    } catch (error) {
      this.#logger.warn({ err: error }, 'a prompt of nothing could not be made'); // a round will say more
    }
  }
}

async function loadPrompter(
  directory: string | undefined,
): Promise<{ readonly prompter: PlannerPrompter; readonly texts: readonly PromptText[] }> {
  try {
    const loaded = await loadPrompts(directory);
    return { prompter: new PlannerPrompter(loaded, countTokens), texts: loaded.files };
  } catch (error) {
    if (error instanceof PromptFileError || error instanceof TemplateError) throw new ConfigError(`${error.message}.`);
    throw error;
  }
}
