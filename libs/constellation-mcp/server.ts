import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';
import { parseWith, sentenceOf, type RunId } from '#proto';
import { visibleText } from '#libs/visible';
import { cleanSnapshot, cleanValue } from './clean-snapshot.js';
import { DeskError, type ConstellationDesk, type DeskAnswer, type RunDesk } from './desk.js';
import { instructionsFor } from './instructions.js';
import { callRunTool, isRunTool, RUN_TOOLS, type RunToolAnswer } from './run-tools.js';
import { accessNeededFor, READ_TOOL, ReadToolInput, AnyToolCall, toolsFor, type Access } from './tools.js';

export interface McpServerOptions {
  /** With `read` there are the tools alone that change nothing. */
  readonly access: Access;
  readonly runId: RunId;
  /** Told of what is nobody's fault but ours; the caller hears only that there was something. */
  readonly onFault?: (error: unknown) => void;
}

const ABOUT = { name: 'orrery-constellation', title: 'Orrery task constellation', version: '1.0.0' } as const;
/** Sentences of one refusal; the rest would not be read. */
const PROBLEMS_MAX = 20;
const PROBLEM_CHARS_MAX = 2_000;

/** What the tools look at and change. */
export interface ServedDesks {
  readonly constellation: ConstellationDesk;
  readonly run: RunDesk;
}

/**
 * The Constellation MCP server (paper section 5.3): its seven tools and get_constellation, and what is said to the run and its board,
 * over any desks. What a desk refuses is the result of the tool, for a model to read and repair; a name that is no tool is an error of
 * the protocol. Serves one connection.
 */
export function constellationServer(served: ServedDesks, options: McpServerOptions): McpServer {
  const { access, runId, onFault } = options;
  const mcp = new McpServer(ABOUT, { instructions: instructionsFor(runId, access), jsonSchemaValidator: NO_VALIDATOR });
  // The SDK's own handlers give a name that is no tool a result, and validate every answer of ours once more.
  mcp.server.registerCapabilities({ tools: {} });
  const tools = toolsFor(access);
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  mcp.server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    refuseUnknown(params.name, access);
    try {
      return resultOf(await call(served, params.name, params.arguments ?? {}));
    } catch (error) {
      if (error instanceof DeskError) return unsure(error);
      onFault?.(error);
      throw new McpError(ErrorCode.InternalError, 'the server could not do it; look at its log');
    }
  });
  return mcp;
}

/** Servers validate what people answer to their questions, and this one asks none: making the usual validator takes long. */
const NO_VALIDATOR = {
  getValidator: () => {
    throw new Error('this server asks nobody anything');
  },
};

function refuseUnknown(name: string, access: Access): void {
  const needed = accessNeededFor(name);
  if (needed === undefined) {
    throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${visibleText(name.slice(0, 100))}`);
  }
  if (needed === 'edit' && access === 'read') {
    throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name} (access is read only)`);
  }
}

async function call({ constellation, run }: ServedDesks, tool: string, input: unknown): Promise<RunToolAnswer> {
  if (isRunTool(tool)) {
    const parsed = parseWith<unknown>(RUN_TOOLS[tool].input, input);
    if (!parsed.ok) return { ok: false, problems: parsed.issues.map(sentenceOf) };
    const answer = await callRunTool(run, tool, parsed.value);
    return answer.ok ? { ok: true, shown: cleanValue(answer.shown) } : answer;
  }
  const answer = await callConstellation(constellation, tool, input);
  return answer.ok ? { ok: true, shown: { ...cleanSnapshot(answer.snapshot) } } : answer;
}

async function callConstellation(desk: ConstellationDesk, tool: string, input: unknown): Promise<DeskAnswer> {
  if (tool === READ_TOOL) {
    const parsed = parseWith(ReadToolInput, input);
    if (!parsed.ok) return { ok: false, problems: parsed.issues.map(sentenceOf) };
    return { ok: true, snapshot: await desk.snapshot() };
  }
  const parsed = parseWith(AnyToolCall, { tool, arguments: input });
  if (parsed.ok) return desk.apply(parsed.value);
  const issues = parsed.issues.map(({ path, message }) => ({ path: path.replace(/^arguments\.?/u, ''), message }));
  return { ok: false, problems: issues.map(sentenceOf) };
}

/** As text, too: hosts that know no structured content show that to their model. */
function resultOf(answer: RunToolAnswer): CallToolResult {
  if (!answer.ok) return refusal(answer.problems);
  return { content: [{ type: 'text', text: JSON.stringify(answer.shown) }], structuredContent: { ...answer.shown } };
}

/** Whether something was changed is for the message to say. */
function unsure({ message }: DeskError): CallToolResult {
  return { content: [{ type: 'text', text: visibleText(message).slice(0, PROBLEM_CHARS_MAX) }], isError: true };
}

function refusal(problems: readonly string[]): CallToolResult {
  const said = problems.slice(0, PROBLEMS_MAX).map((problem) => visibleText(problem).slice(0, PROBLEM_CHARS_MAX));
  const more = problems.length - said.length;
  const lines = ['Nothing was changed:', ...said, ...(more > 0 ? [`and ${more} more`] : [])];
  return { content: [{ type: 'text', text: lines.join('\n') }], isError: true };
}
