import {
  BROWSERS,
  CONTROL_TOOLS,
  isCollectorTool,
  isScreenTool,
  OFFICE_TOOLS,
  PAGE_TOOLS,
  QUIET_TOOLS,
  WINDOW_TOOLS,
  type ToolInfo,
} from '#proto';
import type { AgentTask } from '../effects/index.js';
import { agentToolsOf } from '../strategies/index.js';
import { HAND_OVER_TOOL } from './hand-over.js';

const has = (names: readonly string[], name: string): boolean => names.includes(name);

/** What a HostAgent may call: what chooses windows or another device, and all that is of no screen. Looking is done for it. */
export const hostTools = (task: AgentTask): readonly ToolInfo[] => [
  ...agentToolsOf(task).filter(
    ({ name }) => name !== HAND_OVER_TOOL.name && (!isScreenTool(name) || has(WINDOW_TOOLS, name)),
  ),
  HAND_OVER_TOOL,
];

/** What an AppAgent may call in a window of this program: what acts in it, and the tools that the program has of its own. */
export const appTools = (task: AgentTask, application: string): readonly ToolInfo[] =>
  agentToolsOf(task).filter(({ name }) => {
    if (has(CONTROL_TOOLS, name) || has(QUIET_TOOLS, name)) return true;
    const programs = has(PAGE_TOOLS, name) ? BROWSERS : OFFICE_TOOLS[name]?.in;
    if (programs !== undefined) return programs.some((program) => program.toLowerCase() === application.toLowerCase());
    return !isScreenTool(name) && !isCollectorTool(name);
  });
