import {
  COLLECTOR_TOOLS,
  isCollectorTool,
  OFFICE_TOOLS,
  PHONE_LOOKS,
  type CommandCall,
  type ScreenPlace,
  type ToolInfo,
} from '#proto';

/*
 * How clients of UFO want to be spoken to. One with command lines knows a single agent; one of a Windows machine has tools for
 * two, finds them by the window that was chosen, and never answers a name that it does not know; one of a phone knows another one.
 */

/** How commands for a foreign client name whom they are for. */
export type ForeignDialect = 'command-line' | 'windows' | 'mobile';

/** By what the client says of itself when it registers. */
export function dialectOf({ telemetry }: { readonly telemetry: { readonly platform: string } }): ForeignDialect {
  const platform = telemetry.platform.toLowerCase();
  return platform === 'windows' || platform === 'mobile' ? platform : 'command-line';
}

const HOST_AGENT = 'HostAgent';
const APP_AGENT = 'AppAgent';
/** The agents that such clients have tools for; they ignore a command for any other without a word. */
const AGENTS: Readonly<Record<ForeignDialect, readonly [string, ...string[]]>> = {
  'command-line': ['LinuxAgent'],
  windows: [HOST_AGENT, APP_AGENT],
  mobile: ['MobileAgent'],
};

export interface CommandAddress {
  readonly agent_name: string;
  /** The title of the window, by which the client keeps its tool servers apart. */
  readonly process_name: string;
  readonly root_name: string;
  readonly tool_type: 'action' | 'data_collection';
}

/** Whom a call is for, by what its agent has seen. */
export function commandAddressOf(dialect: ForeignDialect, tool: string, on: ScreenPlace | undefined): CommandAddress {
  const [agent] = AGENTS[dialect];
  const nowhere = { process_name: '', root_name: '' };
  switch (dialect) {
    case 'command-line':
      return { agent_name: agent, ...nowhere, tool_type: 'action' };
    case 'mobile':
      return { agent_name: agent, ...nowhere, tool_type: isPhoneLook(tool) ? 'data_collection' : 'action' };
    case 'windows':
      return {
        agent_name: on?.agent ?? agent,
        process_name: on?.window ?? '',
        root_name: on?.application ?? '',
        tool_type: isCollectorTool(tool) ? 'data_collection' : 'action',
      };
  }
}

const isPhoneLook = (tool: string): boolean => (PHONE_LOOKS as readonly string[]).includes(tool);

/** The agents whose tools are asked for when a client registers. */
export const listedAgents = (dialect: ForeignDialect): readonly string[] => AGENTS[dialect];

/**
 * What such a client has without listing it: what looks, and the tools of office programs, which it makes when a window of theirs
 * is chosen. One that is missing after all answers so.
 */
export function unlistedTools(dialect: ForeignDialect, listed: readonly ToolInfo[]): ToolInfo[] {
  const known = new Set(listed.map(({ name }) => name));
  return [...listed, ...UNLISTED[dialect].filter(({ name }) => !known.has(name))];
}

const looks = (names: readonly string[]): ToolInfo[] =>
  names.map((name) => ({ name, description: '', readOnly: true }));

const UNLISTED: Readonly<Record<ForeignDialect, readonly ToolInfo[]>> = {
  'command-line': [],
  windows: [
    ...looks(COLLECTOR_TOOLS),
    ...Object.entries(OFFICE_TOOLS).map(([name, tool]): ToolInfo => ({
      name,
      description: tool.takes,
      readOnly: tool.does === 'read',
    })),
  ],
  mobile: looks(PHONE_LOOKS),
};

/** What the tool server of a phone puts into a command line of the phone as it is: what could be more than a word there is not sent. */
const PLAIN_WORDS: Readonly<
  Record<string, { readonly argument: string; readonly plain: RegExp; readonly may: string }>
> = {
  type_text: {
    argument: 'text',
    plain: /^[\w .,:@/+=-]*$/u,
    may: 'letters and digits of ASCII, blanks and . , : @ / + = - _',
  },
  press_key: { argument: 'key_code', plain: /^\w+$/u, may: 'the name or the number of a key' },
  launch_app: { argument: 'package_name', plain: /^[\w.]+$/u, may: 'the name of a package' },
};

/** Why a call is not sent to a client of this dialect, with the field and what would be valid; null when it may be. */
export function dialectProblem(dialect: ForeignDialect, { tool, arguments: given }: CommandCall): string | null {
  const word = dialect === 'mobile' ? PLAIN_WORDS[tool] : undefined;
  const value = word && given[word.argument];
  if (word === undefined || value === undefined) return null;
  if (typeof value === 'string' && word.plain.test(value)) return null;
  return `arguments.${word.argument}: the tools of this phone hand it to a shell unquoted, so it may be ${word.may} only`;
}
