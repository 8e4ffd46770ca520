// The tools of a recorded device, with the answers that were recorded. Run by node as it is: types are stripped, nothing else.
import { appendFileSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type Tool } from '@modelcontextprotocol/sdk/types.js';

interface Listed {
  readonly tool_name: string;
  readonly description: string;
  readonly input_schema: Tool['inputSchema'];
  readonly output_schema: Tool['outputSchema'];
}
interface Recorded {
  readonly tools: Listed[];
  readonly answers: {
    tool: string;
    parameters: unknown;
    answer: { status: string; result?: unknown; error?: string };
  }[];
}

const [recordFile = '', marksFile = ''] = process.argv.slice(2);
const { tools, answers } = JSON.parse(readFileSync(recordFile, 'utf8')) as Recorded;
const server = new Server({ name: 'recorded', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: tools.map(({ tool_name: name, description, input_schema: inputSchema, output_schema: outputSchema }) => ({
    name,
    description,
    inputSchema,
    outputSchema,
  })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
  appendFileSync(marksFile, `called ${params.name}\n`);
  const found = answers.find(
    ({ tool, parameters }) => tool === params.name && isDeepStrictEqual(parameters, params.arguments ?? {}),
  );
  if (found === undefined) {
    // The recording ends before the answer.
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
    appendFileSync(marksFile, `ended ${params.name}\n`);
    return { content: [] };
  }
  const { status, result, error = '' } = found.answer;
  return status === 'failure'
    ? { isError: true, content: [{ type: 'text' as const, text: error }] }
    : { content: [], structuredContent: result as Record<string, unknown> };
});
await server.connect(new StdioServerTransport());
