import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import type { AgentKind, PrompterOptions } from '#libs/device-agent';
import { ConfigError } from '#libs/platform';

/**
 * The kinds that are known, and those of all modules, which are code like our own: they are named by the operator. A module
 * exports `agents(options: PrompterOptions): AgentKind[]`; the names are those that AgentProfiles carry. Throws ConfigError in
 * one sentence.
 */
export async function loadAgentModules(
  files: readonly string[],
  options: PrompterOptions,
  known: readonly AgentKind[],
): Promise<AgentKind[]> {
  const kinds = [...known];
  for (const file of files) {
    for (const kind of await kindsOf(file, options)) {
      if (kinds.some(({ name }) => name === kind.name)) {
        throw new ConfigError(
          `ORRERY_AGENT_MODULES: ${file} brings an agent ${kind.name}, and there is one of this name.`,
        );
      }
      kinds.push(kind);
    }
  }
  return kinds;
}

async function kindsOf(file: string, options: PrompterOptions): Promise<readonly AgentKind[]> {
  try {
    const module = (await import(pathToFileURL(resolve(file)).href)) as { agents?: unknown };
    if (typeof module.agents !== 'function') throw new Error('it exports no function "agents"');
    const kinds: unknown = (module.agents as (options: PrompterOptions) => unknown)(options);
    if (!Array.isArray(kinds) || !kinds.every(isKind))
      throw new Error('its function "agents" returns no array of agents');
    return kinds;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`ORRERY_AGENT_MODULES: ${file} cannot be used: ${message.replaceAll('\n', ' ')}.`);
  }
}

function isKind(value: unknown): value is AgentKind {
  if (typeof value !== 'object' || value === null) return false;
  const { name, run } = value as Partial<Record<keyof AgentKind, unknown>>;
  return typeof name === 'string' && name !== '' && name.length <= NAME_CHARS_MAX && typeof run === 'function';
}

const NAME_CHARS_MAX = 64;
