import { readFile } from 'node:fs/promises';
import { DEFAULTS, type SettingsInUse } from '#proto';
import { openBashGrammar, openPolicy, policyInUse, type CommandPolicy } from '#libs/command-policy';
import {
  builtInAgents,
  showsPictures,
  type AgentKind,
  type Middleware,
  type PrompterOptions,
} from '#libs/device-agent';
import { countTokens, loadChatModel, loadModelsInUse, loadSight, type ChatModel } from '#libs/llm';
import { ConfigError, token, type Environment } from '#libs/platform';
import { loadPrompts, loadedPrompts, PromptFileError, type LoadedPrompts, type PromptText } from '#libs/prompts';
import { loadAgentModules } from './modules.adapter.js';

/** Where the parts of agents lie; those of the installation where it does not say. */
export interface AgentKitFiles {
  readonly policyFile: string | undefined;
  readonly promptsDirectory: string | undefined;
  readonly agentModules: readonly string[];
}

/** What agents are made of: read once, when the service starts. */
export interface AgentKit {
  readonly policy: CommandPolicy;
  /** Null: no model is configured, so there are no kinds, and exact commands only. */
  readonly model: ChatModel | null;
  readonly kinds: readonly AgentKind[];
  /** What all this was read from; `texts`: the files of the prompts. */
  readonly inUse: Omit<SettingsInUse, 'instance'>;
  readonly texts: readonly PromptText[];
}

export const AGENT_KIT = token<AgentKit>('AGENT_KIT');

/** Throws ConfigError with one sentence when the policy, the model or the prompts cannot be used as they are. */
export async function loadAgentKit(
  files: AgentKitFiles,
  environment: Environment,
  middleware: readonly Middleware[] = [],
): Promise<AgentKit> {
  const policy = await loadPolicy(files.policyFile);
  const model = loadChatModel(environment);
  const inUse = {
    policy: policyInUse(policy, files.policyFile),
    prompts: [],
    ...loadModelsInUse(environment),
    visual: false,
  };
  if (model === null) return { policy, model, kinds: [], inUse, texts: [] };
  const options = await loadPrompterOptions(files.promptsDirectory);
  const sees = loadSight(environment);
  const kinds = await loadAgentModules(files.agentModules, options, builtInAgents({ ...options, sees }, middleware));
  const { files: texts } = options.templates;
  const visual = showsPictures(sees);
  return { policy, model, kinds, inUse: { ...inUse, prompts: loadedPrompts(texts), visual }, texts };
}

async function loadPolicy(path: string | undefined): Promise<CommandPolicy> {
  const grammar = await openBashGrammar();
  if (path === undefined) return openPolicy({}, grammar);
  const file = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ConfigError(`ORRERY_POLICY_FILE cannot be read: ${messageOf(error)}.`);
  });
  try {
    return openPolicy({ file }, grammar);
  } catch (error) {
    throw new ConfigError(`ORRERY_POLICY_FILE names no policy: ${messageOf(error).replaceAll('\n', ' ')}`);
  }
}

async function loadPrompterOptions(
  directory: string | undefined,
): Promise<PrompterOptions & { readonly templates: LoadedPrompts }> {
  try {
    const templates = await loadPrompts(directory);
    return { templates, countTokens, visual: false, memoryTokens: DEFAULTS.memoryTokens };
  } catch (error) {
    if (error instanceof PromptFileError) throw new ConfigError(`${error.message}.`);
    throw error;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
