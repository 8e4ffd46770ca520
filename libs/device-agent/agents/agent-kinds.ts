import type { Middleware } from '../agent/index.js';
import type { AgentKind } from '../effects/index.js';
import { LinuxAgentPrompter, MobileAgentPrompter, type PrompterOptions } from '../prompter/index.js';
import { linuxAgent } from './linux-agent.js';
import { mobileAgent } from './mobile-agent.js';

/** The kinds of agents that come with the product: a new one is a row, its file beside this one, and its texts under `prompts/`. */
export const builtInAgents = (options: PrompterOptions, middleware: readonly Middleware[] = []): AgentKind[] => [
  linuxAgent({ prompter: new LinuxAgentPrompter(options), middleware }),
  mobileAgent({ prompter: new MobileAgentPrompter(options), middleware }),
];
