import { COLLECTOR_TOOLS, isCollectorTool, OFFICE_TOOLS, type ScreenPlace, type ToolInfo } from '#proto';

/*
 * How clients of UFO want to be spoken to. One with command lines knows a single agent; one of a Windows machine has tools for
 * two, finds them by the window that was chosen, and never answers a name that it does not know.
 */

/** How commands for a foreign client name whom they are for. */
export type ForeignDialect = 'command-line' | 'windows';

/** By what the client says of itself when it registers. */
export const dialectOf = ({ telemetry }: { readonly telemetry: { readonly platform: string } }): ForeignDialect =>
  telemetry.platform.toLowerCase() === 'windows' ? 'windows' : 'command-line';

/** The one agent name that foreign clients with command line tools know; they ignore a command for any other without a word. */
const COMMAND_LINE_AGENT = 'LinuxAgent';
const HOST_AGENT = 'HostAgent';
const APP_AGENT = 'AppAgent';

export interface CommandAddress {
  readonly agent_name: string;
  /** The title of the window, by which the client keeps its tool servers apart. */
  readonly process_name: string;
  readonly root_name: string;
  readonly tool_type: 'action' | 'data_collection';
}

/** Whom a call is for, by what its agent has seen. */
export function commandAddressOf(dialect: ForeignDialect, tool: string, on: ScreenPlace | undefined): CommandAddress {
  if (dialect === 'command-line')
    return { agent_name: COMMAND_LINE_AGENT, process_name: '', root_name: '', tool_type: 'action' };
  return {
    agent_name: on?.agent ?? HOST_AGENT,
    process_name: on?.window ?? '',
    root_name: on?.application ?? '',
    tool_type: isCollectorTool(tool) ? 'data_collection' : 'action',
  };
}

/** The agents whose tools are asked for when a client registers. */
export const listedAgents = (dialect: ForeignDialect): readonly string[] =>
  dialect === 'windows' ? [HOST_AGENT, APP_AGENT] : [COMMAND_LINE_AGENT];

/**
 * What such a client has without listing it: what looks, and the tools of office programs, which it makes when a window of theirs
 * is chosen. One that is missing after all answers so.
 */
export function unlistedTools(dialect: ForeignDialect, listed: readonly ToolInfo[]): ToolInfo[] {
  if (dialect === 'command-line') return [...listed];
  const known = new Set(listed.map(({ name }) => name));
  const office = Object.entries(OFFICE_TOOLS).map(([name, tool]): ToolInfo => ({
    name,
    description: tool.takes,
    readOnly: tool.does === 'read',
  }));
  const looks = COLLECTOR_TOOLS.map((name): ToolInfo => ({ name, description: '', readOnly: true }));
  return [...listed, ...[...looks, ...office].filter(({ name }) => !known.has(name))];
}
