import type { Middleware } from '../agent/index.js';
import type { AgentKind } from '../effects/index.js';
import {
  LinuxAgentPrompter,
  MobileAgentPrompter,
  type PrompterOptions,
  ScreenAppPrompter,
  ScreenHostPrompter,
} from '../prompter/index.js';
import { APP_AGENT, HOST_AGENT, MOBILE_AGENT } from '../screen/index.js';
import { linuxAgent } from './linux-agent.js';
import { mobileAgent } from './mobile-agent.js';
import { DESKTOP_AGENT, screenAgent, WINDOWS_AGENT } from './windows-agent.js';

export interface BuiltInOptions extends PrompterOptions {
  /** Which agents of screens and phones have a model that sees; absent: none. */
  readonly sees?: (agent: string) => boolean;
}

/** Whether pictures are shown to a model at all: agents of screens and phones alone show them, where their model sees. */
export const showsPictures = (sees: (agent: string) => boolean): boolean =>
  [HOST_AGENT, APP_AGENT, MOBILE_AGENT].some(sees);

/** The kinds of agents that come with the product: a new one is a row, its file beside this one, and its texts under `prompts/`. */
export const builtInAgents = (
  { sees = () => false, ...options }: BuiltInOptions,
  middleware: readonly Middleware[] = [],
): AgentKind[] => [
  linuxAgent({ prompter: new LinuxAgentPrompter(options), middleware }),
  mobileAgent({
    prompter: new MobileAgentPrompter({ ...options, visual: sees(MOBILE_AGENT) }),
    sees: sees(MOBILE_AGENT),
    middleware,
  }),
  ...[WINDOWS_AGENT, DESKTOP_AGENT].map((name) =>
    screenAgent({
      name,
      host: new ScreenHostPrompter({ ...options, visual: sees(HOST_AGENT) }),
      app: new ScreenAppPrompter({ ...options, visual: sees(APP_AGENT) }),
      sees,
      middleware,
    }),
  ),
];
